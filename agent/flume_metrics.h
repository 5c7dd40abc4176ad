/* flume_metrics.h - the metrics of channels, sinks and sources in exactly the shape of Flume's JSON
 * report, so that existing scrapers work. */
#pragma once

#include <glib.h>

/* sets: GPtrArray of MetricSet *. started_ms: since 1970, the StartTime of everything. */
void flume_metrics_write(const GPtrArray *sets, gint64 started_ms, GString *out);
