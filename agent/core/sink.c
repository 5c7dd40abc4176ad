/* sink.c - rows that every sink has. */
#include "agent/core/sink.h"

G_DEFINE_QUARK(leat_sink_error, sink_error)

void
sink_retry_now(Sink *self)
{
    if (self->retry != NULL)
        self->retry(self->runner);
}

const OptionSpec sink_options[] = {
    { .name = "channel",
      OPTION_AT(STRING, Sink, channel_name),
      .required = TRUE,
      .example = "buffer",
      .help = "The channel that this sink takes its events from." },
    { .name = "batch-size",
      OPTION_AT(COUNT, Sink, batch_size),
      .fallback = "1000",
      .min = 1,
      .max = 1000000,
      .help = "Events that are delivered together at the most." },
    { .name = "batch-bytes",
      OPTION_AT(SIZE, Sink, batch_bytes),
      .fallback = "4MiB",
      .min = 1,
      .max = (guint64) 1 << 30,
      .help = "Bytes that are delivered together at the most; a larger event goes alone." },
    { .name = "linger",
      OPTION_AT(DURATION, Sink, linger_us),
      .fallback = "5ms",
      .max = 60 * G_USEC_PER_SEC,
      .help = "Wait this long after a delivery for a batch to fill; the first event after silence "
              "goes at once." },
    { .name = "backoff",
      OPTION_AT(DURATION, Sink, backoff_us),
      .fallback = "1s",
      .min = 1000,
      .help = "Pause after the first failed delivery; it doubles with each further one." },
    { .name = "max-backoff",
      OPTION_AT(DURATION, Sink, max_backoff_us),
      .fallback = "30s",
      .min = 1000,
      .help = "The longest pause between two attempts." },
    { .name = "deliver-timeout",
      OPTION_AT(DURATION, Sink, deliver_timeout_us),
      .fallback = "30s",
      .min = 1000,
      .help = "Give up an attempt that has not ended after this time, and try again." },
    { .name = "dead-letter",
      OPTION_AT(STRING, Sink, dead_letter_name),
      .example = "audit",
      .help = "Channel for events that the destination never takes, with headers leat.error and "
              "leat.sink added; without one they are counted and logged." },
    { 0 },
};

const MetricSpec sink_metrics[N_SINK_METRICS + 1] = {
    [SINK_DELIVERY_ATTEMPTS] = { .name = "leat_sink_delivery_attempts_total",
                                 .help = "Events handed to the destination, each attempt counted.",
                                 .flume = "EventDrainAttemptCount" },
    [SINK_EVENTS_DELIVERED] = { .name = "leat_sink_events_delivered_total",
                                .help = "Events the destination accepted.",
                                .flume = "EventDrainSuccessCount" },
    [SINK_EVENTS_REJECTED] = { .name = "leat_sink_events_rejected_total",
                               .help = "Events that no retry could deliver." },
    [SINK_EVENTS_DEAD_LETTERED] = { .name = "leat_sink_events_dead_lettered_total",
                                    .help = "Those of them that went into the dead-letter "
                                            "channel." },
    [SINK_BATCHES_COMPLETE] = { .name = "leat_sink_batches_complete_total",
                                .help = "Batches taken that held batch-size events.",
                                .flume = "BatchCompleteCount" },
    [SINK_BATCHES_UNDERFLOW] = { .name = "leat_sink_batches_underflow_total",
                                 .help = "Batches taken that held fewer than batch-size events.",
                                 .flume = "BatchUnderflowCount" },
    [SINK_BATCHES_EMPTY] = { .name = "leat_sink_batches_empty_total",
                             .help = "Times the channel had nothing to take.",
                             .flume = "BatchEmptyCount" },
    [SINK_BATCHES_RETRIED] = { .name = "leat_sink_batches_retried_total",
                               .help = "Batches put back into the channel to try again.",
                               .flume = "EventWriteFail" },
    [SINK_CONNECTIONS_CREATED] = { .name = "leat_sink_connections_created_total",
                                   .help = "Connections, or files, that were opened.",
                                   .flume = "ConnectionCreatedCount" },
    [SINK_CONNECTIONS_CLOSED] = { .name = "leat_sink_connections_closed_total",
                                  .help = "Connections, or files, that were closed.",
                                  .flume = "ConnectionClosedCount" },
    [SINK_CONNECTIONS_FAILED] = { .name = "leat_sink_connections_failed_total",
                                  .help = "Connections, or files, that failed.",
                                  .flume = "ConnectionFailedCount" },
    [SINK_DELIVERY_TIME] = { .name = "leat_sink_delivery_seconds",
                             .kind = METRIC_HISTOGRAM,
                             .help = "How long one delivery took, failed ones included." },
};
