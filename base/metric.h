/* metric.h - metric rows, and the counters behind them: C11 relaxed atomics, one set per component.
 *
 * A row is indexed by an enum, so that a name cannot be mistyped or left undocumented:
 *
 *     [SINK_EVENTS_DELIVERED] = { .name = "leat_sink_events_delivered_total",
 *                                 .kind = METRIC_COUNTER,
 *                                 .help = "Events the destination accepted.",
 *                                 .flume = "EventDrainSuccessCount" },
 */
#pragma once

#include <glib.h>

typedef enum { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM } MetricKind;

/* Upper bounds are powers of two from 64 µs (2^6) to 67 s (2^26), and one bucket above. */
#define METRIC_BUCKETS 22
#define METRIC_FIRST_BOUND_BITS 6

typedef struct {
    const char *name; /* NULL ends a table */
    MetricKind kind;
    const char *help;
    const char *flume; /* its name in /metrics.json, NULL if Flume has none */
    const char *label; /* "reason", with its bounded set of values; NULL for a single value */
    const char *const
        *values; /* NULL-terminated; NULL: none yet, they depend on the configuration */
} MetricSpec;

typedef struct MetricSet MetricSet;

/* component, kind and type become labels ("apps", "source", "thrift"); the texts are copied. */
MetricSet *metric_set_new(const MetricSpec *specs, const char *kind, const char *type,
                          const char *component);
void metric_set_free(MetricSet *self);

/* row is the index in specs, value the index in its values. Any thread. */
void metric_add(MetricSet *self, guint row, guint64 amount);
void metric_add_value(MetricSet *self, guint row, guint value, guint64 amount);
void metric_subtract(MetricSet *self, guint row, guint64 amount); /* gauges */
void metric_subtract_value(MetricSet *self, guint row, guint value, guint64 amount);
void metric_set(MetricSet *self, guint row, guint64 number); /* gauges */
void metric_observe_us(MetricSet *self, guint row, gint64 us, guint64 weight);
/* From 0 again; what is added meanwhile may be lost. */
void metric_reset_value(MetricSet *self, guint row, guint value);
guint64 metric_get(const MetricSet *self, guint row); /* a labelled row: the sum of its values */
guint64 metric_get_value(const MetricSet *self, guint row, guint value);
/* Of a histogram: how many observations each bucket holds (not cumulated), and their sum in
 * microseconds; both weighted. */
guint64 metric_get_buckets(const MetricSet *self, guint row, guint64 ret_buckets[METRIC_BUCKETS]);

const MetricSpec *metric_set_specs(const MetricSet *self);
const char *metric_set_kind(const MetricSet *self);
const char *metric_set_type(const MetricSet *self);
const char *metric_set_component(const MetricSet *self);

/* Prometheus text format 0.0.4 of all sets (GPtrArray of MetricSet *); HELP and TYPE once a name.
 */
void metrics_write_prometheus(const GPtrArray *sets, GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(MetricSet, metric_set_free)
