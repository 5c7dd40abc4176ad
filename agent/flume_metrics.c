/* flume_metrics.c - {"SOURCE.apps":{"Type":"SOURCE","EventReceivedCount":"0",...},...} */
#include "agent/flume_metrics.h"

#include "agent/core/channel.h"
#include "agent/core/sink.h"
#include "agent/core/source.h"
#include "base/json_writer.h"

typedef struct {
    const MetricSpec *specs; /* the rows of the kind */
    const char *type;
    const char *const *always_zero; /* attributes that Flume has and that cannot happen here */
} FlumeKind;

static const FlumeKind flume_kinds[] = {
    { channel_metrics, "CHANNEL", (const char *const[]){ NULL } },
    { sink_metrics, "SINK", (const char *const[]){ "ChannelReadFail", NULL } },
    { source_metrics, "SOURCE", (const char *const[]){ NULL } },
};

static void
write_number(JsonWriter *json, const char *name, guint64 number)
{
    char text[32];

    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, number);
    json_text(json, name, text);
}

/* As Java prints a double: always with a fraction. */
static void
write_fill_percentage(JsonWriter *json, const MetricSet *set)
{
    double capacity = (double) metric_get(set, CHANNEL_CAPACITY);
    double percentage = 100 * (double) metric_get(set, CHANNEL_EVENTS) / capacity;
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    if (capacity == 0) {
        json_text(json, "ChannelFillPercentage", "1.7976931348623157E308");
        return;
    }
    g_ascii_formatd(text, sizeof text,
                    percentage == (double) (guint64) percentage ? "%.1f" : "%.15g", percentage);
    json_text(json, "ChannelFillPercentage", text);
}

static void
write_rows(JsonWriter *json, const MetricSet *set)
{
    const MetricSpec *specs = metric_set_specs(set);

    for (guint row = 0; specs[row].name != NULL; row++)
        if (specs[row].flume != NULL)
            write_number(json, specs[row].flume, metric_get(set, row));
}

/* The kind's rows of one component, and what its part adds to them. */
static void
write_component(JsonWriter *json, const FlumeKind *kind, const GPtrArray *sets,
                const MetricSet *kind_set, gint64 started_ms)
{
    g_autofree char *key = g_strdup_printf("%s.%s", kind->type, metric_set_component(kind_set));

    json_open(json, key, '{');
    json_text(json, "Type", kind->type);
    write_number(json, "StartTime", (guint64) started_ms);
    write_number(json, "StopTime", 0);
    for (guint i = 0; i < sets->len; i++) {
        const MetricSet *set = g_ptr_array_index(sets, i);

        if (g_str_equal(metric_set_kind(set), metric_set_kind(kind_set)) &&
            g_str_equal(metric_set_component(set), metric_set_component(kind_set)))
            write_rows(json, set);
    }
    for (guint i = 0; kind->always_zero[i] != NULL; i++)
        write_number(json, kind->always_zero[i], 0);
    if (kind->specs == channel_metrics)
        write_fill_percentage(json, kind_set);
    json_close(json, '}');
}

void
flume_metrics_write(const GPtrArray *sets, gint64 started_ms, GString *out)
{
    JsonWriter json;

    json_writer_init(&json, out);
    json_open(&json, NULL, '{');
    for (guint i = 0; i < sets->len; i++) {
        const MetricSet *set = g_ptr_array_index(sets, i);

        for (guint k = 0; k < G_N_ELEMENTS(flume_kinds); k++)
            if (metric_set_specs(set) == flume_kinds[k].specs)
                write_component(&json, &flume_kinds[k], sets, set, started_ms);
    }
    json_close(&json, '}');
}
