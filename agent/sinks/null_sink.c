/* null_sink.c - throws events away, or refuses them; for benchmarks and smoke tests. */
#include "agent/core/sink.h"

typedef struct {
    Sink base;
    gboolean refuse;
} NullSink;

static const OptionSpec null_sink_options[] = {
    { .name = "refuse",
      OPTION_AT(BOOL, NullSink, refuse),
      .fallback = "false",
      .help = "Refuse every batch, to exercise retries." },
    { 0 },
};

static Verdict
null_sink_deliver(Sink *sink, const Delivery *delivery, guint *ret_done, GError **error)
{
    NullSink *self = (NullSink *) sink;

    *ret_done = self->refuse ? 0 : delivery->n_events;
    if (!self->refuse)
        return DELIVERED;
    g_set_error_literal(error, SINK_ERROR, SINK_ERROR_REFUSED, "told to refuse");
    return DELIVERY_RETRY;
}

const SinkType null_sink = {
    .base = {
        .name = "null",
        .summary = "Throws events away.",
        .instance_size = sizeof(NullSink),
        .options = null_sink_options,
    },
    .deliver = null_sink_deliver,
};
