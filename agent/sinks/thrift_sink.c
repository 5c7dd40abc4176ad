/* thrift_sink.c - sends events to Thrift sources: leat agents, Apache Flume, or others. */
#include "agent/sinks/thrift_metrics.h"
#include "agent/sinks/thrift_sink_private.h"
#include "base/clock.h"

static ThriftSink *
thrift_sink_of(gpointer part)
{
    return part;
}

/* ---- what the client tells, on the sink's thread ---- */

static gboolean
has_several_hosts(const ThriftSink *self)
{
    return g_atomic_int_get(&self->findings.n_hosts) > 1;
}

static void
note_connection_opened(const char *peer G_GNUC_UNUSED, gpointer user)
{
    metric_add(thrift_sink_of(user)->base.base.metrics, SINK_CONNECTIONS_CREATED, 1);
}

static void
note_connection_closed(const char *peer G_GNUC_UNUSED, gpointer user)
{
    metric_add(thrift_sink_of(user)->base.base.metrics, SINK_CONNECTIONS_CLOSED, 1);
}

/* The runner logs when a delivery fails; this is for hosts whose part others took over. */
static void
report_failure(ThriftSink *self, guint host, const char *peer, const GError *error)
{
    Component *component = &self->base.base;
    gboolean was_failing = thrift_hosts_note(self->known, host, TRUE);

    if (g_error_matches(error, RPC_ERROR, RPC_ERROR_NOT_A_SOURCE))
        component_report(component, REPORT_NOT_A_SOURCE, peer, error->message);
    else if (!was_failing && has_several_hosts(self))
        component_report(component, REPORT_DESTINATION, peer, error->message);
}

static void
count_failure(const ThriftSink *self, guint host, const GError *error)
{
    const Component *component = &self->base.base;

    thrift_hosts_count_failure(self->known, host);
    if (error->code == RPC_ERROR_UNREACHABLE)
        metric_add(component->metrics, SINK_CONNECTIONS_FAILED, 1);
    if (error->code == RPC_ERROR_NOT_A_SOURCE)
        metric_add(component->part_metrics, THRIFT_SINK_NO_SOURCES, 1);
}

static void
note_host_failed(const char *peer, const GError *error, gpointer user)
{
    ThriftSink *self = user;
    guint host = thrift_hosts_place(self->known, peer);

    count_failure(self, host, error);
    switch (error->code) {
    case RPC_ERROR_BROKEN: /* some servers answer so to what they cannot bear */
        self->answers.hung_up |= thrift_hosts_bit(host);
        self->answers.refused |= thrift_hosts_bit(host);
        break;
    case RPC_ERROR_NOT_A_SOURCE:
    case RPC_ERROR_REFUSED:
        self->answers.refused |= thrift_hosts_bit(host);
        break;
    default:
        break;
    }
    report_failure(self, host, peer, error);
    if (self->finder != NULL)
        thrift_discovery_note_failure(self->finder, error);
}

/* No event was sent, so this says nothing of the delivery. */
static void
note_host_still_failing(const char *peer, const GError *error, gpointer user)
{
    ThriftSink *self = user;
    guint host = thrift_hosts_place(self->known, peer);

    count_failure(self, host, error);
    report_failure(self, host, peer, error);
}

static void
note_host_acknowledged(const char *peer, gpointer user)
{
    ThriftSink *self = user;
    guint host = thrift_hosts_place(self->known, peer);

    self->answers.acknowledged |= thrift_hosts_bit(host);
    if (thrift_hosts_note(self->known, host, FALSE) && has_several_hosts(self))
        component_report(&self->base.base, REPORT_RECOVERED, peer, NULL);
}

static const RpcClientEvents client_events = {
    .connection_opened = note_connection_opened,
    .connection_closed = note_connection_closed,
    .host_failed = note_host_failed,
    .host_still_failing = note_host_still_failing,
    .host_acknowledged = note_host_acknowledged,
};

/* ---- delivery ---- */

static RpcStream *
stream_at(const ThriftSink *self, guint index)
{
    return g_ptr_array_index(self->streams, index % self->streams->len);
}

static guint
thrift_sink_room(Sink *sink)
{
    const ThriftSink *self = thrift_sink_of(sink);
    const RpcStream *oldest = self->under_way.head != NULL ? self->under_way.head->data : NULL;
    guint room = 0;

    if (oldest != NULL && rpc_stream_has_failed(oldest))
        return 0;
    for (guint i = 0; i < self->streams->len; i++)
        room += rpc_stream_room(stream_at(self, i));
    return room;
}

static void
thrift_sink_submit(Sink *sink, const Delivery *delivery)
{
    ThriftSink *self = thrift_sink_of(sink);
    RpcStream *stream = stream_at(self, self->next_stream);

    if (self->finder != NULL)
        thrift_discovery_await_hosts(self->finder, delivery->deadline_us);
    for (guint i = 1; rpc_stream_room(stream) == 0 && i < self->streams->len; i++)
        stream = stream_at(self, self->next_stream + i);
    self->next_stream = (self->next_stream + 1) % self->streams->len;
    g_queue_push_tail(&self->under_way, stream);
    rpc_stream_submit(stream, delivery->slices, delivery->n_slices, delivery->deadline_us);
}

/* Closes the connections on which answers are outstanding. */
static void
thrift_sink_give_up(ThriftSink *self)
{
    for (GList *link = self->under_way.head; link != NULL; link = link->next)
        link->data = NULL;
    for (guint i = 0; i < self->streams->len; i++)
        if (rpc_stream_in_flight(stream_at(self, i)) > 0) {
            rpc_stream_free(stream_at(self, i));
            self->streams->pdata[i] = rpc_stream_new(self->rpc);
        }
}

static Verdict
thrift_sink_collect(Sink *sink, gint64 deadline_us, guint *ret_done, GError **error)
{
    ThriftSink *self = thrift_sink_of(sink);
    g_autoptr(GError) failure = NULL;
    RpcStream *stream;

    *ret_done = 0;
    if (deadline_us == 0)
        thrift_sink_give_up(self);
    stream = g_queue_pop_head(&self->under_way);
    if (stream == NULL) {
        g_set_error_literal(error, SINK_ERROR, SINK_ERROR_INTERRUPTED, "given up");
        return DELIVERY_RETRY;
    }
    if (rpc_stream_collect(stream, ret_done, &failure))
        return DELIVERED;
    if (g_error_matches(failure, RPC_ERROR, RPC_ERROR_TOO_LARGE)) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return DELIVERY_REJECTED;
    }
    g_propagate_error(error, g_steal_pointer(&failure));
    return self->answers.refused != 0 ? DELIVERY_REFUSED : DELIVERY_RETRY;
}

static AnsweredBy
thrift_sink_answered_by(Sink *sink)
{
    ThriftSink *self = thrift_sink_of(sink);
    AnsweredBy answers = self->answers;

    self->answers = (AnsweredBy){ 0 };
    return answers;
}

static void
thrift_sink_interrupt(Sink *sink)
{
    rpc_client_interrupt(thrift_sink_of(sink)->rpc);
}

static void
thrift_sink_hurry(Sink *sink)
{
    const ThriftSink *self = thrift_sink_of(sink);

    if (self->finder != NULL)
        thrift_discovery_end_wait(self->finder);
}

static void
thrift_sink_reroute(Sink *sink)
{
    const ThriftSink *self = thrift_sink_of(sink);

    if (has_several_hosts(self))
        rpc_client_interrupt(self->rpc);
}

static const char *
thrift_sink_trouble(Sink *sink)
{
    const ThriftSink *self = thrift_sink_of(sink);

    if (g_atomic_int_get(&self->findings.n_hosts) > 0)
        return NULL;
    return g_atomic_int_get(&self->findings.has_answer)
               ? "no host is known: registries name none"
               : "no host is known: no registry has answered yet";
}

/* ---- life cycle ---- */

static RpcClientOptions
thrift_sink_client_options(const ThriftSink *self)
{
    return (RpcClientOptions){
        .kind = (RpcClientKind) self->client,
        .hosts = self->hosts,
        .any_hosts = self->discovery != NULL,
        .protocol = (WireProtocol) self->protocol,
        .batch_size = (guint) self->base.batch_size,
        .connections = (guint) self->connections,
        .in_flight = (guint) self->in_flight,
        .max_attempts = (guint) self->max_attempts,
        .host_selector = (RpcHostSelector) self->host_selector,
        .backoff = self->host_backoff,
        .max_backoff_us = self->max_host_backoff_us,
        .connect_timeout_us = self->connect_timeout_us,
        .request_timeout_us = self->request_timeout_us,
        .reset_connection_interval_us = self->reset_connection_interval_us,
    };
}

static void
thrift_sink_close(Component *component)
{
    ThriftSink *self = thrift_sink_of(component);

    g_clear_pointer(&self->finder, thrift_discovery_free);
    g_clear_pointer(&self->streams, g_ptr_array_unref);
    g_clear_pointer(&self->rpc, rpc_client_free);
}

static gboolean
thrift_sink_begin_discovery(ThriftSink *self, GError **error)
{
    if (self->discovery == NULL)
        return TRUE;
    self->finder =
        thrift_discovery_new(&self->base, self->rpc, self->discovery, &self->findings, error);
    return self->finder != NULL;
}

static gboolean
thrift_sink_open(Component *component, GError **error)
{
    ThriftSink *self = thrift_sink_of(component);
    RpcClientOptions options = thrift_sink_client_options(self);

    self->rpc = rpc_client_new(&options, error);
    if (self->rpc == NULL)
        return FALSE;
    rpc_client_set_events(self->rpc, &client_events, self);
    self->streams = g_ptr_array_new_with_free_func((GDestroyNotify) rpc_stream_free);
    for (guint i = 0; i < self->connections; i++)
        g_ptr_array_add(self->streams, rpc_stream_new(self->rpc));
    if (thrift_sink_begin_discovery(self, error))
        return TRUE;
    thrift_sink_close(component);
    return FALSE;
}

static void
thrift_sink_finalize(Component *component)
{
    g_clear_pointer(&thrift_sink_of(component)->known, thrift_hosts_free);
}

const SinkType thrift_sink = {
    .base = {
        .name = "thrift",
        .summary = "Sends events to Thrift sources: other leat agents, or Apache Flume.",
        .instance_size = sizeof(ThriftSink),
        .options = thrift_sink_options,
        .metrics = thrift_sink_metrics,
        .configure = thrift_sink_configure,
        .open = thrift_sink_open,
        .close = thrift_sink_close,
        .finalize = thrift_sink_finalize,
    },
    .room = thrift_sink_room,
    .submit = thrift_sink_submit,
    .collect = thrift_sink_collect,
    .answered_by = thrift_sink_answered_by,
    .interrupt = thrift_sink_interrupt,
    .hurry = thrift_sink_hurry,
    .reroute = thrift_sink_reroute,
    .trouble = thrift_sink_trouble,
};
