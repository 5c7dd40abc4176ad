/* nsq_server.c - the connections of nsqds, and their nodes. */
#include "registry/nsq_server.h"

#include "registry/nsq_server_private.h"

/* What all connections together may have of commands that are not there whole. */
#define HELD_MAX (32 * 1024 * 1024)

static const char *const commands[] = { "ping", "identify", "register", "unregister", NULL };

static const MetricSpec specs[] = {
    [NSQ_COMMANDS] = { .name = "leat_registry_commands_total",
                       .kind = METRIC_COUNTER,
                       .help = "Commands of nodes that were carried out.",
                       .label = "command",
                       .values = commands },
    { 0 },
};

static void
on_opened(TcpConnection *connection)
{
    NsqConnection *self = (NsqConnection *) connection;

    self->server = tcp_server_user(connection->server);
    tcp_connection_set_patience(connection, self->server->options.hurry_us);
}

static void
on_left(TcpConnection *connection, const char *why)
{
    NsqConnection *self = (NsqConnection *) connection;

    if (self->node != NULL)
        nsq_table_remove_node(self->server->table, g_steal_pointer(&self->node), why);
}

static const TcpProtocol protocol = {
    .section = "nsqlookupd",
    .connection_size = sizeof(NsqConnection),
    .opened = on_opened,
    .take = nsq_commands_take,
    .read_ended = nsq_commands_end,
    .crowded = nsq_commands_crowd,
    .left = on_left,
};

NsqServer *
nsq_server_new(Loop *loop, NsqTable *table, Refusals *refusals, const NsqServerOptions *options,
               GError **error)
{
    g_autoptr(NsqServer) self = g_new0(NsqServer, 1);
    const TcpServerOptions tcp_options = {
        .listen = options->listen,
        .max_connections = options->max_connections,
        .held_max = HELD_MAX,
        .linger_us = options->linger_us,
    };

    self->table = table;
    self->options = *options;
    self->options.listen = NULL;
    self->metrics = metric_set_new(specs, "registry", protocol.section, protocol.section);
    self->tcp = tcp_server_new(loop, refusals, &protocol, &tcp_options, self, error);
    return self->tcp != NULL ? g_steal_pointer(&self) : NULL;
}

const Endpoint *
nsq_server_bound(const NsqServer *self)
{
    return tcp_server_bound(self->tcp);
}

void
nsq_server_set_self(NsqServer *self, const NsqSelf *answer)
{
    g_free(self->self_json);
    self->self_json = nsq_self_to_json(answer);
}

void
nsq_server_add_metrics(NsqServer *self, GPtrArray *sets)
{
    g_ptr_array_add(sets, tcp_server_metrics(self->tcp));
    g_ptr_array_add(sets, self->metrics);
}

void
nsq_server_stop_listening(NsqServer *self)
{
    tcp_server_stop_listening(self->tcp);
}

void
nsq_server_stop(NsqServer *self)
{
    tcp_server_stop(self->tcp);
}

void
nsq_server_free(NsqServer *self)
{
    if (self == NULL)
        return;
    tcp_server_free(self->tcp);
    metric_set_free(self->metrics);
    g_free(self->self_json);
    g_free(self);
}
