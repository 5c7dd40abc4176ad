/* route_lookup.c - asks a name server for the route of a topic: its brokers are hosts, their write
 * queues weights, and slaves are for when a master fails. */
#include "base/text_hash.h"
#include "client/discovery/found_hosts.h"
#include "client/discovery/lookup.h"
#include "client/discovery/remoting_ask.h"
#include "registry/wire/namesrv_codes.h"
#include "registry/wire/namesrv_watch.h"
#include "registry/wire/topic_route.h"

#define MASTER_ID 0
#define RANK_OF_MASTERS 0
#define RANK_OF_SLAVES 1

typedef struct {
    LookupDone done;
    gpointer user;
} RouteLookup;

/* Of the brokers that take new batches; what is said of one first counts. (transfer full) */
static GHashTable *
weights_of(const TopicRoute *route)
{
    GHashTable *weights = g_hash_table_new(text_hash, g_str_equal);

    for (guint i = 0; i < route->queues->len; i++) {
        const RouteQueue *queue = route->queues->pdata[i];

        if ((queue->perm & QUEUE_PERM_WRITE) != 0 && !g_hash_table_contains(weights, queue->broker))
            g_hash_table_insert(weights, queue->broker,
                                GINT_TO_POINTER(MAX(queue->write_queues, 0)));
    }
    return weights;
}

static void
add_group(const BrokerGroup *group, guint weight, GPtrArray *hosts)
{
    for (guint i = 0; i < group->addresses->len; i++) {
        const BrokerAddress *broker = &g_array_index(group->addresses, BrokerAddress, i);
        g_autoptr(Endpoint) endpoint = endpoint_parse_peer(broker->address, NULL);

        if (endpoint != NULL)
            g_ptr_array_add(
                hosts, found_host_new(endpoint->host, endpoint->port, weight,
                                      broker->id == MASTER_ID ? RANK_OF_MASTERS : RANK_OF_SLAVES));
    }
}

static GPtrArray *
hosts_of(const TopicRoute *route)
{
    g_autoptr(GHashTable) weights = weights_of(route);
    GPtrArray *hosts = found_hosts_new();

    for (guint i = 0; i < route->brokers->len; i++) {
        const BrokerGroup *group = route->brokers->pdata[i];

        add_group(group, GPOINTER_TO_UINT(g_hash_table_lookup(weights, group->broker)), hosts);
    }
    return hosts;
}

static gboolean
read_answer(const RemotingCommand *command, LookupAnswer *ret_answer, GError **error)
{
    g_autoptr(TopicRoute) route = NULL;

    *ret_answer = (LookupAnswer){
        .index = remoting_command_get(command, NAMESRV_INDEX_FIELD),
        .epoch = remoting_command_get(command, NAMESRV_EPOCH_FIELD),
    };
    if (command->code == REMOTING_TOPIC_NOT_EXIST)
        return TRUE;
    if (command->code != REMOTING_SUCCESS) {
        g_propagate_error(error, remoting_refusal(command));
        return FALSE;
    }
    route = topic_route_decode(command->body, error);
    if (route == NULL) {
        g_prefix_error(error, "its answer cannot be read: ");
        return FALSE;
    }
    ret_answer->hosts = hosts_of(route);
    return TRUE;
}

static void
on_route(const RemotingCommand *command, const GError *error, gpointer user)
{
    g_autofree RouteLookup *self = user;
    g_autoptr(GError) failure = NULL;
    LookupAnswer answer;

    if (command == NULL)
        self->done(NULL, error, self->user);
    else if (!read_answer(command, &answer, &failure))
        self->done(NULL, failure, self->user);
    else {
        self->done(&answer, NULL, self->user);
        g_clear_pointer(&answer.hosts, g_ptr_array_unref);
    }
}

RemotingCommand *
route_lookup_request(const LookupQuestion *question)
{
    RemotingCommand *request = remoting_command_new(NAMESRV_GET_ROUTE, 0);

    remoting_command_set(request, "topic", question->topic);
    remoting_command_set_bool(request, "acceptStandardJsonOnly", TRUE);
    remoting_command_set(request, NAMESRV_INDEX_FIELD, question->index);
    if (question->index != NULL)
        remoting_command_set_int(request, NAMESRV_WAIT_FIELD, LOOKUP_WAIT_S * 1000);
    return request;
}

void
route_lookup_ask(HttpClient *http G_GNUC_UNUSED, const LookupQuestion *question, GCancellable *stop,
                 LookupDone done, gpointer user)
{
    RouteLookup *self = g_new0(RouteLookup, 1);
    g_autoptr(RemotingCommand) request = route_lookup_request(question);

    self->done = done;
    self->user = user;
    remoting_ask(question->registry, request, question->is_known, lookup_timeout_us(question), stop,
                 on_route, self);
}
