/* thrift_sink.c - sends events to Thrift sources: leat agents, Apache Flume, or others. */
#include "agent/core/sink.h"
#include "base/clock.h"
#include "client/rpc_stream.h"

/* Hosts that have a failure counter of their own, and one for all others. */
#define LABELLED_HOSTS_MAX 32

typedef struct {
    Sink base;

    /* Rows. */
    GPtrArray *hosts; /* Endpoint * */
    guint client;     /* RpcClientKind */
    guint protocol;   /* WireProtocol */
    guint64 connections;
    guint64 in_flight;
    guint64 max_attempts;
    guint host_selector; /* RpcHostSelector */
    gboolean host_backoff;
    gint64 max_host_backoff_us;
    gint64 connect_timeout_us;
    gint64 request_timeout_us;
    gint64 reset_connection_interval_us;

    RpcClient *rpc;        /* while open */
    GPtrArray *host_names; /* as the client tells of them, each once */

    /* The sink's thread's. */
    GPtrArray *streams; /* RpcStream *, one for each connection */
    guint next_stream;
    GQueue under_way;     /* RpcStream * of each delivery, the oldest first; NULL: given up */
    AnsweredBy answers;   /* since the last collect */
    gboolean *is_failing; /* by host name */
} ThriftSink;

/* ---- rows ---- */

static const OptionSpec thrift_sink_options[] = {
    { .name = "hosts",
      OPTION_AT(ENDPOINTS, ThriftSink, hosts),
      .required = TRUE,
      .example = "[\"collector1:4141\", \"collector2:4141\"]",
      .help = "Addresses of Thrift sources that the events go to." },
    { .name = "client",
      OPTION_AT(CHOICE, ThriftSink, client),
      .choices = rpc_client_kind_names,
      .fallback_text = "single with one host, failover with several",
      .example = "failover",
      .help = "Failover stays with a host until it fails and then goes on to the next one; "
              "load-balance shares the batches among all hosts." },
    { .name = "protocol",
      OPTION_AT(CHOICE, ThriftSink, protocol),
      .fallback = "compact",
      .choices = rpc_protocol_names,
      .help = "Thrift protocol that the hosts speak." },
    { .name = "connections",
      OPTION_AT(COUNT, ThriftSink, connections),
      .fallback = "1",
      .min = 1,
      .max = 64,
      .help = "Connections to each host; with more than one, batches overtake one another." },
    { .name = "in-flight",
      OPTION_AT(COUNT, ThriftSink, in_flight),
      .fallback = "1",
      .min = 1,
      .max = RPC_MAX_IN_FLIGHT,
      .help = "Batches sent on a connection before the first is answered; more is faster over long "
              "distances, and more is sent twice when a connection breaks." },
    { .name = "max-attempts",
      OPTION_AT(COUNT, ThriftSink, max_attempts),
      .fallback = "0",
      .max = 1000000,
      .help = "Hosts that failover tries before it backs off; 0 is all of them." },
    { .name = "host-selector",
      OPTION_AT(CHOICE, ThriftSink, host_selector),
      .fallback = "round-robin",
      .choices = rpc_host_selector_names,
      .help = "Which host the next batch goes to under load-balance." },
    { .name = "host-backoff",
      OPTION_AT(BOOL, ThriftSink, host_backoff),
      .fallback = "true",
      .help =
          "Try hosts that failed lately after the others; load-balance asks them with a batch of "
          "no events whether they are back." },
    { .name = "max-host-backoff",
      OPTION_AT(DURATION, ThriftSink, max_host_backoff_us),
      .fallback = "30s",
      .min = 1000,
      .help = "A host that failed comes last for 1 s, then for 2 s, and so on, but for no longer "
              "than this." },
    { .name = "connect-timeout",
      OPTION_AT(DURATION, ThriftSink, connect_timeout_us),
      .fallback = "20s",
      .min = 1000,
      .help = "Give up a host that cannot be resolved and connected to within this time." },
    { .name = "request-timeout",
      OPTION_AT(DURATION, ThriftSink, request_timeout_us),
      .fallback = "20s",
      .min = 1000,
      .help = "Give up a host that has not answered a batch within this time; of several, one "
              "that freezes holds up the sink for so long, once." },
    { .name = "reset-connection-interval",
      OPTION_AT(DURATION, ThriftSink, reset_connection_interval_us),
      .fallback = "0s",
      .min = 1000,
      .zero_ok = TRUE,
      .help =
          "Connect anew after this time, between batches, to spread over hosts behind one name; "
          "0 is never." },
    { 0 },
};

enum { THRIFT_SINK_HOST_FAILURES, THRIFT_SINK_NO_SOURCES };

static const MetricSpec thrift_sink_metrics[] = {
    [THRIFT_SINK_HOST_FAILURES] = { .name = "leat_thrift_sink_host_failures_total",
                                    .help =
                                        "Connects and requests that failed, by host; others are "
                                        "those behind the 32nd.",
                                    .label = "peer" },
    [THRIFT_SINK_NO_SOURCES] = { .name = "leat_thrift_sink_no_source_total",
                                 .help = "Those of them whose peer is no Thrift source, or speaks "
                                         "another protocol." },
    { 0 },
};

static ThriftSink *
thrift_sink_of(gpointer part)
{
    return part;
}

/* ---- what the client tells, on the sink's thread ---- */

static guint
find_host(const ThriftSink *self, const char *peer)
{
    guint index = 0;

    g_ptr_array_find_with_equal_func(self->host_names, peer, g_str_equal, &index);
    return index;
}

/* With more than 64 hosts some share a bit, and the search for poison is a little less sure. */
static guint64
bit_of_host(guint host)
{
    return (guint64) 1 << host % 64;
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

    if (g_error_matches(error, RPC_ERROR, RPC_ERROR_NOT_A_SOURCE))
        component_report(component, REPORT_NOT_A_SOURCE, peer, error->message);
    else if (!self->is_failing[host] && self->hosts->len > 1)
        component_report(component, REPORT_DESTINATION, peer, error->message);
    self->is_failing[host] = TRUE;
}

static void
count_failure(const ThriftSink *self, guint host, const GError *error)
{
    const Component *component = &self->base.base;

    metric_add_value(component->part_metrics, THRIFT_SINK_HOST_FAILURES,
                     MIN(host, LABELLED_HOSTS_MAX), 1);
    if (error->code == RPC_ERROR_UNREACHABLE)
        metric_add(component->metrics, SINK_CONNECTIONS_FAILED, 1);
    if (error->code == RPC_ERROR_NOT_A_SOURCE)
        metric_add(component->part_metrics, THRIFT_SINK_NO_SOURCES, 1);
}

static void
note_host_failed(const char *peer, const GError *error, gpointer user)
{
    ThriftSink *self = user;
    guint host = find_host(self, peer);

    count_failure(self, host, error);
    switch (error->code) {
    case RPC_ERROR_BROKEN: /* some servers answer so to what they cannot bear */
        self->answers.hung_up |= bit_of_host(host);
        self->answers.refused |= bit_of_host(host);
        break;
    case RPC_ERROR_NOT_A_SOURCE:
    case RPC_ERROR_REFUSED:
        self->answers.refused |= bit_of_host(host);
        break;
    default:
        break;
    }
    report_failure(self, host, peer, error);
}

/* No event was sent, so this says nothing of the delivery. */
static void
note_host_still_failing(const char *peer, const GError *error, gpointer user)
{
    ThriftSink *self = user;
    guint host = find_host(self, peer);

    count_failure(self, host, error);
    report_failure(self, host, peer, error);
}

static void
note_host_acknowledged(const char *peer, gpointer user)
{
    ThriftSink *self = user;
    guint host = find_host(self, peer);

    self->answers.acknowledged |= bit_of_host(host);
    if (!self->is_failing[host])
        return;
    self->is_failing[host] = FALSE;
    if (self->hosts->len > 1)
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
    guint room = 0;

    for (guint i = 0; i < self->streams->len; i++)
        room += rpc_stream_room(stream_at(self, i));
    return room;
}

static void
thrift_sink_submit(Sink *sink, const Delivery *delivery)
{
    ThriftSink *self = thrift_sink_of(sink);
    RpcStream *stream = stream_at(self, self->next_stream);

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
thrift_sink_reroute(Sink *sink)
{
    const ThriftSink *self = thrift_sink_of(sink);

    if (self->hosts->len > 1)
        rpc_client_interrupt(self->rpc);
}

/* ---- life cycle ---- */

static RpcClientOptions
thrift_sink_client_options(const ThriftSink *self)
{
    return (RpcClientOptions){
        .kind = (RpcClientKind) self->client,
        .hosts = self->hosts,
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
check_client(const ThriftSink *self, Problems *problems)
{
    guint n_hosts = self->hosts->len;

    if (component_has_problem(&self->base.base, problems, "client"))
        return;
    if (self->client == RPC_SINGLE && n_hosts > 1)
        component_problem(&self->base.base, problems, "client",
                          "single has one host, not %u; write failover or load-balance", n_hosts);
    if (self->client == RPC_LOAD_BALANCE && n_hosts == 1)
        component_problem(&self->base.base, problems, "client",
                          "load-balance needs two hosts or more; add hosts or write single");
}

static void
name_hosts(ThriftSink *self)
{
    const char *labels[LABELLED_HOSTS_MAX + 2] = { NULL };

    for (guint i = 0; i < self->hosts->len; i++) {
        g_autofree char *name = endpoint_to_text(g_ptr_array_index(self->hosts, i));
        guint host = self->host_names->len;

        if (g_ptr_array_find_with_equal_func(self->host_names, name, g_str_equal, NULL))
            continue; /* named twice for two shares of the load */
        labels[MIN(host, LABELLED_HOSTS_MAX)] = host < LABELLED_HOSTS_MAX ? name : "others";
        g_ptr_array_add(self->host_names, g_steal_pointer(&name));
    }
    component_set_metric_values(&self->base.base, labels);
}

static void
thrift_sink_configure(Component *component, Problems *problems)
{
    ThriftSink *self = thrift_sink_of(component);

    self->host_names = g_ptr_array_new_with_free_func(g_free);
    if (self->hosts == NULL) /* which is a problem already */
        return;
    self->is_failing = g_new0(gboolean, self->hosts->len);
    if (self->hosts->len > 1 && yaml_node_get(component->node, "client") == NULL)
        self->client = RPC_FAILOVER;
    check_client(self, problems);
    name_hosts(self);
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
    return TRUE;
}

static void
thrift_sink_close(Component *component)
{
    ThriftSink *self = thrift_sink_of(component);

    g_clear_pointer(&self->streams, g_ptr_array_unref);
    g_clear_pointer(&self->rpc, rpc_client_free);
}

static void
thrift_sink_finalize(Component *component)
{
    ThriftSink *self = thrift_sink_of(component);

    g_clear_pointer(&self->host_names, g_ptr_array_unref);
    g_free(self->is_failing);
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
    .reroute = thrift_sink_reroute,
};
