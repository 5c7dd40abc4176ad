/* describe_words.c - words about kinds and rows that all forms of help share. */
#include "agent/commands/describe.h"

const char *
describe_section_of_kind(ComponentKind kind)
{
    static const char *const sections[N_COMPONENT_KINDS] = {
        [COMPONENT_SOURCE] = "sources",
        [COMPONENT_INTERCEPTOR] = "interceptors",
        [COMPONENT_SELECTOR] = "selectors",
        [COMPONENT_CHANNEL] = "channels",
        [COMPONENT_SINK] = "sinks",
        [COMPONENT_SINK_GROUP] = "sink-groups",
        [COMPONENT_REGISTRATION] = "registration",
    };

    return sections[kind];
}

const char *
describe_purpose_of_kind(ComponentKind kind)
{
    static const char *const purposes[N_COMPONENT_KINDS] = {
        [COMPONENT_SOURCE] = "bring events in",
        [COMPONENT_INTERCEPTOR] = "edit or drop the events of a source",
        [COMPONENT_SELECTOR] = "say into which channels of its source an event goes",
        [COMPONENT_CHANNEL] = "hold events between a source and a sink",
        [COMPONENT_SINK] = "take events from a channel and deliver them",
        [COMPONENT_SINK_GROUP] = "say which of several sinks delivers next",
        [COMPONENT_REGISTRATION] = "announces sources at registries, so that others find them",
    };

    return purposes[kind];
}

/* "4KiB to 1GiB, or 0", NULL if any value of the kind will do. */
static char *
range_text(const OptionSpec *row)
{
    g_autofree char *min = NULL;
    g_autofree char *max = NULL;
    const char *or_zero = row->zero_ok && row->min > 0 ? ", or 0" : "";

    if (row->kind != OPTION_COUNT && row->kind != OPTION_SIZE && row->kind != OPTION_DURATION)
        return row->kind == OPTION_RATIO ? g_strdup("0 to 1") : NULL;
    min = option_number_to_text(row->kind, row->min);
    max = option_number_to_text(row->kind, row->max);
    if (row->max > 0 && row->min == 0)
        return g_strdup_printf("up to %s", max);
    if (row->max > 0)
        return g_strdup_printf("%s to %s%s", min, max, or_zero);
    return row->min > 0 ? g_strdup_printf("%s or more%s", min, or_zero) : NULL;
}

/* "text, json or headers-and-text". */
static char *
choices_text(const OptionSpec *row)
{
    GString *text = g_string_new(row->choices[0]);

    for (guint i = 1; row->choices[i] != NULL; i++)
        g_string_append_printf(text, "%s%s", row->choices[i + 1] != NULL ? ", " : " or ",
                               row->choices[i]);
    return g_string_free(text, FALSE);
}

char *
describe_values(const OptionSpec *row)
{
    g_autofree char *limits = row->kind == OPTION_CHOICE ? choices_text(row) : range_text(row);

    return limits != NULL ? g_strdup_printf("%s: %s", option_kind_name(row->kind), limits)
                          : g_strdup(option_kind_name(row->kind));
}

char *
describe_facts(const OptionSpec *row)
{
    g_autofree char *values = describe_values(row);
    const char *fallback = row->fallback_text != NULL ? row->fallback_text : row->fallback;

    if (row->required)
        return g_strconcat(values, "; required", NULL);
    if (fallback == NULL)
        return g_steal_pointer(&values);
    return g_strconcat(values, "; default ", fallback[0] != '\0' ? fallback : "empty", NULL);
}

char *
describe_metric_help(const MetricSpec *row)
{
    g_autofree char *values = NULL;

    if (row->label == NULL || row->values == NULL)
        return g_strdup(row->help);
    values = g_strjoinv(", ", (char **) row->values);
    return g_strdup_printf("%s Values of %s: %s.", row->help, row->label, values);
}

char *
describe_metric_facts(const MetricSpec *row)
{
    static const char *const kinds[] = {
        [METRIC_COUNTER] = "counter",
        [METRIC_GAUGE] = "gauge",
        [METRIC_HISTOGRAM] = "histogram",
    };

    return g_strconcat(kinds[row->kind], row->label != NULL ? " by " : "",
                       row->label != NULL ? row->label : "",
                       row->flume != NULL ? "; in Flume's JSON: " : "",
                       row->flume != NULL ? row->flume : "", NULL);
}
