/* describe.h - what the rows of all parts say, in the forms that people and editors read. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"

/* Every option of every part. (transfer full) */
char *describe_as_yaml(void);        /* conf/reference.yaml */
char *describe_as_json_schema(void); /* docs/leat.schema.json */
char *describe_as_man(void);         /* the generated sections of leat.yaml(5) */

/* ---- words about kinds and rows ---- */

const char *describe_section_of_kind(ComponentKind kind); /* "sources" */
const char *describe_purpose_of_kind(ComponentKind kind); /* "bring events in", after the name */

/* The kind and the values it takes: "size: 4KiB to 1GiB, or 0", "string". (transfer full) */
char *describe_values(const OptionSpec *row);
/* The same with the default: "size: 4KiB or more; default 128MiB". (transfer full) */
char *describe_facts(const OptionSpec *row);
/* What a metric counts, and the values of its label if it has one. (transfer full) */
char *describe_metric_help(const MetricSpec *row);
/* "counter by reason; in Flume's JSON: EventReceivedCount". (transfer full) */
char *describe_metric_facts(const MetricSpec *row);
