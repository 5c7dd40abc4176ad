/* nsq_page.c - nodes and topics of NSQ's half as HTML, for people. */
#include "registry/nsq_page.h"

#include <string.h>

#include "base/quantity.h"
#include "base/text_hash.h"
#include "registry/html_table.h"

/* A node that has used up this share of its patience is about to be passed over. */
#define WARN_NUMERATOR 2
#define WARN_DENOMINATOR 3

/* ---- nodes ---- */

static char *
address_of(const NsqNode *node)
{
    return g_strdup_printf("%s:%" G_GINT64_FORMAT, node->identity->broadcast_address,
                           node->identity->tcp_port);
}

/* Address → the newest node that has it. */
static GHashTable *
newest_nodes(const NsqTable *table)
{
    GHashTable *newest = g_hash_table_new_full(text_hash, g_str_equal, g_free, NULL);

    for (const GList *link = nsq_table_nodes(table); link != NULL; link = link->next) {
        const NsqNode *node = link->data;
        g_autofree char *address = address_of(node);
        const NsqNode *other = g_hash_table_lookup(newest, address);

        if (other == NULL || other->generation < node->generation)
            g_hash_table_replace(newest, g_steal_pointer(&address), (gpointer) node);
    }
    return newest;
}

static void
append_state(GString *out, const NsqTable *table, const NsqNode *node, gboolean is_newest,
             gint64 now_us)
{
    gint64 patience_us = nsq_table_rules(table)->inactive_us;
    gint64 silent_us = now_us - node->heard_us;

    if (!nsq_table_node_is_active(table, node, now_us))
        html_state(out, "bad", "silent, passed over");
    else if (silent_us / WARN_NUMERATOR > patience_us / WARN_DENOMINATOR)
        html_state(out, "warn", "about to be passed over");
    else if (!is_newest)
        html_state(out, "warn", "a newer connection has this address");
    else
        html_state(out, "", "active");
}

static guint
count_topics(const NsqTable *table, const NsqNode *node, gint64 now_us, guint *ret_hidden)
{
    guint n = 0;

    *ret_hidden = 0;
    for (NsqProducer *producer = node->first; producer != NULL; producer = producer->next_of_node) {
        if (producer->registration->channel != NULL)
            continue;
        n++;
        *ret_hidden += nsq_table_producer_is_hidden(table, producer, now_us) ? 1 : 0;
    }
    return n;
}

static void
append_node(GString *out, const NsqTable *table, const NsqNode *node, GHashTable *newest,
            gint64 now_us)
{
    g_autofree char *address = address_of(node);
    g_autofree char *silent =
        quantity_duration_to_text((now_us - node->heard_us) / G_USEC_PER_SEC * G_USEC_PER_SEC);
    guint n_hidden;
    guint n_topics = count_topics(table, node, now_us, &n_hidden);

    html_row_begin(out, address);
    html_cell(out, node->identity->node);
    html_cell(out, node->identity->remote_address);
    html_cell(out, node->identity->hostname);
    html_cell(out, node->identity->version);
    html_number(out, n_topics);
    html_number(out, n_hidden);
    html_cell(out, silent);
    append_state(out, table, node, g_hash_table_lookup(newest, address) == node, now_us);
    html_row_end(out);
}

static void
append_nodes(GString *out, const NsqTable *table, gint64 now_us)
{
    static const char *const columns[] = {
        "Address", "HTTP address", "Connected from", "Host",  "Version",
        "Topics",  "Tombstones",   "Last heard",     "State", NULL,
    };
    g_autoptr(GHashTable) newest = newest_nodes(table);
    guint n = 0;

    html_table_begin(out, "Nodes", columns);
    for (const GList *link = nsq_table_nodes(table); link != NULL; link = link->next)
        if (n++ < HTML_ROWS_MAX)
            append_node(out, table, link->data, newest, now_us);
    html_table_end(out, n, "<a href=\"/nodes\">/nodes</a>");
}

/* ---- topics ---- */

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(((const NsqTopic *) a)->name, ((const NsqTopic *) b)->name);
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

static void
append_channels(GString *out, const NsqTopic *topic)
{
    g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(topic->channels), compare_texts);
    guint n = 0;

    html_names_begin(out);
    for (GList *link = names; link != NULL; link = link->next)
        html_name(out, n++, link->data, "");
    html_names_end(out, n);
}

/* By the names that a tombstone takes; first those that have one, as few are shown. */
static void
append_nodes_of_topic(GString *out, const NsqTable *table, const NsqTopic *topic, gint64 now_us)
{
    guint n = 0;

    html_names_begin(out);
    for (int hidden = TRUE; hidden >= FALSE; hidden--)
        for (NsqProducer *producer = topic->own.first; producer != NULL;
             producer = producer->next) {
            gboolean is_active = nsq_table_node_is_active(table, producer->node, now_us);
            const char *remark = hidden ? "under a tombstone" : is_active ? "" : "silent";

            if (nsq_table_producer_is_hidden(table, producer, now_us) == hidden)
                html_name(out, n++, producer->node->identity->node, remark);
        }
    html_names_end(out, n);
}

static void
append_topic(GString *out, const NsqTable *table, const NsqTopic *topic, gint64 now_us)
{
    g_autofree char *head =
        g_strconcat(topic->name, topic->listed ? NULL : " (deleted, channels are left)", NULL);
    guint n_visible = 0, n_hidden = 0, n_silent = 0;

    for (NsqProducer *producer = topic->own.first; producer != NULL; producer = producer->next) {
        if (!nsq_table_node_is_active(table, producer->node, now_us))
            n_silent++;
        else if (nsq_table_producer_is_hidden(table, producer, now_us))
            n_hidden++;
        else
            n_visible++;
    }
    html_row_begin(out, head);
    append_channels(out, topic);
    append_nodes_of_topic(out, table, topic, now_us);
    html_number(out, n_visible);
    html_number(out, n_hidden);
    html_number(out, n_silent);
    html_state(out, n_visible > 0 ? "" : "warn", n_visible > 0 ? "offered" : "offered by no node");
    html_row_end(out);
}

static void
append_topics(GString *out, const NsqTable *table, gint64 now_us)
{
    static const char *const columns[] = {
        "Topic",
        "Channels",
        "Nodes by HTTP address",
        "Offered by",
        "Under tombstone",
        "Silent nodes",
        "State",
        NULL,
    };
    g_autoptr(GList) topics =
        g_list_sort(g_hash_table_get_values(nsq_table_topics(table)), compare_names);
    guint n = 0;

    html_table_begin(out, "Topics", columns);
    for (GList *link = topics; link != NULL; link = link->next)
        if (n++ < HTML_ROWS_MAX)
            append_topic(out, table, link->data, now_us);
    html_table_end(out, n, "<a href=\"/topics\">/topics</a>");
}

void
nsq_page_append(GString *out, const NsqTable *table, gint64 now_us)
{
    NsqCounts counts = nsq_table_counts(table);

    g_string_append(out, "<h2>NSQ</h2>\n<p>");
    html_append_count(out, counts.nodes, "node");
    g_string_append(out, ", ");
    html_append_count(out, counts.topics, "topic");
    g_string_append(out, ", ");
    html_append_count(out, counts.channels, "channel");
    g_string_append(out, ", ");
    html_append_count(out, counts.registrations, "registration");
    g_string_append_printf(out, ", %u under a tombstone.</p>\n", counts.tombstones);
    append_nodes(out, table, now_us);
    append_topics(out, table, now_us);
}
