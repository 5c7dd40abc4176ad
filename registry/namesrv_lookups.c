/* namesrv_lookups.c - what clients and people look up: routes, clusters, lists of topics. */
#include <string.h>

#include "base/clock.h"
#include "registry/namesrv_server_private.h"
#include "registry/route_report.h"
#include "registry/wire/namesrv_watch.h"
#include "registry/wire/topic_list.h"

/* Flags of topics of units, data centres that stand alone. */
#define FLAG_UNIT 1
#define FLAG_UNIT_SUB 2

/* ---- routes ---- */

/* NULL: all zones. */
static const char *
zone_of(const RemotingCommand *request)
{
    const char *zone = remoting_command_get(request, "__ZONE_NAME");

    if (zone == NULL || !remoting_command_get_bool(request, "__ZONE_MODE"))
        return NULL;
    return zone[strspn(zone, " \t")] != '\0' ? zone : NULL;
}

static gboolean
is_too_early(const NamesrvConnection *self)
{
    const NamesrvServer *server = self->server;

    return namesrv_now_us(self) - server->started_us < server->parts.settings->wait_for_service_us;
}

static void
add_index(const RouteTable *table, RemotingCommand *answer, const char *topic)
{
    g_autofree char *index = g_strdup_printf("%" G_GUINT64_FORMAT, route_table_index(table, topic));
    g_autofree char *epoch = g_strdup_printf("%" G_GUINT64_FORMAT, route_table_first_index(table));

    remoting_command_set(answer, NAMESRV_INDEX_FIELD, index);
    remoting_command_set(answer, NAMESRV_EPOCH_FIELD, epoch);
}

static RequestOutcome
fail_no_route(RemotingCommand *answer, const char *topic)
{
    return namesrv_fail(answer, REMOTING_TOPIC_NOT_EXIST,
                        "No topic route info in name server for the topic: %s", topic);
}

void
namesrv_fill_route(NamesrvConnection *self, const RemotingCommand *request, RemotingCommand *answer,
                   const char *name)
{
    const NamesrvParts *parts = &self->server->parts;
    const RouteTopic *topic = route_table_find(parts->table, name);
    const char *zone = zone_of(request);
    RouteForm form = route_form_for(request);
    g_autoptr(TopicRoute) route = NULL;

    add_index(parts->table, answer, name);
    if (topic == NULL) {
        fail_no_route(answer, name);
        return;
    }
    route = route_report_topic(parts->table, topic, zone);
    if (parts->settings->order_topics)
        route->order_conf = g_strdup(kv_store_get(parts->kv, NAMESRV_ORDER_TOPIC_NAMESPACE, name));
    if (zone != NULL) /* the original writes it a second time, and that in its own form */
        form.standard = FALSE;
    remoting_command_set_body(answer, topic_route_encode(route, &form));
}

RequestOutcome
namesrv_get_route(NamesrvConnection *self, const RemotingCommand *request, RemotingCommand *answer)
{
    const char *topic = remoting_command_get(request, "topic");

    if (is_too_early(self))
        return namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "name server not ready");
    if (topic == NULL)
        return fail_no_route(answer, namesrv_text(NULL));
    if (namesrv_hold(self, request, topic))
        return REQUEST_HELD;
    namesrv_fill_route(self, request, answer, topic);
    return REQUEST_ANSWERED;
}

RequestOutcome
namesrv_get_cluster_info(NamesrvConnection *self, const RemotingCommand *request G_GNUC_UNUSED,
                         RemotingCommand *answer)
{
    g_autoptr(ClusterInfo) info = route_report_clusters(self->server->parts.table);

    remoting_command_set_body(answer, cluster_info_encode(info));
    return REQUEST_ANSWERED;
}

/* ---- lists ---- */

static RequestOutcome
answer_topics(RemotingCommand *answer, GPtrArray *topics /* (transfer full) */)
{
    remoting_command_set_body(answer, topic_list_encode(topics, NULL));
    g_ptr_array_unref(topics);
    return REQUEST_ANSWERED;
}

static RequestOutcome
fail_disabled(RemotingCommand *answer)
{
    return namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "disable");
}

RequestOutcome
namesrv_get_all_topics(NamesrvConnection *self, const RemotingCommand *request G_GNUC_UNUSED,
                       RemotingCommand *answer)
{
    if (!self->server->parts.settings->list_all_topics)
        return fail_disabled(answer);
    return answer_topics(answer, route_report_topics(self->server->parts.table, NULL));
}

RequestOutcome
namesrv_get_topics_of_cluster(NamesrvConnection *self, const RemotingCommand *request,
                              RemotingCommand *answer)
{
    const char *cluster = remoting_command_get(request, "cluster");

    if (!self->server->parts.settings->list_topics)
        return fail_disabled(answer);
    if (cluster == NULL) {
        remoting_command_set_body(answer, g_string_new("{}"));
        return REQUEST_ANSWERED;
    }
    return answer_topics(answer,
                         route_report_topics_of_cluster(self->server->parts.table, cluster));
}

/* With the address of any broker, which the original takes from the first one, too. */
RequestOutcome
namesrv_get_system_topics(NamesrvConnection *self, const RemotingCommand *request G_GNUC_UNUSED,
                          RemotingCommand *answer)
{
    const RouteTable *table = self->server->parts.table;
    g_autoptr(GPtrArray) topics = route_report_system_topics(table);
    const char *address = NULL;
    GHashTableIter iter;
    gpointer broker;

    g_hash_table_iter_init(&iter, route_table_brokers(table));
    if (g_hash_table_iter_next(&iter, NULL, &broker))
        address = ((RouteNode *) g_ptr_array_index(((RouteBroker *) broker)->nodes, 0))->address;
    remoting_command_set_body(answer, topic_list_encode(topics, address));
    return REQUEST_ANSWERED;
}

static gboolean
is_of_unit(const RouteTopic *topic)
{
    return (topic->first->sys_flag & FLAG_UNIT) != 0;
}

static gboolean
has_unit_sub(const RouteTopic *topic)
{
    return (topic->first->sys_flag & FLAG_UNIT_SUB) != 0;
}

static gboolean
has_unit_sub_only(const RouteTopic *topic)
{
    return has_unit_sub(topic) && !is_of_unit(topic);
}

static RequestOutcome
answer_unit_topics(NamesrvConnection *self, RemotingCommand *answer, RouteTopicFilter filter)
{
    if (!self->server->parts.settings->list_topics)
        return fail_disabled(answer);
    return answer_topics(answer, route_report_topics(self->server->parts.table, filter));
}

RequestOutcome
namesrv_get_unit_topics(NamesrvConnection *self, const RemotingCommand *request G_GNUC_UNUSED,
                        RemotingCommand *answer)
{
    return answer_unit_topics(self, answer, is_of_unit);
}

RequestOutcome
namesrv_get_unit_sub_topics(NamesrvConnection *self, const RemotingCommand *request G_GNUC_UNUSED,
                            RemotingCommand *answer)
{
    return answer_unit_topics(self, answer, has_unit_sub);
}

RequestOutcome
namesrv_get_unit_sub_ununit_topics(NamesrvConnection *self,
                                   const RemotingCommand *request G_GNUC_UNUSED,
                                   RemotingCommand *answer)
{
    return answer_unit_topics(self, answer, has_unit_sub_only);
}
