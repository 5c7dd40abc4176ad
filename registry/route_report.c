/* route_report.c - the table as name servers answer it. */
#include "registry/route_report.h"

/* ---- routes ---- */

void
route_report_fill_group(BrokerGroup *group, const RouteBroker *broker)
{
    group->zone = g_strdup(broker->zone);
    group->enable_acting_master = broker->acting_master;
    for (guint i = 0; i < broker->nodes->len; i++) {
        const RouteNode *node = g_ptr_array_index(broker->nodes, i);

        broker_group_set_address(group, node->id, node->address);
    }
}

/* Under the master's id, and no longer under its own. */
static void
promote_lowest(BrokerGroup *group)
{
    g_array_index(group->addresses, BrokerAddress, 0).id = 0;
}

static void
add_filters(TopicRoute *route, const RouteBroker *broker)
{
    for (guint i = 0; i < broker->nodes->len; i++) {
        const RouteNode *node = g_ptr_array_index(broker->nodes, i);
        RouteFilter *filter;

        if (node->filter_servers == NULL)
            continue;
        filter = topic_route_add_filter(route, node->address);
        for (guint j = 0; j < node->filter_servers->len; j++)
            g_ptr_array_add(filter->servers, g_strdup(g_ptr_array_index(node->filter_servers, j)));
    }
}

static void
add_mappings(TopicRoute *route, const RouteTopic *topic)
{
    GHashTableIter iter;
    gpointer broker, json;

    if (topic->mappings == NULL)
        return;
    g_hash_table_iter_init(&iter, topic->mappings);
    while (g_hash_table_iter_next(&iter, &broker, &json))
        topic_route_add_mapping(
            route, &(QueueMapping){ .topic = topic->name, .broker = broker, .json = json });
}

/* A zone's clients may still see a broker of another one that has lost its master. */
static gboolean
is_in_zone(const RouteTable *table, const RouteOffer *offer, const char *zone)
{
    const RouteBroker *broker = offer->broker;

    if (zone == NULL || (broker->zone != NULL && g_ascii_strcasecmp(broker->zone, zone) == 0))
        return TRUE;
    return route_broker_node(broker, 0) == NULL && !route_table_has_acting_master(table, offer);
}

TopicRoute *
route_report_topic(const RouteTable *table, const RouteTopic *topic, const char *zone)
{
    TopicRoute *route = topic_route_new();

    for (const RouteOffer *offer = topic->first; offer != NULL; offer = offer->next) {
        const RouteBroker *broker = offer->broker;
        BrokerGroup *group;

        if (!is_in_zone(table, offer, zone))
            continue;
        group = topic_route_add_broker(route, broker->cluster, broker->name);
        route_report_fill_group(group, broker);
        if (route_table_has_acting_master(table, offer))
            promote_lowest(group);
        add_filters(route, broker);
        topic_route_add_queue(route, broker->name, offer->read_queues, offer->write_queues,
                              offer->perm, offer->sys_flag);
    }
    add_mappings(route, topic);
    return route;
}

/* ---- clusters ---- */

ClusterInfo *
route_report_clusters(const RouteTable *table)
{
    ClusterInfo *info = cluster_info_new();
    GHashTableIter iter, names_iter;
    gpointer broker, cluster, names, name;

    g_hash_table_iter_init(&iter, route_table_brokers(table));
    while (g_hash_table_iter_next(&iter, NULL, &broker))
        route_report_fill_group(cluster_info_add_group(info, ((RouteBroker *) broker)->cluster,
                                                       ((RouteBroker *) broker)->name),
                                broker);
    g_hash_table_iter_init(&iter, route_table_clusters(table));
    while (g_hash_table_iter_next(&iter, &cluster, &names)) {
        ClusterBrokers *brokers = cluster_info_add_cluster(info, cluster);

        g_hash_table_iter_init(&names_iter, names);
        while (g_hash_table_iter_next(&names_iter, &name, NULL))
            cluster_brokers_add(brokers, name);
    }
    return info;
}

/* ---- lists of topics ---- */

GPtrArray *
route_report_topics(const RouteTable *table, RouteTopicFilter filter)
{
    GPtrArray *names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer topic;

    g_hash_table_iter_init(&iter, route_table_topics(table));
    while (g_hash_table_iter_next(&iter, NULL, &topic))
        if (filter == NULL || filter(topic))
            g_ptr_array_add(names, ((RouteTopic *) topic)->name);
    return names;
}

static void
add_topics_of_broker(GHashTable *seen, GPtrArray *names, const RouteBroker *broker)
{
    for (const RouteOffer *offer = broker->first; offer != NULL; offer = offer->next_of_broker)
        if (g_hash_table_add(seen, offer->topic))
            g_ptr_array_add(names, offer->topic->name);
}

GPtrArray *
route_report_topics_of_cluster(const RouteTable *table, const char *cluster)
{
    GPtrArray *names = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    GHashTable *brokers = g_hash_table_lookup(route_table_clusters(table), cluster);
    GHashTableIter iter;
    gpointer broker;

    if (brokers == NULL)
        return names;
    g_hash_table_iter_init(&iter, brokers);
    while (g_hash_table_iter_next(&iter, &broker, NULL))
        add_topics_of_broker(seen, names, route_table_find_broker(table, broker));
    return names;
}

GPtrArray *
route_report_system_topics(const RouteTable *table)
{
    GPtrArray *names = g_ptr_array_new();
    GHashTableIter iter, brokers_iter;
    gpointer cluster, brokers, broker;

    g_hash_table_iter_init(&iter, route_table_clusters(table));
    while (g_hash_table_iter_next(&iter, &cluster, &brokers)) {
        g_ptr_array_add(names, cluster);
        g_hash_table_iter_init(&brokers_iter, brokers);
        while (g_hash_table_iter_next(&brokers_iter, &broker, NULL))
            g_ptr_array_add(names, broker);
    }
    return names;
}
