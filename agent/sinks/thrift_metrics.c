/* thrift_metrics.c - rows of what Thrift sinks count. */
#include "agent/sinks/thrift_metrics.h"

const MetricSpec thrift_sink_metrics[N_THRIFT_SINK_METRICS + 1] = {
    [THRIFT_SINK_HOST_FAILURES] = { .name = "leat_thrift_sink_host_failures_total",
                                    .help =
                                        "Connects and requests that failed, by host; others are "
                                        "those behind the 32nd.",
                                    .label = "peer" },
    [THRIFT_SINK_NO_SOURCES] = { .name = "leat_thrift_sink_no_source_total",
                                 .help = "Those of them whose peer is no Thrift source, or speaks "
                                         "another protocol." },
    [THRIFT_SINK_HOSTS] = { .name = "leat_thrift_sink_hosts",
                            .kind = METRIC_GAUGE,
                            .help = "Hosts that events may go to now." },
    [THRIFT_SINK_LOOKUPS] = { .name = "leat_thrift_sink_lookups_total",
                              .help = "Questions to registries that were answered, or failed." },
    [THRIFT_SINK_LOOKUPS_FAILED] = { .name = "leat_thrift_sink_lookups_failed_total",
                                     .help = "Those of them that failed." },
};
