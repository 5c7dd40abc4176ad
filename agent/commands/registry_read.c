/* registry_read.c - nodes, topics, brokers and routes, as the two kinds of registries have them. */
#include "agent/commands/registry_read.h"

#include <stdarg.h>

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

static char *
number_text(gint64 number)
{
    return g_strdup_printf("%" G_GINT64_FORMAT, number);
}

/* (transfer full) texts, up to NULL. */
static void
add_row(RegistryReport *report, ...)
{
    g_autoptr(GPtrArray) row = g_ptr_array_new();
    va_list texts;
    char *text;

    va_start(texts, report);
    while ((text = va_arg(texts, char *)) != NULL)
        g_ptr_array_add(row, text);
    va_end(texts);
    g_ptr_array_add(row, NULL);
    registry_report_add(report, (GStrv) g_ptr_array_steal(row, NULL));
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
        add_row(report, g_strdup(names->pdata[i]), NULL);
}

static const ReportColumn topic_columns[] = { { "topic", FALSE }, { NULL, FALSE } };

/* ---- nsqlookupd ---- */

static ByteSpan
body_of(const HttpReply *reply)
{
    gsize length;
    const void *body = g_bytes_get_data(reply->body, &length);

    return byte_span(body, length);
}

/* Those with a tombstone are marked. */
static char *
topics_text(const NsqListedNode *node)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < node->topics->len; i++)
        g_string_append_printf(text, "%s%s%s", i > 0 ? ", " : "", (char *) node->topics->pdata[i],
                               g_array_index(node->tombstones, gboolean, i) ? " (tombstoned)" : "");
    return g_string_free(text, FALSE);
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

static gboolean
take_nodes(const HttpReply *reply, gpointer user, GError **error)
{
    static const ReportColumn columns[] = {
        { "address", FALSE }, { "http port", TRUE }, { "host", FALSE },
        { "version", FALSE }, { "topics", FALSE },   { NULL, FALSE },
    };
    static const ReportColumn columns_of_topic[] = {
        { "address", FALSE }, { "http port", TRUE }, { "host", FALSE },
        { "version", FALSE }, { NULL, FALSE },
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
    for (guint i = 0; i < nodes->len; i++) {
        const NsqListedNode *node = nodes->pdata[i];

        add_row(self->report, node_address(node), number_text(node->http_port),
                g_strdup(node->hostname), g_strdup(node->version),
                is_topic ? NULL : topics_text(node), NULL);
    }
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
        { "cluster", FALSE }, { "broker", FALSE }, { "id", TRUE },
        { "address", FALSE }, { NULL, FALSE },
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

            add_row(self->report, g_strdup(group->cluster), g_strdup(group->broker),
                    number_text(broker->id), g_strdup(broker->address), NULL);
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

static void
append_addresses(GString *text, const BrokerGroup *group)
{
    for (guint i = 0; i < group->addresses->len; i++) {
        const BrokerAddress *address = &g_array_index(group->addresses, BrokerAddress, i);

        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", address->address);
        if (address->id != 0)
            g_string_append_printf(text, " (%" G_GINT64_FORMAT ")", address->id);
    }
}

static void
free_text(gpointer text)
{
    g_string_free(text, TRUE);
}

/* By broker. (transfer full) */
static GHashTable *
address_texts(const TopicRoute *route)
{
    GHashTable *texts = g_hash_table_new_full(text_hash, g_str_equal, NULL, free_text);

    for (guint i = 0; i < route->brokers->len; i++) {
        const BrokerGroup *group = route->brokers->pdata[i];
        GString *text = g_hash_table_lookup(texts, group->broker);

        if (text == NULL) {
            text = g_string_new(NULL);
            g_hash_table_insert(texts, group->broker, text);
        }
        append_addresses(text, group);
    }
    return texts;
}

static gboolean
take_route(const RemotingCommand *answer, gpointer user, GError **error)
{
    static const ReportColumn columns[] = {
        { "broker", FALSE },     { "addresses", FALSE },   { "perm", FALSE },
        { "read queues", TRUE }, { "write queues", TRUE }, { NULL, FALSE },
    };
    const Reader *self = user;
    g_autoptr(TopicRoute) route = topic_route_decode(answer->body, error);
    g_autoptr(GHashTable) addresses = route != NULL ? address_texts(route) : NULL;

    if (route == NULL)
        return FALSE;
    reading_note_index(self->reading, remoting_command_get(answer, NAMESRV_INDEX_FIELD));
    registry_report_begin(self->report, "queues", columns);
    for (guint i = 0; i < route->queues->len; i++) {
        const RouteQueue *queue = route->queues->pdata[i];
        const GString *text = g_hash_table_lookup(addresses, queue->broker);

        add_row(self->report, g_strdup(queue->broker), g_strdup(text != NULL ? text->str : ""),
                g_strdup(queue_perm_to_text(queue->perm)), number_text(queue->read_queues),
                number_text(queue->write_queues), NULL);
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
