/* route_page.c - brokers and routes of RocketMQ's half as HTML, for people. */
#include "registry/route_page.h"

#include <string.h>

#include "base/quantity.h"
#include "registry/html_table.h"

/* A broker that has used up this share of its patience is about to expire. */
#define WARN_NUMERATOR 2
#define WARN_DENOMINATOR 3

/* ---- nodes ---- */

static int
compare_nodes(gconstpointer a, gconstpointer b)
{
    const RouteNode *one = a, *other = b;
    int by_name = strcmp(one->name, other->name);

    if (by_name != 0)
        return by_name;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return strcmp(one->address, other->address);
}

/* Whether who lost the id to this one is still there. */
static gboolean
has_rival(const RouteTable *table, const RouteNode *node)
{
    const RouteNode key = { .cluster = node->cluster, .address = node->rival };

    return node->rival != NULL && g_hash_table_contains(route_table_nodes(table), &key);
}

static void
append_node_state(GString *out, const RouteTable *table, const RouteNode *node, gint64 now_us)
{
    gint64 silent_us = now_us - node->heard_us;
    g_autofree char *rivalry = NULL;

    if (node->broker == NULL) {
        html_state(out, "bad", "another address has taken its id");
    } else if (has_rival(table, node)) {
        rivalry = g_strdup_printf("has taken the id of %s", node->rival);
        html_state(out, "bad", rivalry);
    } else if (silent_us / WARN_NUMERATOR > node->timeout_us / WARN_DENOMINATOR) {
        html_state(out, "warn", "about to expire");
    } else {
        html_state(out, "", "active");
    }
}

static void
append_node(GString *out, const RouteTable *table, const RouteNode *node, gint64 now_us)
{
    g_autofree char *silent =
        quantity_duration_to_text((now_us - node->heard_us) / G_USEC_PER_SEC * G_USEC_PER_SEC);

    html_row_begin(out, node->name);
    html_number(out, node->id);
    html_cell(out, node->id == 0 ? "master" : node->id > 0 ? "slave" : "candidate");
    html_cell(out, node->address);
    html_cell(out, node->session->peer);
    html_cell(out, node->cluster);
    html_number(out, node->broker != NULL ? node->broker->n_offers : 0);
    html_cell(out, silent);
    append_node_state(out, table, node, now_us);
    html_row_end(out);
}

static void
append_nodes(GString *out, const RouteTable *table, gint64 now_us)
{
    static const char *const columns[] = {
        "Broker",  "Id",     "Role",       "Address", "Connected from",
        "Cluster", "Topics", "Last heard", "State",   NULL,
    };
    g_autoptr(GList) nodes =
        g_list_sort(g_hash_table_get_keys(route_table_nodes(table)), compare_nodes);
    guint n = 0;

    html_table_begin(out, "Brokers", columns);
    for (GList *link = nodes; link != NULL; link = link->next)
        if (n++ < HTML_ROWS_MAX)
            append_node(out, table, link->data, now_us);
    html_table_end(out, n, "the answer to mqadmin clusterList");
}

/* ---- routes ---- */

static int
compare_topics(gconstpointer a, gconstpointer b)
{
    return strcmp(((const RouteTopic *) a)->name, ((const RouteTopic *) b)->name);
}

static void
append_offer_state(GString *out, const RouteTable *table, const RouteOffer *offer)
{
    gboolean may_write = (offer->perm & QUEUE_PERM_WRITE) != 0;

    if (may_write && offer->write_queues > offer->read_queues)
        html_state(out, "bad", "writes to more queues than are read");
    else if (may_write && g_str_equal(offer->topic->name, ROUTE_TEMPLATE_TOPIC))
        html_state(out, "warn", "topics create themselves");
    else if (route_table_has_acting_master(table, offer))
        html_state(out, "warn", "a slave acts as master");
    else if (route_broker_node(offer->broker, 0) == NULL)
        html_state(out, "warn", "no master");
    else if (!may_write)
        html_state(out, "warn", "not written to");
    else
        html_state(out, "", "offered");
}

static void
append_offer(GString *out, const RouteTable *table, const RouteOffer *offer)
{
    html_row_begin(out, offer->topic->name);
    html_cell(out, offer->broker->name);
    html_cell(out, route_perm_to_text(offer->perm));
    html_number(out, offer->write_queues);
    html_number(out, offer->read_queues);
    append_offer_state(out, table, offer);
    html_row_end(out);
}

static void
append_routes(GString *out, const RouteTable *table)
{
    static const char *const columns[] = { "Topic",       "Broker", "Permission", "Write queues",
                                           "Read queues", "State",  NULL };
    g_autoptr(GList) topics =
        g_list_sort(g_hash_table_get_values(route_table_topics(table)), compare_topics);
    guint n = 0;

    html_table_begin(out, "Routes", columns);
    for (GList *link = topics; link != NULL; link = link->next) {
        const RouteTopic *topic = link->data;

        for (const RouteOffer *offer = topic->first; offer != NULL; offer = offer->next)
            if (n++ < HTML_ROWS_MAX)
                append_offer(out, table, offer);
    }
    html_table_end(out, n, "the answer to mqadmin topicRoute");
}

void
route_page_append(GString *out, const RouteTable *table, gint64 now_us)
{
    RouteCounts counts = route_table_counts(table);

    g_string_append(out, "<h2>RocketMQ</h2>\n<p>");
    html_append_count(out, counts.clusters, "cluster");
    g_string_append(out, ", ");
    html_append_count(out, counts.brokers, "broker");
    g_string_append(out, " of ");
    html_append_count(out, counts.nodes, "node");
    g_string_append(out, ", ");
    html_append_count(out, counts.topics, "topic");
    g_string_append(out, ", ");
    html_append_count(out, counts.offers, "time");
    g_string_append(out, " a topic at a broker.</p>\n");
    if (route_table_creates_topics(table))
        g_string_append(out, "<p class=\"warn\">" ROUTE_TEMPLATE_TOPIC
                             " can be written to: topics create themselves.</p>\n");
    append_nodes(out, table, now_us);
    append_routes(out, table);
}
