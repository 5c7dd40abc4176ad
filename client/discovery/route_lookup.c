/* route_lookup.c - asks a name server for the route of a topic: its brokers are hosts, their write
 * queues weights, and slaves are for when a master fails. */
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

/* 0: it takes no new batches, or has no queues of the topic. */
static guint
weight_of(const TopicRoute *route, const char *broker)
{
    for (guint i = 0; i < route->queues->len; i++) {
        const RouteQueue *queue = route->queues->pdata[i];

        if (g_str_equal(queue->broker, broker) && (queue->perm & QUEUE_PERM_WRITE) != 0)
            return (guint) MAX(queue->write_queues, 0);
    }
    return 0;
}

static void
add_group(const TopicRoute *route, const BrokerGroup *group, GPtrArray *hosts)
{
    guint weight = weight_of(route, group->broker);

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
    GPtrArray *hosts = found_hosts_new();

    for (guint i = 0; i < route->brokers->len; i++)
        add_group(route, route->brokers->pdata[i], hosts);
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
    remoting_ask(question->registry, request, lookup_timeout_us(question), stop, on_route, self);
}
