/* test_metric.c - counters, histograms and their Prometheus text. */
#include "base/metric.h"

#include <string.h>

enum { HITS, OPEN, CLOSED, TIME };

static const char *const reasons[] = { "idle", "broken", NULL };

static const MetricSpec specs[] = {
    [HITS] = { .name = "hits_total", .kind = METRIC_COUNTER, .help = "Hits \\ and\nmisses." },
    [OPEN] = { .name = "open", .kind = METRIC_GAUGE, .help = "Open now." },
    [CLOSED] = { .name = "closed_total",
                 .kind = METRIC_COUNTER,
                 .help = "Closed.",
                 .label = "reason",
                 .values = reasons },
    [TIME] = { .name = "time_seconds", .kind = METRIC_HISTOGRAM, .help = "Time." },
    { 0 },
};

static MetricSet *
set_new(const char *component)
{
    return metric_set_new(specs, "sink", "null", component);
}

static char *
text_of(MetricSet *first, MetricSet *second)
{
    g_autoptr(GPtrArray) sets = g_ptr_array_new();
    GString *out = g_string_new(NULL);

    g_ptr_array_add(sets, first);
    if (second != NULL)
        g_ptr_array_add(sets, second);
    metrics_write_prometheus(sets, out);
    return g_string_free(out, FALSE);
}

static guint
bucket_with_one(MetricSet *set)
{
    guint64 buckets[METRIC_BUCKETS];
    guint found = METRIC_BUCKETS;

    metric_get_buckets(set, TIME, buckets);
    for (guint i = 0; i < METRIC_BUCKETS; i++)
        if (buckets[i] == 1)
            found = i;
    return found;
}

static void
test_a_labelled_row_is_the_sum_of_its_values(void)
{
    g_autoptr(MetricSet) set = set_new("a");

    metric_add_value(set, CLOSED, 0, 2);
    metric_add_value(set, CLOSED, 1, 3);

    g_assert_cmpuint(metric_get(set, CLOSED), ==, 5);
    g_assert_cmpuint(metric_get_value(set, CLOSED, 1), ==, 3);
}

static void
test_a_duration_goes_into_the_bucket_whose_bound_it_does_not_pass(void)
{
    static const struct {
        gint64 us;
        guint bucket;
    } rows[] = {
        { -5, 0 },  { 0, 0 },         { 64, 0 },        { 65, 1 },          { 128, 1 },
        { 129, 2 }, { 67108864, 20 }, { 67108865, 21 }, { G_MAXINT64, 21 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(MetricSet) set = set_new("a");

        metric_observe_us(set, TIME, rows[i].us, 1);
        g_assert_cmpuint(bucket_with_one(set), ==, rows[i].bucket);
    }
}

static gpointer
add_many(gpointer set)
{
    for (int i = 0; i < 100000; i++)
        metric_add(set, HITS, 1);
    return NULL;
}

static void
test_threads_count_together_and_lose_nothing(void)
{
    g_autoptr(MetricSet) set = set_new("a");
    GThread *threads[4];

    for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("adder", add_many, set);
    for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
        g_thread_join(threads[i]);

    g_assert_cmpuint(metric_get(set, HITS), ==, 400000);
}

static void
test_two_components_share_the_head_of_a_family(void)
{
    g_autoptr(MetricSet) a = set_new("a");
    g_autoptr(MetricSet) b = set_new("b \"quoted\"\n");
    g_autofree char *text = NULL;

    metric_set(a, OPEN, 7);
    metric_subtract(a, OPEN, 1);
    metric_add(b, OPEN, 2);
    text = text_of(a, b);

    g_assert_nonnull(
        strstr(text, "# HELP open Open now.\n"
                     "# TYPE open gauge\n"
                     "open{component=\"a\",kind=\"sink\",type=\"null\"} 6\n"
                     "open{component=\"b \\\"quoted\\\"\\n\",kind=\"sink\",type=\"null\"} 2\n"));
    g_assert_nonnull(strstr(text, "# HELP hits_total Hits \\\\ and\\nmisses.\n"));
}

static void
test_a_histogram_is_cumulative_and_weighted(void)
{
    g_autoptr(MetricSet) set = set_new("a");
    g_autofree char *text = NULL;

    metric_observe_us(set, TIME, 100, 3);
    metric_observe_us(set, TIME, 1500000, 2);
    text = text_of(set, NULL);

#define SERIES(suffix) "time_seconds_" suffix "{component=\"a\",kind=\"sink\",type=\"null\""
    g_assert_nonnull(strstr(text, SERIES("bucket") ",le=\"0.000064\"} 0\n"));
    g_assert_nonnull(strstr(text, SERIES("bucket") ",le=\"0.000128\"} 3\n"));
    g_assert_nonnull(strstr(text, SERIES("bucket") ",le=\"1.048576\"} 3\n"));
    g_assert_nonnull(strstr(text, SERIES("bucket") ",le=\"2.097152\"} 5\n"));
    g_assert_nonnull(strstr(text, SERIES("bucket") ",le=\"+Inf\"} 5\n"));
    g_assert_nonnull(strstr(text, SERIES("sum") "} 3.000300\n"));
    g_assert_nonnull(strstr(text, SERIES("count") "} 5\n"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/metric/a-labelled-row-is-the-sum",
                    test_a_labelled_row_is_the_sum_of_its_values);
    g_test_add_func("/metric/a-duration-goes-into-its-bucket",
                    test_a_duration_goes_into_the_bucket_whose_bound_it_does_not_pass);
    g_test_add_func("/metric/threads-lose-nothing", test_threads_count_together_and_lose_nothing);
    g_test_add_func("/metric/two-components-share-a-family",
                    test_two_components_share_the_head_of_a_family);
    g_test_add_func("/metric/a-histogram-is-cumulative-and-weighted",
                    test_a_histogram_is_cumulative_and_weighted);
    return g_test_run();
}
