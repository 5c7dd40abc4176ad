/* nsq_page.c - nodes and topics of NSQ's half as HTML, for people. */
#include "registry/nsq_page.h"

#include <string.h>

#include "base/quantity.h"

/* A page is for looking at; what is longer is for /nodes and /topics. */
#define ROWS_MAX 500
/* A node that has used up this share of its patience is about to be passed over. */
#define WARN_NUMERATOR 2
#define WARN_DENOMINATOR 3

static void
append_escaped(GString *out, const char *text)
{
    g_autofree char *escaped = g_markup_escape_text(text, -1);

    g_string_append(out, escaped);
}

static void
append_cell(GString *out, const char *text)
{
    g_string_append(out, "<td>");
    append_escaped(out, text);
    g_string_append(out, "</td>");
}

static void
append_number(GString *out, guint number)
{
    g_string_append_printf(out, "<td class=\"number\">%u</td>", number);
}

static void
append_head(GString *out, const char *caption, const char *const *columns)
{
    g_string_append_printf(out, "<table><caption>%s</caption>\n<thead><tr>", caption);
    for (; *columns != NULL; columns++)
        g_string_append_printf(out, "<th scope=\"col\">%s</th>", *columns);
    g_string_append(out, "</tr></thead>\n<tbody>\n");
}

static void
append_foot(GString *out, guint left_out, const char *where)
{
    g_string_append(out, "</tbody></table>\n");
    if (left_out > 0)
        g_string_append_printf(out, "<p>%u more are in <a href=\"%s\">%s</a>.</p>\n", left_out,
                               where, where);
}

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
    GHashTable *newest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

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
        g_string_append(out, "<td class=\"bad\">silent, passed over</td>");
    else if (silent_us / WARN_NUMERATOR > patience_us / WARN_DENOMINATOR)
        g_string_append(out, "<td class=\"warn\">about to be passed over</td>");
    else if (!is_newest)
        g_string_append(out, "<td class=\"warn\">a newer connection has this address</td>");
    else
        g_string_append(out, "<td>active</td>");
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

    g_string_append(out, "<tr><th scope=\"row\">");
    append_escaped(out, address);
    g_string_append(out, "</th>");
    append_cell(out, node->identity->remote_address);
    append_cell(out, node->identity->hostname);
    append_cell(out, node->identity->version);
    append_number(out, n_topics);
    append_number(out, n_hidden);
    append_cell(out, silent);
    append_state(out, table, node, g_hash_table_lookup(newest, address) == node, now_us);
    g_string_append(out, "</tr>\n");
}

static void
append_nodes(GString *out, const NsqTable *table, gint64 now_us)
{
    static const char *const columns[] = {
        "Address",    "Connected from", "Host",  "Version", "Topics",
        "Tombstones", "Last heard",     "State", NULL,
    };
    g_autoptr(GHashTable) newest = newest_nodes(table);
    guint n = 0;

    append_head(out, "Nodes", columns);
    for (const GList *link = nsq_table_nodes(table); link != NULL; link = link->next)
        if (n++ < ROWS_MAX)
            append_node(out, table, link->data, newest, now_us);
    append_foot(out, n > ROWS_MAX ? n - ROWS_MAX : 0, "/nodes");
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

    g_string_append(out, "<td>");
    for (GList *link = names; link != NULL; link = link->next) {
        append_escaped(out, link->data);
        g_string_append(out, link->next != NULL ? ", " : "");
    }
    g_string_append(out, "</td>");
}

static void
append_topic(GString *out, const NsqTable *table, const NsqTopic *topic, gint64 now_us)
{
    guint n_visible = 0, n_hidden = 0, n_silent = 0;

    for (NsqProducer *producer = topic->own.first; producer != NULL; producer = producer->next) {
        if (!nsq_table_node_is_active(table, producer->node, now_us))
            n_silent++;
        else if (nsq_table_producer_is_hidden(table, producer, now_us))
            n_hidden++;
        else
            n_visible++;
    }
    g_string_append(out, "<tr><th scope=\"row\">");
    append_escaped(out, topic->name);
    g_string_append(out, topic->listed ? "</th>" : " (deleted, channels are left)</th>");
    append_channels(out, topic);
    append_number(out, n_visible);
    append_number(out, n_hidden);
    append_number(out, n_silent);
    g_string_append_printf(out, "<td%s</td></tr>\n",
                           n_visible > 0 ? ">offered" : " class=\"warn\">offered by no node");
}

static void
append_topics(GString *out, const NsqTable *table, gint64 now_us)
{
    static const char *const columns[] = { "Topic",        "Channels", "Nodes", "Under tombstone",
                                           "Silent nodes", "State",    NULL };
    g_autoptr(GList) topics =
        g_list_sort(g_hash_table_get_values(nsq_table_topics(table)), compare_names);
    guint n = 0;

    append_head(out, "Topics", columns);
    for (GList *link = topics; link != NULL; link = link->next)
        if (n++ < ROWS_MAX)
            append_topic(out, table, link->data, now_us);
    append_foot(out, n > ROWS_MAX ? n - ROWS_MAX : 0, "/topics");
}

void
nsq_page_append(GString *out, const NsqTable *table, gint64 now_us)
{
    NsqCounts counts = nsq_table_counts(table);

    g_string_append_printf(out,
                           "<h2>NSQ</h2>\n<p>%u nodes, %u topics, %u channels, %u registrations, "
                           "%u under a tombstone.</p>\n",
                           counts.nodes, counts.topics, counts.channels, counts.registrations,
                           counts.tombstones);
    append_nodes(out, table, now_us);
    append_topics(out, table, now_us);
}
