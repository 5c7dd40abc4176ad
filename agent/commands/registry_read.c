/* registry_read.c - nodes, topics, brokers and routes, as the two kinds of registries have them. */
#include "agent/commands/registry_read.h"

#include "agent/commands/registry_ask.h"
#include "base/text_hash.h"
#include "client/discovery/lookup.h"
#include "registry/wire/cluster_info.h"
#include "registry/wire/namesrv_codes.h"
#include "registry/wire/namesrv_watch.h"
#include "registry/wire/nsq_answer.h"
#include "registry/wire/topic_list.h"
#include "registry/wire/topic_route.h"

typedef struct {
    RegistryReading *reading;
    RegistryReport *report;
} Reader;

static gint64
reading_timeout_us(const RegistryReading *self)
{
    const LookupQuestion question = { .index = self->index };

    return lookup_timeout_us(&question);
}

static void
reading_note_index(RegistryReading *self, const char *index)
{
    g_free(self->index);
    self->index = g_strdup(index);
}

static int
compare_names(gconstpointer left, gconstpointer right)
{
    return g_strcmp0(*(const char *const *) left, *(const char *const *) right);
}

static void
add_names(RegistryReport *report, const char *table, const ReportColumn *columns, GPtrArray *names)
{
    registry_report_begin(report, table, columns);
    g_ptr_array_sort(names, compare_names);
    for (guint i = 0; i < names->len; i++)
        registry_report_add_text(report, names->pdata[i]);
}

static const ReportColumn topic_columns[] = { { .name = "topic" }, { 0 } };

/* ---- nsqlookupd ---- */

static ByteSpan
body_of(const HttpReply *reply)
{
    gsize length;
    const void *body = g_bytes_get_data(reply->body, &length);

    return byte_span(body, length);
}

static char *
node_address(const NsqListedNode *node)
{
    g_autoptr(Endpoint) endpoint = endpoint_new(node->broadcast_address, node->tcp_port);

    return endpoint_to_text(endpoint);
}

static int
compare_nodes(gconstpointer left, gconstpointer right)
{
    const NsqListedNode *one = *(const NsqListedNode *const *) left;
    const NsqListedNode *other = *(const NsqListedNode *const *) right;
    int order = g_strcmp0(one->broadcast_address, other->broadcast_address);

    return order != 0 ? order : one->tcp_port - other->tcp_port;
}

static void
add_node(RegistryReport *report, const NsqListedNode *node, gboolean has_topics)
{
    g_autofree char *address = node_address(node);

    registry_report_add_text(report, address);
    registry_report_add_number(report, node->http_port);
    registry_report_add_text(report, node->hostname);
    registry_report_add_text(report, node->version);
    if (!has_topics)
        return;
    registry_report_add_list(report);
    for (guint i = 0; i < node->topics->len; i++)
        registry_report_add_item(report, node->topics->pdata[i],
                                 g_array_index(node->tombstones, gboolean, i));
}

static gboolean
take_nodes(const HttpReply *reply, gpointer user, GError **error)
{
    static const ReportColumn columns[] = {
        { .name = "address" },
        { .name = "http port", .kind = REPORT_NUMBER },
        { .name = "host" },
        { .name = "version" },
        { .name = "topics", .kind = REPORT_MARKED, .item = "topic", .mark = "tombstoned" },
        { 0 },
    };
    static const ReportColumn columns_of_topic[] = {
        { .name = "address" },
        { .name = "http port", .kind = REPORT_NUMBER },
        { .name = "host" },
        { .name = "version" },
        { 0 },
    };
    const Reader *self = user;
    gboolean is_topic = self->reading->topic != NULL;
    g_autoptr(GPtrArray) nodes = nsq_lookup_check_status(reply, error)
                                     ? nsq_answer_decode_nodes(body_of(reply), error)
                                     : NULL;

    if (nodes == NULL)
        return FALSE;
    reading_note_index(self->reading, is_topic ? reply->index : NULL);
    registry_report_begin(self->report, "nodes", is_topic ? columns_of_topic : columns);
    g_ptr_array_sort(nodes, compare_nodes);
    for (guint i = 0; i < nodes->len; i++)
        add_node(self->report, nodes->pdata[i], !is_topic);
    return TRUE;
}

static gboolean
take_topics(const HttpReply *reply, gpointer user, GError **error)
{
    const Reader *self = user;
    g_autoptr(GPtrArray) topics = nsq_lookup_check_status(reply, error)
                                      ? nsq_answer_decode_names(body_of(reply), "topics", error)
                                      : NULL;

    if (topics == NULL)
        return FALSE;
    add_names(self->report, "topics", topic_columns, topics);
    return TRUE;
}

static gboolean
read_nsqlookupd(Reader *self, GError **error)
{
    RegistryReading *reading = self->reading;
    LookupQuestion question = { .topic = reading->topic, .index = reading->index };
    g_autofree char *query = NULL;

    if (reading->topic == NULL)
        return registry_ask_http(reading->registry, "/nodes", NULL, LOOKUP_TIMEOUT_US, take_nodes,
                                 self, error) &&
               registry_ask_http(reading->registry, "/topics", NULL, LOOKUP_TIMEOUT_US, take_topics,
                                 self, error);
    query = nsq_lookup_query(&question);
    return registry_ask_http(reading->registry, "/lookup", query, reading_timeout_us(reading),
                             take_nodes, self, error);
}

/* ---- namesrv ---- */

const char *
queue_perm_to_text(gint32 perm)
{
    static const char *const texts[] = { "-", "w", "r", "rw" };

    return texts[((perm & QUEUE_PERM_READ) != 0 ? 2 : 0) +
                 ((perm & QUEUE_PERM_WRITE) != 0 ? 1 : 0)];
}

static gboolean
take_clusters(const RemotingCommand *answer, gpointer user, GError **error)
{
    static const ReportColumn columns[] = {
        { .name = "cluster" },
        { .name = "broker" },
        { .name = "id", .kind = REPORT_NUMBER },
        { .name = "address" },
        { 0 },
    };
    const Reader *self = user;
    g_autoptr(ClusterInfo) info = cluster_info_decode(answer->body, error);

    if (info == NULL)
        return FALSE;
    registry_report_begin(self->report, "brokers", columns);
    for (guint i = 0; i < info->groups->len; i++) {
        const BrokerGroup *group = info->groups->pdata[i];

        for (guint j = 0; j < group->addresses->len; j++) {
            const BrokerAddress *broker = &g_array_index(group->addresses, BrokerAddress, j);

            registry_report_add_text(self->report, group->cluster);
            registry_report_add_text(self->report, group->broker);
            registry_report_add_number(self->report, broker->id);
            registry_report_add_text(self->report, broker->address);
        }
    }
    return TRUE;
}

static gboolean
take_topic_list(const RemotingCommand *answer, gpointer user, GError **error)
{
    const Reader *self = user;
    g_autoptr(GPtrArray) topics = topic_list_decode(answer->body, error);

    if (topics == NULL)
        return FALSE;
    add_names(self->report, "topics", topic_columns, topics);
    return TRUE;
}

/* BrokerGroup * by broker, which may be in several clusters. (transfer full) */
static GHashTable *
groups_by_broker(const TopicRoute *route)
{
    GHashTable *groups =
        g_hash_table_new_full(text_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);

    for (guint i = 0; i < route->brokers->len; i++) {
        BrokerGroup *group = route->brokers->pdata[i];
        GPtrArray *of_broker = g_hash_table_lookup(groups, group->broker);

        if (of_broker == NULL) {
            of_broker = g_ptr_array_new();
            g_hash_table_insert(groups, group->broker, of_broker);
        }
        g_ptr_array_add(of_broker, group);
    }
    return groups;
}

static void
add_addresses(RegistryReport *report, const GPtrArray *groups /* or NULL */)
{
    registry_report_add_list(report);
    for (guint i = 0; groups != NULL && i < groups->len; i++) {
        const BrokerGroup *group = groups->pdata[i];

        for (guint j = 0; j < group->addresses->len; j++) {
            const BrokerAddress *address = &g_array_index(group->addresses, BrokerAddress, j);

            registry_report_add_item(report, address->address, address->id);
        }
    }
}

static gboolean
take_route(const RemotingCommand *answer, gpointer user, GError **error)
{
    static const ReportColumn columns[] = {
        { .name = "broker" },
        { .name = "addresses", .kind = REPORT_NUMBERED, .item = "address", .mark = "id" },
        { .name = "perm" },
        { .name = "read queues", .kind = REPORT_NUMBER },
        { .name = "write queues", .kind = REPORT_NUMBER },
        { 0 },
    };
    const Reader *self = user;
    g_autoptr(TopicRoute) route = topic_route_decode(answer->body, error);
    g_autoptr(GHashTable) groups = route != NULL ? groups_by_broker(route) : NULL;

    if (route == NULL)
        return FALSE;
    reading_note_index(self->reading, remoting_command_get(answer, NAMESRV_INDEX_FIELD));
    registry_report_begin(self->report, "queues", columns);
    for (guint i = 0; i < route->queues->len; i++) {
        const RouteQueue *queue = route->queues->pdata[i];

        registry_report_add_text(self->report, queue->broker);
        add_addresses(self->report, g_hash_table_lookup(groups, queue->broker));
        registry_report_add_text(self->report, queue_perm_to_text(queue->perm));
        registry_report_add_number(self->report, queue->read_queues);
        registry_report_add_number(self->report, queue->write_queues);
    }
    return TRUE;
}

static gboolean
ask_for(Reader *self, gint32 code, RemotingTaker take, GError **error)
{
    g_autoptr(RemotingCommand) request = remoting_command_new(code, 0);

    return registry_ask_namesrv(self->reading->registry, request, REMOTING_SUCCESS,
                                LOOKUP_TIMEOUT_US, take, self, error);
}

static gboolean
read_namesrv(Reader *self, GError **error)
{
    RegistryReading *reading = self->reading;
    LookupQuestion question = { .topic = reading->topic, .index = reading->index };
    g_autoptr(RemotingCommand) request = NULL;

    if (reading->topic == NULL)
        return ask_for(self, NAMESRV_GET_CLUSTER_INFO, take_clusters, error) &&
               ask_for(self, NAMESRV_GET_ALL_TOPICS, take_topic_list, error);
    request = route_lookup_request(&question);
    return registry_ask_namesrv(reading->registry, request, REMOTING_SUCCESS,
                                reading_timeout_us(reading), take_route, self, error);
}

RegistryReport *
registry_read(RegistryReading *self, GError **error)
{
    gboolean is_nsq = self->kind == REGISTRY_NSQLOOKUPD;
    g_autofree char *name = endpoint_to_text(self->registry);
    g_autoptr(RegistryReport) report =
        registry_report_new(name, is_nsq ? "nsqlookupd" : "namesrv", self->topic);
    Reader reader = { .reading = self, .report = report };

    if (!(is_nsq ? read_nsqlookupd(&reader, error) : read_namesrv(&reader, error)))
        return NULL;
    return g_steal_pointer(&report);
}
