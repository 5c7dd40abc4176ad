/* thrift_source.c - takes events from Thrift clients, framed, in compact or binary protocol. */
#include <sys/resource.h>

#include "agent/core/source.h"
#include "base/quantity.h"
#include "thrift/frame_server.h"

/* Threads, when the number is left to us; more than this many only wait for one another. */
#define MOST_THREADS_UNASKED 4

/* Descriptors that the rest of the process needs beside the connections. */
#define OTHER_DESCRIPTORS 100

typedef struct {
    Source base;
    Endpoint *listen;
    guint protocol; /* a FrameProtocol */
    guint64 threads;
    guint64 max_frame;
    guint64 max_connections;
    guint64 receive_memory;
    gint64 frame_timeout_us;
    gint64 idle_timeout_us;

    FrameServer *server; /* while open */
} ThriftSource;

static const char *const protocol_names[] = {
    [FRAME_PROTOCOL_AUTO] = "auto",
    [FRAME_PROTOCOL_COMPACT] = "compact",
    [FRAME_PROTOCOL_BINARY] = "binary",
    NULL,
};

static const OptionSpec thrift_source_options[] = {
    { .name = "listen",
      OPTION_AT(LISTEN, ThriftSource, listen),
      .required = TRUE,
      .example = "\"0.0.0.0:4141\"",
      .help = "Address to listen on; \":4141\" is every interface of both families, port 0 picks "
              "one." },
    { .name = "protocol",
      OPTION_AT(CHOICE, ThriftSource, protocol),
      .fallback = "auto",
      .choices = protocol_names,
      .help = "Protocol that clients must speak; auto tells each connection's by its first byte." },
    { .name = "threads",
      OPTION_AT(COUNT, ThriftSource, threads),
      .fallback = "0",
      .max = 64,
      .help = "Threads that serve connections; 0 is one for each processor, at most 4." },
    { .name = "max-frame",
      OPTION_AT(SIZE, ThriftSource, max_frame),
      .fallback = "16384000",
      .min = 64,
      .max = G_MAXINT32,
      .help = "Largest request in bytes; a client that sends a larger one is disconnected, and a "
              "request that interceptors would make larger than twice this is refused." },
    { .name = "max-connections",
      OPTION_AT(COUNT, ThriftSource, max_connections),
      .fallback = "10000",
      .min = 1,
      .max = 1000000,
      .help = "Connections beyond this number are closed at once." },
    { .name = "receive-memory",
      OPTION_AT(SIZE, ThriftSource, receive_memory),
      .fallback = "256MiB",
      .min = 64,
      .help = "Memory for all requests that are being received; when it is used up, the next wait "
              "their turn, small ones (up to 32 KiB) not behind large ones." },
    { .name = "frame-timeout",
      OPTION_AT(DURATION, ThriftSource, frame_timeout_us),
      .fallback = "30s",
      .min = 1000,
      .help =
          "A request must arrive within this time, from its first byte to its last; while others "
          "wait for memory, one that stalls or falls behind this pace is ended after a "
          "second." },
    { .name = "idle-timeout",
      OPTION_AT(DURATION, ThriftSource, idle_timeout_us),
      .fallback = "0s",
      .min = 1000,
      .zero_ok = TRUE,
      .help = "Close connections on which nothing happens for so long; 0 is never." },
    { 0 },
};

enum { THRIFT_SOURCE_INCIDENTS };

static const MetricSpec thrift_source_metrics[] = {
    [THRIFT_SOURCE_INCIDENTS] = { .name = "leat_thrift_source_incidents_total",
                                  .help = "Connections that ended or were refused, and requests "
                                          "that got an error for an answer, by reason.",
                                  .label = "reason",
                                  .values = frame_reason_names },
    { 0 },
};

/* ---- requests ---- */

static void
count_received(ThriftSource *self, Request *request)
{
    MetricSet *metrics = self->base.base.metrics;

    metric_add(metrics, SOURCE_EVENTS_RECEIVED, request_batch(request)->n_events);
    metric_add(metrics,
               request_is_single(request) ? SOURCE_APPENDS_RECEIVED : SOURCE_BATCHES_RECEIVED, 1);
}

static void
accept_request(ThriftSource *self, Request *request)
{
    MetricSet *metrics = self->base.base.metrics;

    metric_add(metrics, SOURCE_EVENTS_ACCEPTED, request_batch(request)->n_events);
    metric_add(metrics,
               request_is_single(request) ? SOURCE_APPENDS_ACCEPTED : SOURCE_BATCHES_ACCEPTED, 1);
    request_complete(request, TRUE);
}

static void
refuse_request(ThriftSource *self, Request *request, const GError *error)
{
    metric_add(self->base.base.metrics, SOURCE_EVENTS_REFUSED, request_batch(request)->n_events);
    component_report(&self->base.base, REPORT_REFUSED, request_peer(request), error->message);
    request_complete(request, FALSE);
}

/* The channels' word, from whatever thread they speak on. */
static void
put_ready(Put *put)
{
    request_hand_back(request_of_user(put));
}

/* Any batch may grow by as much as the largest that comes in: a short match and a long replacement
 * could make it huge. */
static BatchLimit
batch_limit(const ThriftSource *self)
{
    return (BatchLimit){ MIN(2 * self->max_frame, G_MAXINT32),
                         ", twice max-frame; send smaller batches, or raise it" };
}

/* What interceptors made of a batch may be many times as large, and its sender can come again. */
static void
refuse_to_keep(ThriftSource *self, Request *request)
{
    Put *put = request_user(request);
    g_autoptr(GError) error = NULL;

    if (!channel_processor_expire(put)) /* it comes back by itself, at once */
        return;
    if (channel_processor_finish(put, &error)) {
        accept_request(self, request);
        return;
    }
    g_prefix_error(&error,
                   "receive-memory has no room for a batch of %" G_GSIZE_FORMAT
                   " bytes, as the interceptors left it, while it waits: ",
                   put->n_copied);
    refuse_request(self, request, error);
}

static void
request_received(Request *request, gpointer user)
{
    ThriftSource *self = user;
    Put *put = request_user(request);
    g_autoptr(GError) error = NULL;

    count_received(self, request);
    if (request_batch(request)->n_events == 0) {
        accept_request(self, request);
        return;
    }
    put->ready = put_ready;
    put->limit = batch_limit(self);
    switch (channel_processor_put(self->base.processor, request_batch(request), put, &error)) {
    case PUT_DONE:
        accept_request(self, request);
        return;
    case PUT_FAILED:
        refuse_request(self, request, error);
        return;
    case PUT_PENDING:
        request_set_deadline(request, put->deadline_us);
        if (!request_charge(request, put->n_copied))
            refuse_to_keep(self, request);
        return;
    }
}

static void
request_returned(Request *request, gpointer user)
{
    g_autoptr(GError) error = NULL;

    if (channel_processor_finish(request_user(request), &error))
        accept_request(user, request);
    else
        refuse_request(user, request, error);
}

static void
request_expired(Request *request, gpointer user)
{
    if (channel_processor_expire(request_user(request)))
        request_returned(request, user);
}

/* ---- reports ---- */

typedef struct {
    gboolean is_logged;
    ReportReason report;
    gboolean is_read_failure;
} IncidentRow;

/* What is not here is everyday life: counted, not logged. */
static const IncidentRow incident_rows[N_FRAME_REASONS] = {
    [FRAME_CLOSED_SLOW_FRAME] = { TRUE, REPORT_CONNECTION_CLOSED, TRUE },
    [FRAME_CLOSED_NOT_READING] = { TRUE, REPORT_CONNECTION_CLOSED, FALSE },
    [FRAME_CLOSED_NOT_FRAMED] = { TRUE, REPORT_BAD_CLIENT, TRUE },
    [FRAME_CLOSED_TOO_LARGE] = { TRUE, REPORT_TOO_LARGE, TRUE },
    [FRAME_CLOSED_BAD_LENGTH] = { TRUE, REPORT_BAD_CLIENT, TRUE },
    [FRAME_CLOSED_BAD_HEADER] = { TRUE, REPORT_BAD_CLIENT, TRUE },
    [FRAME_CLOSED_WRONG_PROTOCOL] = { TRUE, REPORT_BAD_CLIENT, TRUE },
    [FRAME_CLOSED_MALFORMED] = { TRUE, REPORT_BAD_CLIENT, TRUE },
    [FRAME_CLOSED_NO_MEMORY] = { TRUE, REPORT_RESOURCES, TRUE },
    [FRAME_REFUSED_CONNECTION] = { TRUE, REPORT_RESOURCES, FALSE },
    [FRAME_ACCEPT_PAUSED] = { TRUE, REPORT_RESOURCES, FALSE },
    [FRAME_ANSWERED_INCOMPLETE] = { TRUE, REPORT_BAD_CLIENT, TRUE },
    [FRAME_ANSWERED_UNKNOWN_METHOD] = { TRUE, REPORT_BAD_CLIENT, FALSE },
};

static void
server_reported(FrameReason reason, const char *peer, const char *detail, gpointer user)
{
    Component *self = user;
    const IncidentRow *row = &incident_rows[reason];

    metric_add_value(self->part_metrics, THRIFT_SOURCE_INCIDENTS, reason, 1);
    if (row->is_read_failure)
        metric_add(self->metrics, SOURCE_READ_FAILURES, 1);
    if (row->is_logged)
        component_report_topic(self, row->report, frame_reason_names[reason], peer, detail);
}

static void
connections_changed(int change, gpointer user)
{
    MetricSet *metrics = ((Component *) user)->metrics;

    if (change > 0)
        metric_add(metrics, SOURCE_OPEN_CONNECTIONS, (guint64) change);
    else
        metric_subtract(metrics, SOURCE_OPEN_CONNECTIONS, (guint64) -change);
}

static const FrameHandler request_handler = {
    .user_size = sizeof(Put),
    .received = request_received,
    .returned = request_returned,
    .expired = request_expired,
    .report = server_reported,
    .connections_changed = connections_changed,
};

/* ---- life cycle ---- */

static void
thrift_source_configure(Component *component, Problems *problems)
{
    ThriftSource *self = (ThriftSource *) component;
    g_autofree char *frame = quantity_size_to_text_beside(self->max_frame, self->receive_memory);
    g_autofree char *memory = quantity_size_to_text_beside(self->receive_memory, self->max_frame);

    if (self->max_frame > self->receive_memory)
        component_problem(component, problems, "max-frame",
                          "%s is above receive-memory (%s), so that such a request could never be "
                          "received; lower it, or raise receive-memory",
                          frame, memory);
}

static guint
wanted_threads(const ThriftSource *self)
{
    return self->threads > 0 ? (guint) self->threads
                             : MIN(g_get_num_processors(), MOST_THREADS_UNASKED);
}

static gboolean
thrift_source_open(Component *component, GError **error)
{
    ThriftSource *self = (ThriftSource *) component;
    FrameServerOptions options = {
        .name = component->name,
        .listen = self->listen,
        .protocol = (FrameProtocol) self->protocol,
        .threads = wanted_threads(self),
        .max_frame = self->max_frame,
        .max_connections = (guint) self->max_connections,
        .receive_memory = self->receive_memory,
        .frame_timeout_us = self->frame_timeout_us,
        .idle_timeout_us = self->idle_timeout_us,
    };
    g_autoptr(FrameServer) server = frame_server_new(&options, &request_handler, self);

    if (!frame_server_open(server, error))
        return FALSE;
    self->server = g_steal_pointer(&server);
    return TRUE;
}

static void
thrift_source_close(Component *component)
{
    g_clear_pointer(&((ThriftSource *) component)->server, frame_server_free);
}

static void
warn_of_few_descriptors(ThriftSource *self)
{
    struct rlimit limit;
    g_autofree char *detail = NULL;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= self->max_connections + OTHER_DESCRIPTORS)
        return;
    detail = g_strdup_printf("the limit of open files is %" G_GUINT64_FORMAT
                             ", too low for max-connections (%" G_GUINT64_FORMAT
                             "); raise it (LimitNOFILE=, ulimit -n) or lower max-connections",
                             (guint64) limit.rlim_cur, self->max_connections);
    component_report(&self->base.base, REPORT_SYSTEM_LIMIT, NULL, detail);
}

static gboolean
thrift_source_start(Source *source, GError **error)
{
    ThriftSource *self = (ThriftSource *) source;

    warn_of_few_descriptors(self);
    return frame_server_start(self->server, error);
}

static void
thrift_source_begin_stop(Source *source, gint64 answer_deadline_us, gint64 deadline_us)
{
    frame_server_begin_stop(((ThriftSource *) source)->server, answer_deadline_us, deadline_us);
}

static void
thrift_source_finish_stop(Source *source)
{
    frame_server_finish_stop(((ThriftSource *) source)->server);
}

static const Endpoint *
thrift_source_listens_on(const Source *source)
{
    return ((const ThriftSource *) source)->listen;
}

static const Endpoint *
thrift_source_bound_to(const Source *source)
{
    return frame_server_bound(((const ThriftSource *) source)->server);
}

static const char *
thrift_source_trouble(const Source *source)
{
    return frame_server_is_paused(((const ThriftSource *) source)->server)
               ? "no descriptor is left for another connection"
               : NULL;
}

static gsize
thrift_source_largest_batch(const Source *source)
{
    return ((const ThriftSource *) source)->max_frame;
}

const SourceType thrift_source = {
    .base = {
        .name = "thrift",
        .summary = "Takes events from Thrift clients: framed, compact or binary protocol.",
        .instance_size = sizeof(ThriftSource),
        .options = thrift_source_options,
        .metrics = thrift_source_metrics,
        .configure = thrift_source_configure,
        .open = thrift_source_open,
        .close = thrift_source_close,
    },
    .start = thrift_source_start,
    .begin_stop = thrift_source_begin_stop,
    .finish_stop = thrift_source_finish_stop,
    .listens_on = thrift_source_listens_on,
    .bound_to = thrift_source_bound_to,
    .largest_batch = thrift_source_largest_batch,
    .trouble = thrift_source_trouble,
};
