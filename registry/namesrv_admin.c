/* namesrv_admin.c - what people change: permissions, topics, settings. */
#include "base/log.h"
#include "registry/namesrv_properties.h"
#include "registry/namesrv_server_private.h"

void
namesrv_log_request(NamesrvConnection *self, const char *what, const char *name)
{
    g_autofree char *shown = g_strndup(name, LOGGED_BYTES_MAX);

    log_info("asked by remoting", LOG_TEXT("action", what), LOG_TEXT("name", shown),
             LOG_TEXT("peer", self->base.peer));
}

/* ---- permissions and topics ---- */

/* How many topics the broker has, all of which were changed. */
static guint
change_write_perm(NamesrvConnection *self, const RemotingCommand *request, const char *what,
                  guint (*change)(RouteTable *table, const char *broker))
{
    const char *broker = remoting_command_get(request, "brokerName");
    guint n_topics = broker != NULL ? change(self->server->parts.table, broker) : 0;

    if (n_topics > 0)
        namesrv_log_request(self, what, broker);
    return n_topics;
}

RequestOutcome
namesrv_wipe_write_perm(NamesrvConnection *self, const RemotingCommand *request,
                        RemotingCommand *answer)
{
    guint n_topics = change_write_perm(self, request, "wipe-write-perm", route_table_wipe_write);

    remoting_command_set_int(answer, "wipeTopicCount", n_topics);
    return REQUEST_ANSWERED;
}

RequestOutcome
namesrv_add_write_perm(NamesrvConnection *self, const RemotingCommand *request,
                       RemotingCommand *answer)
{
    guint n_topics = change_write_perm(self, request, "add-write-perm", route_table_restore_write);

    remoting_command_set_int(answer, "addTopicCount", n_topics);
    return REQUEST_ANSWERED;
}

RequestOutcome
namesrv_delete_topic(NamesrvConnection *self, const RemotingCommand *request,
                     RemotingCommand *answer G_GNUC_UNUSED)
{
    const char *topic = remoting_command_get(request, "topic");
    const char *cluster = remoting_command_get(request, "clusterName");

    if (topic == NULL)
        return REQUEST_ANSWERED;
    if (route_table_delete_topic(self->server->parts.table, topic,
                                 cluster != NULL && *cluster != '\0' ? cluster : NULL) > 0)
        namesrv_log_request(self, "delete-topic", topic);
    return REQUEST_ANSWERED;
}

/* ---- settings ---- */

RequestOutcome
namesrv_update_config(NamesrvConnection *self, const RemotingCommand *request,
                      RemotingCommand *answer)
{
    NamesrvSettings *settings = self->server->parts.settings;
    g_autofree char *text = request->body.length > 0
                                ? g_strndup((const char *) request->body.data, request->body.length)
                                : g_strdup("");

    if (!settings->remote_config) {
        tcp_connection_note_refusal(&self->base, REFUSAL_BAD_COMMAND,
                                    "who may change the configuration: remote-config is off");
        return namesrv_fail(answer, REMOTING_NO_PERMISSION,
                            "Can not update config: remote-config of the registry is off.");
    }
    switch (namesrv_properties_update(settings, text)) {
    case PROPERTIES_UPDATED:
        namesrv_log_request(self, "update-config", "");
        return REQUEST_ANSWERED;
    case PROPERTIES_FORBIDDEN:
        return namesrv_fail(answer, REMOTING_NO_PERMISSION, "Can not update config in black list.");
    case PROPERTIES_UNREADABLE:
        return namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "string2Properties error");
    }
    g_assert_not_reached();
}

RequestOutcome
namesrv_get_config(NamesrvConnection *self, const RemotingCommand *request G_GNUC_UNUSED,
                   RemotingCommand *answer)
{
    const NamesrvServer *server = self->server;

    remoting_command_set_body(answer, namesrv_properties_write(server->parts.settings,
                                                               namesrv_server_bound(server)->port));
    return REQUEST_ANSWERED;
}
