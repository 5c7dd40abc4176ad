/* nsq_report.c - the table as nsqlookupd's JSON: no spaces, members in its order. */
#include "registry/nsq_report.h"

#include <string.h>

#include "registry/wire/nsq_json.h"

/* Go's time that was never set, as nanoseconds since 1970. */
#define NEVER_NS G_GINT64_CONSTANT(-6795364578871345152)

/* A comma, unless it is the first of a list. */
static void
separate(GString *out)
{
    if (out->str[out->len - 1] != '[')
        g_string_append_c(out, ',');
}

static void
append_texts(GString *out, const char *key, GPtrArray *texts)
{
    nsq_json_append_key(out, key);
    g_string_append_c(out, '[');
    for (guint i = 0; i < texts->len; i++) {
        separate(out);
        nsq_json_append_text(out, g_ptr_array_index(texts, i));
    }
    g_string_append_c(out, ']');
}

static GPtrArray *
channel_names(GHashTable *channels)
{
    GPtrArray *names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer name;

    if (channels == NULL)
        return names;
    g_hash_table_iter_init(&iter, channels);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(names, name);
    return names;
}

GString *
nsq_report_topics(const NsqTable *table)
{
    GString *out = g_string_new("{");
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer topic;

    g_hash_table_iter_init(&iter, nsq_table_topics(table));
    while (g_hash_table_iter_next(&iter, NULL, &topic))
        if (((NsqTopic *) topic)->listed)
            g_ptr_array_add(names, ((NsqTopic *) topic)->name);
    append_texts(out, "topics", names);
    g_string_append_c(out, '}');
    return out;
}

static void
append_channels(GString *out, GHashTable *channels)
{
    g_autoptr(GPtrArray) names = channel_names(channels);

    append_texts(out, "channels", names);
}

GString *
nsq_report_channels(const NsqTable *table, const char *topic)
{
    GString *out = g_string_new("{");

    append_channels(out, nsq_table_channels(table, topic));
    g_string_append_c(out, '}');
    return out;
}

GString *
nsq_report_lookup(const NsqTable *table, const NsqTopic *topic, gint64 now_us)
{
    GString *out = g_string_sized_new(64 + 256 * (gsize) topic->own.n_producers);

    g_string_append_c(out, '{');
    append_channels(out, topic->channels);
    nsq_json_append_key(out, "producers");
    g_string_append_c(out, '[');
    for (NsqProducer *producer = topic->own.first; producer != NULL; producer = producer->next) {
        if (!nsq_table_producer_is_visible(table, producer, now_us))
            continue;
        separate(out);
        g_string_append(out, producer->node->identity->json);
        g_string_append_c(out, '}');
    }
    g_string_append(out, "]}");
    return out;
}

/* Two lists of one length and one order: readers go by position. */
static void
append_topics_of_node(GString *out, const NsqTable *table, const NsqNode *node, gint64 now_us)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    nsq_json_append_key(out, "tombstones");
    g_string_append_c(out, '[');
    for (NsqProducer *producer = node->first; producer != NULL; producer = producer->next_of_node) {
        if (producer->registration->channel != NULL)
            continue;
        separate(out);
        g_string_append(out,
                        nsq_table_producer_is_hidden(table, producer, now_us) ? "true" : "false");
        g_ptr_array_add(names, producer->registration->topic->name);
    }
    g_string_append_c(out, ']');
    append_texts(out, "topics", names);
}

GString *
nsq_report_nodes(const NsqTable *table, gint64 now_us)
{
    GString *out = g_string_new("{\"producers\":[");

    for (const GList *link = nsq_table_nodes(table); link != NULL; link = link->next) {
        const NsqNode *node = link->data;

        if (!nsq_table_node_is_active(table, node, now_us))
            continue;
        separate(out);
        g_string_append(out, node->identity->json);
        append_topics_of_node(out, table, node, now_us);
        g_string_append_c(out, '}');
    }
    g_string_append(out, "]}");
    return out;
}

/* ---- debug ---- */

typedef struct {
    GString *out;
    gint64 shift_us; /* from the monotonic clock to the wall's */
} DebugReport;

static void
append_debug_node(const DebugReport *self, const NsqNode *node, const NsqProducer *producer)
{
    const NsqIdentity *identity = node->identity;
    gboolean is_tombstoned = producer != NULL && producer->is_tombstoned;
    GString *out = self->out;

    separate(out);
    g_string_append_c(out, '{');
    nsq_json_append_member(out, "broadcast_address", identity->broadcast_address);
    nsq_json_append_member(out, "hostname", identity->hostname);
    nsq_json_append_number(out, "http_port", identity->http_port);
    nsq_json_append_member(out, "id", identity->remote_address);
    nsq_json_append_number(out, "last_update", (node->heard_us + self->shift_us) * 1000);
    nsq_json_append_number(out, "tcp_port", identity->tcp_port);
    nsq_json_append_key(out, "tombstoned");
    g_string_append(out, is_tombstoned ? "true" : "false");
    nsq_json_append_number(out, "tombstoned_at",
                           is_tombstoned ? (producer->tombstoned_us + self->shift_us) * 1000
                                         : NEVER_NS);
    nsq_json_append_member(out, "version", identity->version);
    g_string_append_c(out, '}');
}

static void
append_debug_registration(const DebugReport *self, const NsqRegistration *registration)
{
    g_autofree char *key = g_strdup_printf(
        "%s:%s:%s", registration->channel != NULL ? "channel" : "topic", registration->topic->name,
        registration->channel != NULL ? registration->channel : "");

    if (registration->first == NULL)
        return;
    nsq_json_append_key(self->out, key);
    g_string_append_c(self->out, '[');
    for (NsqProducer *producer = registration->first; producer != NULL; producer = producer->next)
        append_debug_node(self, producer->node, producer);
    g_string_append_c(self->out, ']');
}

static void
append_debug_clients(const DebugReport *self, const NsqTable *table)
{
    if (nsq_table_nodes(table) == NULL)
        return;
    nsq_json_append_key(self->out, "client::");
    g_string_append_c(self->out, '[');
    for (const GList *link = nsq_table_nodes(table); link != NULL; link = link->next)
        append_debug_node(self, link->data, NULL);
    g_string_append_c(self->out, ']');
}

static int
compare_topics(gconstpointer a, gconstpointer b)
{
    return strcmp(((const NsqTopic *) a)->name, ((const NsqTopic *) b)->name);
}

static int
compare_channels(gconstpointer a, gconstpointer b)
{
    return strcmp(((const NsqRegistration *) a)->channel, ((const NsqRegistration *) b)->channel);
}

GString *
nsq_report_debug(const NsqTable *table, gint64 now_us, gint64 wall_us)
{
    const DebugReport self = { .out = g_string_new("{"), .shift_us = wall_us - now_us };
    g_autoptr(GList) topics =
        g_list_sort(g_hash_table_get_values(nsq_table_topics(table)), compare_topics);

    for (GList *link = topics; link != NULL; link = link->next) {
        NsqTopic *topic = link->data;
        g_autoptr(GList) channels =
            g_list_sort(g_hash_table_get_values(topic->channels), compare_channels);

        for (GList *channel = channels; channel != NULL; channel = channel->next)
            append_debug_registration(&self, channel->data);
    }
    append_debug_clients(&self, table);
    for (GList *link = topics; link != NULL; link = link->next)
        append_debug_registration(&self, &((NsqTopic *) link->data)->own);
    g_string_append_c(self.out, '}');
    return self.out;
}
