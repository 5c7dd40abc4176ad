/* namesrv_brokers.c - what brokers ask: to be listed, to be heard, to know of one another. */
#include "base/clock.h"
#include "registry/namesrv_server_private.h"
#include "registry/route_report.h"
#include "registry/wire/broker_registration.h"
#include "registry/wire/kv_table.h"

/* ---- registering ---- */

/* Brokers mark the topics that are named in it as ordered ones. */
static void
add_order_topics(NamesrvConnection *self, RemotingCommand *answer)
{
    GHashTable *table = kv_store_list(self->server->parts.kv, NAMESRV_ORDER_TOPIC_NAMESPACE);

    if (self->server->parts.settings->tell_order_topics && table != NULL)
        remoting_command_set_body(answer, kv_table_encode(table));
}

static RequestOutcome
fail_full(NamesrvConnection *self, RemotingCommand *answer)
{
    tcp_connection_note_refusal(&self->base, REFUSAL_RESOURCES,
                                "raise max-registrations of the section namesrv");
    return namesrv_fail(answer, REMOTING_SYSTEM_BUSY, "the registry is full");
}

static RequestOutcome
fail_registration(NamesrvConnection *self, RemotingCommand *answer, const BrokerRegistration *told,
                  RouteOutcome outcome)
{
    g_autofree char *detail = NULL;

    if (outcome == ROUTE_FULL)
        return fail_full(self, answer);
    if (outcome == ROUTE_TOO_LONG) {
        tcp_connection_note_refusal(&self->base, REFUSAL_TOO_LONG, "a name or a list of a broker");
        return namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "a name or a list is too long");
    }
    detail = g_strdup_printf("broker %s at %s is not there yet, and names a single topic",
                             told->broker, told->address);
    tcp_connection_note_refusal(&self->base, REFUSAL_BAD_COMMAND, detail);
    return namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "register broker failed");
}

RequestOutcome
namesrv_register_broker(NamesrvConnection *self, const RemotingCommand *request,
                        RemotingCommand *answer)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BrokerRegistration) told =
        broker_registration_decode(request, clock_wall_us() / 1000, &error);
    RouteOutcome outcome;
    RouteMaster master;

    if (told == NULL)
        return namesrv_fail_body(self, request, answer, error);
    outcome = route_table_register(self->server->parts.table, self->session, told,
                                   namesrv_now_us(self), &master);
    if (outcome != ROUTE_ACCEPTED)
        return fail_registration(self, answer, told, outcome);
    remoting_command_set(answer, "haServerAddr", master.ha_address);
    remoting_command_set(answer, "masterAddr", master.address);
    add_order_topics(self, answer);
    return REQUEST_ANSWERED;
}

RequestOutcome
namesrv_unregister_broker(NamesrvConnection *self, const RemotingCommand *request,
                          RemotingCommand *answer)
{
    const char *broker = namesrv_need(request, answer, "brokerName");
    const char *address = broker != NULL ? namesrv_need(request, answer, "brokerAddr") : NULL;
    const char *cluster = address != NULL ? namesrv_need(request, answer, "clusterName") : NULL;

    if (cluster != NULL)
        route_table_unregister(self->server->parts.table, self->session, cluster, broker, address);
    return REQUEST_ANSWERED;
}

/* Another whenever the topic has changed. */
static guint64
topic_index(const RouteTable *table, const char *name)
{
    const RouteTopic *topic = route_table_find(table, name);

    return topic != NULL ? topic->index : 0;
}

RequestOutcome
namesrv_register_topic(NamesrvConnection *self, const RemotingCommand *request,
                       RemotingCommand *answer)
{
    const char *topic = remoting_command_get(request, "topic");
    RouteTable *table = self->server->parts.table;
    g_autoptr(TopicRoute) route = NULL;
    g_autoptr(GError) error = NULL;
    guint64 before;

    if (request->body.length == 0) /* nothing of it: nothing to do */
        return REQUEST_ANSWERED;
    route = topic_route_decode(request->body, &error);
    if (route == NULL)
        return namesrv_fail_body(self, request, answer, error);
    if (topic == NULL)
        return REQUEST_ANSWERED;
    before = topic_index(table, topic);
    if (!route_table_register_topic(table, topic, route->queues))
        return fail_full(self, answer);
    if (topic_index(table, topic) != before)
        namesrv_log_request(self, "register-topic", topic);
    return REQUEST_ANSWERED;
}

/* ---- being heard ---- */

RequestOutcome
namesrv_query_data_version(NamesrvConnection *self, const RemotingCommand *request,
                           RemotingCommand *answer)
{
    const char *address = namesrv_need(request, answer, "brokerAddr");
    const char *cluster = address != NULL ? namesrv_need(request, answer, "clusterName") : NULL;
    gboolean has_version = request->body.length > 0;
    const DataVersion *known;
    DataVersion asked;
    g_autoptr(GError) error = NULL;

    if (cluster == NULL)
        return REQUEST_ANSWERED;
    if (has_version && !data_version_decode(request->body, clock_wall_us() / 1000, &asked, &error))
        return namesrv_fail_body(self, request, answer, error);
    known = route_table_hear(self->server->parts.table, cluster, address, namesrv_now_us(self));
    remoting_command_set_bool(answer, "changed",
                              !has_version || known == NULL || !data_version_equal(known, &asked));
    if (known != NULL)
        remoting_command_set_body(answer, data_version_encode(known));
    return REQUEST_ANSWERED;
}

RequestOutcome
namesrv_hear_broker(NamesrvConnection *self, const RemotingCommand *request,
                    RemotingCommand *answer)
{
    const char *address = namesrv_need(request, answer, "brokerAddr");
    const char *cluster = address != NULL ? namesrv_need(request, answer, "clusterName") : NULL;

    if (cluster != NULL)
        route_table_hear(self->server->parts.table, cluster, address, namesrv_now_us(self));
    return REQUEST_ANSWERED;
}

/* ---- one another ---- */

RequestOutcome
namesrv_get_broker_group(NamesrvConnection *self, const RemotingCommand *request,
                         RemotingCommand *answer)
{
    const char *name = remoting_command_get(request, "brokerName");
    const RouteBroker *broker =
        name != NULL ? route_table_find_broker(self->server->parts.table, name) : NULL;
    g_autoptr(BrokerGroup) group =
        broker_group_new(remoting_command_get(request, "clusterName"), name);

    if (broker != NULL)
        route_report_fill_group(group, broker);
    remoting_command_set_body(answer, broker_group_encode(group));
    return REQUEST_ANSWERED;
}
