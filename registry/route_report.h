/* route_report.h - the table as name servers answer it. */
#pragma once

#include "registry/route_table.h"
#include "registry/wire/cluster_info.h"
#include "registry/wire/topic_route.h"

/* Of the brokers of one zone, and of those without a master, or (NULL) of all. (transfer full) */
TopicRoute *route_report_topic(const RouteTable *table, const RouteTopic *topic, const char *zone);
ClusterInfo *route_report_clusters(const RouteTable *table); /* (transfer full) */
/* The nodes, into a group that has its names. */
void route_report_fill_group(BrokerGroup *group, const RouteBroker *broker);

/* Which topics a list has: by the flags of its first broker. */
typedef gboolean (*RouteTopicFilter)(const RouteTopic *topic);
/* Names, borrowed until the table changes. (transfer container) */
GPtrArray *route_report_topics(const RouteTable *table, RouteTopicFilter filter /* NULL: all */);
GPtrArray *route_report_topics_of_cluster(const RouteTable *table, const char *cluster);
/* The names of clusters and brokers, as topics. */
GPtrArray *route_report_system_topics(const RouteTable *table);
