/* namesrv_server.c - the connections of brokers and clients: frames into requests, and answers. */
#include "registry/namesrv_server.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "registry/namesrv_server_private.h"

#define LINGER_US (1 * G_USEC_PER_SEC)
#define REMARK_BYTES_MAX 4096 /* one repeats what the client said, which may fill a frame */

enum { NAMESRV_REQUESTS };

static const MetricSpec specs[] = {
    [NAMESRV_REQUESTS] = { .name = "leat_registry_requests_total",
                           .kind = METRIC_COUNTER,
                           .help = "Requests of brokers, clients and tools, refused ones too.",
                           .label = "request",
                           .values = namesrv_request_names },
    { 0 },
};

/* ---- for handlers ---- */

gint64
namesrv_now_us(const NamesrvConnection *self)
{
    return loop_now_us(self->server->parts.loop);
}

RequestOutcome
namesrv_fail(RemotingCommand *answer, gint32 code, const char *format, ...)
{
    g_autofree char *remark = NULL;
    va_list arguments;

    va_start(arguments, format);
    remark = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    answer->code = code;
    g_free(answer->remark);
    answer->remark = g_utf8_make_valid(remark, (gssize) MIN(strlen(remark), REMARK_BYTES_MAX));
    return REQUEST_ANSWERED;
}

const char *
namesrv_text(const char *text)
{
    return text != NULL ? text : "null";
}

const char *
namesrv_need(const RemotingCommand *request, RemotingCommand *answer, const char *name)
{
    const char *value = remoting_command_get(request, name);

    if (value == NULL)
        namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "the field %s is missing", name);
    return value;
}

RequestOutcome
namesrv_fail_body(NamesrvConnection *self, const RemotingCommand *request, RemotingCommand *answer,
                  const GError *error)
{
    g_autofree char *detail = g_strdup_printf("request %d: %s", request->code, error->message);

    tcp_connection_note_refusal(&self->base, REFUSAL_BAD_BODY, detail);
    return namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "%s", error->message);
}

/* ---- requests ---- */

static RequestOutcome
refuse_unknown(NamesrvConnection *self, const RemotingCommand *request, RemotingCommand *answer)
{
    g_autofree char *detail = g_strdup_printf("request %d is unknown", request->code);

    tcp_connection_note_refusal(&self->base, REFUSAL_BAD_COMMAND, detail);
    return namesrv_fail(answer, REMOTING_NOT_SUPPORTED, " request type %d not supported",
                        request->code);
}

static void
carry_out(NamesrvConnection *self, const RemotingCommand *request)
{
    g_autoptr(RemotingCommand) answer =
        remoting_command_new_answer(request, REMOTING_SUCCESS, NULL);
    guint index;
    NamesrvHandler handler = namesrv_handler_for(request->code, &index);
    RequestOutcome outcome;

    metric_add_value(self->server->metrics, NAMESRV_REQUESTS, index, 1);
    outcome =
        handler != NULL ? handler(self, request, answer) : refuse_unknown(self, request, answer);
    if (outcome == REQUEST_ANSWERED && !request->is_one_way)
        remoting_command_encode(answer, tcp_connection_output(&self->base));
}

/* What speaks something else cannot be answered. */
static gsize
refuse_frame(NamesrvConnection *self, ByteSpan bytes, const GError *error)
{
    tcp_connection_note_refusal(&self->base, REFUSAL_BAD_PROTOCOL, error->message);
    tcp_connection_end(&self->base, error->message);
    return bytes.length;
}

static gsize
on_bytes(TcpConnection *connection, ByteSpan bytes)
{
    NamesrvConnection *self = (NamesrvConnection *) connection;
    g_autoptr(RemotingCommand) request = NULL;
    g_autoptr(GError) error = NULL;
    gsize needed;

    if (!remoting_frame_needs(bytes, self->server->parts.settings->max_frame, &needed, &error))
        return refuse_frame(self, bytes, error);
    if (needed > bytes.length)
        return 0;
    request = remoting_command_decode(byte_span(bytes.data, needed), &error);
    if (request == NULL)
        return refuse_frame(self, bytes, error);
    tcp_connection_be_active(connection);
    if (!request->is_answer) /* nobody was asked anything */
        carry_out(self, request);
    return needed;
}

/* ---- connections ---- */

static void
on_opened(TcpConnection *connection)
{
    NamesrvConnection *self = (NamesrvConnection *) connection;

    self->server = tcp_server_user(connection->server);
    self->session =
        route_table_open_session(self->server->parts.table, connection->peer, connection);
    tcp_connection_set_patience(connection, self->server->parts.settings->idle_us);
}

static void
on_read_ended(TcpConnection *connection)
{
    tcp_connection_end(connection, "it closed the connection");
}

static void
on_crowded(TcpConnection *connection)
{
    tcp_connection_note_refusal(connection, REFUSAL_RESOURCES,
                                "unfinished requests hold all of receive-memory");
    tcp_connection_end(connection, "its request is too large for now");
}

static void
on_left(TcpConnection *connection, const char *why)
{
    NamesrvConnection *self = (NamesrvConnection *) connection;

    namesrv_forget_waiters(self);
    namesrv_forget_kv_requests(self);
    route_table_close_session(self->server->parts.table, g_steal_pointer(&self->session), why);
}

static const TcpProtocol protocol = {
    .section = "namesrv",
    .connection_size = sizeof(NamesrvConnection),
    .opened = on_opened,
    .take = on_bytes,
    .read_ended = on_read_ended,
    .crowded = on_crowded,
    .left = on_left,
};

void
namesrv_server_close_sessions(NamesrvServer *self G_GNUC_UNUSED, const GPtrArray *sessions)
{
    for (guint i = 0; i < sessions->len; i++)
        tcp_connection_close(((RouteSession *) g_ptr_array_index(sessions, i))->owner,
                             "its brokers were not heard");
}

/* ---- life ---- */

NamesrvServer *
namesrv_server_new(const NamesrvParts *parts, GError **error)
{
    g_autoptr(NamesrvServer) self = g_new0(NamesrvServer, 1);
    const TcpServerOptions options = {
        .listen = parts->settings->listen,
        .max_connections = (guint) parts->settings->max_connections,
        .held_max = parts->settings->receive_memory,
        .linger_us = LINGER_US,
    };

    self->parts = *parts;
    self->started_us = clock_now_us();
    self->metrics = metric_set_new(specs, "registry", protocol.section, protocol.section);
    self->tcp = tcp_server_new(parts->loop, parts->refusals, &protocol, &options, self, error);
    return self->tcp != NULL ? g_steal_pointer(&self) : NULL;
}

const Endpoint *
namesrv_server_bound(const NamesrvServer *self)
{
    return tcp_server_bound(self->tcp);
}

void
namesrv_server_add_metrics(NamesrvServer *self, GPtrArray *sets)
{
    g_ptr_array_add(sets, tcp_server_metrics(self->tcp));
    g_ptr_array_add(sets, self->metrics);
}

void
namesrv_server_stop_listening(NamesrvServer *self)
{
    tcp_server_stop_listening(self->tcp);
}

void
namesrv_server_stop(NamesrvServer *self)
{
    tcp_server_stop(self->tcp);
}

void
namesrv_server_free(NamesrvServer *self)
{
    if (self == NULL)
        return;
    tcp_server_free(self->tcp);
    metric_set_free(self->metrics);
    g_free(self);
}
