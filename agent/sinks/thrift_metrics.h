/* thrift_metrics.h - what Thrift sinks count beside what all sinks count. */
#pragma once

#include "base/metric.h"

typedef enum {
    THRIFT_SINK_HOST_FAILURES,
    THRIFT_SINK_NO_SOURCES,
    THRIFT_SINK_HOSTS,
    THRIFT_SINK_LOOKUPS,
    THRIFT_SINK_LOOKUPS_FAILED,
    N_THRIFT_SINK_METRICS,
} ThriftSinkMetric;
extern const MetricSpec thrift_sink_metrics[N_THRIFT_SINK_METRICS + 1];
