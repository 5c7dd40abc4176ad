/* metric_prometheus.c - metric sets as Prometheus text, format 0.0.4. */
#include "base/metric.h"

static void
append_escaped(GString *out, const char *text, gboolean quotes_too)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            g_string_append(out, "\\n");
        else if (*text == '\\' || (quotes_too && *text == '"'))
            g_string_append_printf(out, "\\%c", *text);
        else
            g_string_append_c(out, *text);
    }
}

static void
append_label(GString *out, const char *name, const char *value)
{
    g_string_append_printf(out, "%s=\"", name);
    append_escaped(out, value, TRUE);
    g_string_append_c(out, '"');
}

/* suffix, label and value may be NULL. */
static void
append_series(GString *out, const MetricSet *set, const char *name, const char *suffix,
              const char *label, const char *value)
{
    g_string_append(out, name);
    g_string_append(out, suffix != NULL ? suffix : "");
    g_string_append_c(out, '{');
    append_label(out, "component", metric_set_component(set));
    g_string_append_c(out, ',');
    append_label(out, "kind", metric_set_kind(set));
    g_string_append_c(out, ',');
    append_label(out, "type", metric_set_type(set));
    if (label != NULL) {
        g_string_append_c(out, ',');
        append_label(out, label, value);
    }
    g_string_append(out, "} ");
}

static void
append_number(GString *out, guint64 number)
{
    g_string_append_printf(out, "%" G_GUINT64_FORMAT "\n", number);
}

static void
append_seconds(GString *out, guint64 us)
{
    g_string_append_printf(out, "%" G_GUINT64_FORMAT ".%06u\n", us / G_USEC_PER_SEC,
                           (guint) (us % G_USEC_PER_SEC));
}

static void
append_histogram(GString *out, const MetricSet *set, guint row, const char *name)
{
    guint64 buckets[METRIC_BUCKETS];
    guint64 sum_us = metric_get_buckets(set, row, buckets);
    guint64 count = 0;

    for (guint i = 0; i < METRIC_BUCKETS; i++) {
        guint64 bound_us = (guint64) 1 << (METRIC_FIRST_BOUND_BITS + i);
        char bound[32] = "+Inf";

        if (i < METRIC_BUCKETS - 1)
            g_snprintf(bound, sizeof bound, "%u.%06u", (guint) (bound_us / G_USEC_PER_SEC),
                       (guint) (bound_us % G_USEC_PER_SEC));
        count += buckets[i];
        append_series(out, set, name, "_bucket", "le", bound);
        append_number(out, count);
    }
    append_series(out, set, name, "_sum", NULL, NULL);
    append_seconds(out, sum_us);
    append_series(out, set, name, "_count", NULL, NULL);
    append_number(out, count);
}

static void
append_row(GString *out, const MetricSet *set, guint row)
{
    const MetricSpec *spec = &metric_set_specs(set)[row];

    if (spec->kind == METRIC_HISTOGRAM) {
        append_histogram(out, set, row, spec->name);
        return;
    }
    if (spec->label == NULL) {
        append_series(out, set, spec->name, NULL, NULL, NULL);
        append_number(out, metric_get(set, row));
        return;
    }
    for (guint value = 0; spec->values != NULL && spec->values[value] != NULL; value++) {
        if (spec->values[value][0] == '\0') /* it has no name yet */
            continue;
        append_series(out, set, spec->name, NULL, spec->label, spec->values[value]);
        append_number(out, metric_get_value(set, row, value));
    }
}

static void
append_family(GString *out, const GPtrArray *sets, const MetricSpec *spec)
{
    static const char *const kind_names[] = { "counter", "gauge", "histogram" };

    g_string_append_printf(out, "# HELP %s ", spec->name);
    append_escaped(out, spec->help, FALSE);
    g_string_append_printf(out, "\n# TYPE %s %s\n", spec->name, kind_names[spec->kind]);
    for (guint i = 0; i < sets->len; i++) {
        const MetricSet *set = g_ptr_array_index(sets, i);
        const MetricSpec *specs = metric_set_specs(set);

        for (guint row = 0; specs[row].name != NULL; row++)
            if (g_str_equal(specs[row].name, spec->name))
                append_row(out, set, row);
    }
}

void
metrics_write_prometheus(const GPtrArray *sets, GString *out)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < sets->len; i++)
        for (const MetricSpec *spec = metric_set_specs(g_ptr_array_index(sets, i));
             spec->name != NULL; spec++)
            if (g_hash_table_add(seen, (gpointer) spec->name))
                append_family(out, sets, spec);
}
