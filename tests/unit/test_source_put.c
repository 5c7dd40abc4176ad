/* test_source_put.c - a put that waits for room, for its time, or for the end. */
#include "agent/core/source.h"

#include "agent/builtin.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "tests/support/test_part.h"

static const SourceType bare_source = {
    .base = { .name = "bare", .instance_size = sizeof(Source) },
};

/* A source that puts into one memory channel. */
typedef struct {
    Channel *channel;
    Selector *selector;
    Source *source;
} Bench;

static Bench *
bench_new(const char *channel_options_yaml)
{
    static const char *const names[] = { "buffer", NULL };
    Bench *self = g_new0(Bench, 1);
    g_autoptr(GPtrArray) channels = g_ptr_array_new();

    self->channel = (Channel *) test_part_new(builtin_find(COMPONENT_CHANNEL, "memory"),
                                              COMPONENT_CHANNEL, "buffer", channel_options_yaml);
    g_assert_true(component_open(&self->channel->base, NULL));
    g_ptr_array_add(channels, self->channel);
    self->selector = (Selector *) test_part_new(builtin_find(COMPONENT_SELECTOR, "replicating"),
                                                COMPONENT_SELECTOR, "selector", "");
    self->selector->channel_names = names;
    self->selector->n_required = self->selector->n_channels = 1;
    self->selector->required = 1;
    self->source = (Source *) test_part_new(&bare_source.base, COMPONENT_SOURCE, "numbers",
                                            "channels: buffer");
    self->source->processor =
        channel_processor_new(NULL, self->selector, channels, 1, &self->source->base);
    return self;
}

static void
bench_free(Bench *self)
{
    channel_processor_free(self->source->processor);
    component_free(&self->source->base);
    component_free(&self->selector->base);
    component_close(&self->channel->base);
    component_free(&self->channel->base);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bench, bench_free)

static gboolean
bench_put(Bench *self, GError **error)
{
    g_autoptr(Batch) batch = batch_new_single(NULL, 0, byte_span_of_text("body"));

    return source_put(self->source, batch, error);
}

static guint64
bench_metric(const Bench *self, SourceMetric metric)
{
    return metric_get(self->source->base.metrics, metric);
}

static gpointer
take_one(gpointer user)
{
    Bench *bench = user;
    TakeLimits limits = { .max_events = 1, .max_bytes = 1000 };
    g_autoptr(Lease) lease = channel_take(bench->channel, &limits, CLOCK_NEVER);

    lease_commit(lease, 1);
    return NULL;
}

static gpointer
interrupt(gpointer user)
{
    Bench *bench = user;

    g_atomic_int_set(&bench->source->stopping, 1);
    source_interrupt_put(bench->source);
    return NULL;
}

static void
test_a_put_waits_until_there_is_room(void)
{
    g_autoptr(Bench) bench = bench_new("{ capacity: 1, put-timeout: 1h }");
    GThread *thread;

    g_assert_true(bench_put(bench, NULL));
    thread = g_thread_new("taker", take_one, bench);
    g_assert_true(bench_put(bench, NULL));
    g_thread_join(thread);

    g_assert_cmpuint(bench_metric(bench, SOURCE_EVENTS_ACCEPTED), ==, 2);
}

static void
test_a_put_is_refused_after_the_time_of_the_channel(void)
{
    g_autoptr(Bench) bench = bench_new("{ capacity: 1, put-timeout: 20ms }");
    g_autoptr(GError) error = NULL;
    gint64 begin_us = clock_now_us();

    g_assert_true(bench_put(bench, NULL));
    g_assert_false(bench_put(bench, &error));

    g_assert_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TIMEOUT);
    g_assert_cmpint(clock_now_us() - begin_us, >=, 20000);
    g_assert_cmpuint(bench_metric(bench, SOURCE_EVENTS_RECEIVED), ==, 2);
    g_assert_cmpuint(bench_metric(bench, SOURCE_EVENTS_ACCEPTED), ==, 1);
    g_assert_cmpuint(bench_metric(bench, SOURCE_EVENTS_REFUSED), ==, 1);
}

/* Nothing else says which of the two limits was met. */
static void
test_a_put_that_is_refused_is_told_of_events_and_bytes(void)
{
    g_autoptr(Bench) bench = bench_new("{ byte-capacity: 4KiB, put-timeout: 1ms }");
    g_autoptr(GError) error = NULL;
    g_autofree char *size = NULL;
    g_autofree char *text = NULL;
    guint n_events = 0;

    while (bench_put(bench, &error))
        n_events++;

    size = quantity_size_to_text(metric_get(bench->channel->base.metrics, CHANNEL_BYTES));
    text = g_strdup_printf("it holds %u of 1000000 events and %s of 4 KiB", n_events, size);
    g_assert_cmpuint(n_events, >, 1);
    g_assert_true(g_str_has_suffix(error->message, text));
}

static void
test_a_put_that_waits_ends_when_the_source_is_interrupted(void)
{
    g_autoptr(Bench) bench = bench_new("{ capacity: 1, put-timeout: 1h }");
    GThread *thread;

    g_assert_true(bench_put(bench, NULL));
    thread = g_thread_new("interrupter", interrupt, bench);
    g_assert_false(bench_put(bench, NULL));
    g_thread_join(thread);

    g_assert_cmpuint(channel_n_events(bench->channel), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/source-put/waits-until-there-is-room", test_a_put_waits_until_there_is_room);
    g_test_add_func("/source-put/is-refused-after-the-time-of-the-channel",
                    test_a_put_is_refused_after_the_time_of_the_channel);
    g_test_add_func("/source-put/is-told-of-events-and-bytes",
                    test_a_put_that_is_refused_is_told_of_events_and_bytes);
    g_test_add_func("/source-put/ends-when-the-source-is-interrupted",
                    test_a_put_that_waits_ends_when_the_source_is_interrupted);
    return g_test_run();
}
