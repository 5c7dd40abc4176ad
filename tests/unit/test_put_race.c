/* test_put_race.c - puts that complete and expire at the same moment, into several channels. */
#include "agent/core/channel_processor.h"

#include <glib.h>

#include "agent/builtin.h"
#include "base/clock.h"
#include "tests/support/events.h"
#include "tests/support/select.h"
#include "tests/support/test_part.h"

#define N_CHANNELS 3
#define N_PRODUCERS 4

static guint
n_puts(void)
{
    return g_getenv("LEAT_SOAK") != NULL ? 100000 : 3000;
}

/* ---- the owner of one put at a time ---- */

typedef struct {
    Put put;
    ChannelProcessor *processor;
    guint64 n_ok;
    guint64 n_failed;

    GMutex lock; /* guards n_ready */
    GCond is_ready;
    guint n_ready;
} Producer;

static void
producer_ready(Put *put)
{
    Producer *self = (Producer *) put;

    g_mutex_lock(&self->lock);
    self->n_ready++;
    g_cond_signal(&self->is_ready);
    g_mutex_unlock(&self->lock);
}

static void
producer_wait(Producer *self)
{
    gint64 deadline_us = clock_deadline_us(20 * G_USEC_PER_SEC);

    g_mutex_lock(&self->lock);
    while (self->n_ready == 0)
        g_assert_true(g_cond_wait_until(&self->is_ready, &self->lock, deadline_us));
    g_mutex_unlock(&self->lock);
}

/* Expires each put sooner or later; what becomes of it must be certain and come once. */
static gboolean
producer_put(Producer *self, Batch *batch, guint patience)
{
    guint n_ready = 1;
    PutResult result;

    self->n_ready = 0;
    result = channel_processor_put(self->processor, batch, &self->put, NULL);
    if (result != PUT_PENDING) {
        g_assert_cmpuint(self->n_ready, ==, 0);
        return result == PUT_DONE;
    }
    for (guint spin = 0; spin < patience; spin++)
        g_thread_yield();
    if (channel_processor_expire(&self->put))
        n_ready = 0;
    else
        producer_wait(self);
    g_assert_cmpuint(self->n_ready, ==, n_ready);
    return channel_processor_finish(&self->put, NULL);
}

static gpointer
producer_run(gpointer data)
{
    Producer *self = data;
    g_autoptr(Batch) batch = batch_of_numbers(0, 1);

    for (guint i = 0; i < n_puts(); i++) {
        if (producer_put(self, batch, i % 64))
            self->n_ok++;
        else
            self->n_failed++;
    }
    return NULL;
}

/* ---- what empties a channel ---- */

typedef struct {
    Channel *channel;
    gint stop; /* atomic */
    guint64 n_taken;
} Consumer;

static gpointer
consumer_run(gpointer data)
{
    Consumer *self = data;
    TakeLimits limits = { .max_events = 1, .max_bytes = 1000, .stop = &self->stop };

    while (!g_atomic_int_get(&self->stop)) {
        g_autoptr(Lease) lease =
            channel_take(self->channel, &limits, clock_deadline_us(G_USEC_PER_SEC));

        if (lease != NULL) {
            self->n_taken += lease->n_events;
            lease_commit(lease, lease->n_events);
        }
    }
    return NULL;
}

/* ---- the test ---- */

static void
run_producers(ChannelProcessor *processor, guint64 *ret_n_ok, guint64 *ret_n_failed)
{
    Producer producers[N_PRODUCERS];
    GThread *threads[N_PRODUCERS];

    *ret_n_ok = *ret_n_failed = 0;
    for (guint i = 0; i < N_PRODUCERS; i++) {
        producers[i] = (Producer){ .put = { .ready = producer_ready }, .processor = processor };
        threads[i] = g_thread_new("producer", producer_run, &producers[i]);
    }
    for (guint i = 0; i < N_PRODUCERS; i++) {
        g_thread_join(threads[i]);
        *ret_n_ok += producers[i].n_ok;
        *ret_n_failed += producers[i].n_failed;
    }
}

/* channels as in "a b | c". Every put that is done is in all of the required ones. */
static void
assert_every_put_has_one_end(const char *channels)
{
    g_autoptr(Selector) selector = selector_new(&replicating_selector, channels, "", NULL);
    g_autoptr(GPtrArray) array = g_ptr_array_new_with_free_func((GDestroyNotify) test_part_free);
    g_autoptr(Component) source =
        test_part_new(&sequence_source.base, COMPONENT_SOURCE, "test", "channels: a");
    MetricSet *metrics = source->metrics;
    Consumer consumers[N_CHANNELS] = { 0 };
    GThread *threads[N_CHANNELS];
    ChannelProcessor *processor;
    guint64 n_ok;
    guint64 n_failed;

    for (guint i = 0; i < selector->n_channels; i++) {
        g_ptr_array_add(array, test_part_open(&memory_channel.base, COMPONENT_CHANNEL,
                                              selector->channel_names[i], "capacity: 2"));
        consumers[i].channel = g_ptr_array_index(array, i);
        threads[i] = g_thread_new("consumer", consumer_run, &consumers[i]);
    }
    processor = channel_processor_new(NULL, selector, array, selector->n_required, source);
    run_producers(processor, &n_ok, &n_failed);
    channel_processor_free(processor);

    g_assert_cmpuint(n_ok + n_failed, ==, N_PRODUCERS * n_puts());
    g_assert_cmpuint(metric_get(metrics, SOURCE_CHANNEL_FAILURES), ==, n_failed);
    for (guint i = 0; i < selector->n_channels; i++) {
        Channel *channel = consumers[i].channel;
        guint64 n_put = metric_get(channel->base.metrics, CHANNEL_PUT_SUCCESSES);

        g_atomic_int_set(&consumers[i].stop, 1);
        channel_wake(channel);
        g_thread_join(threads[i]);
        g_assert_cmpuint(n_put, ==, consumers[i].n_taken + channel_n_events(channel));
        if (i < selector->n_required)
            g_assert_cmpuint(n_put, >=, n_ok);
        else
            g_assert_cmpuint(n_put + metric_get(metrics, SOURCE_OPTIONAL_FAILURES), ==, n_ok);
    }
}

static void
test_a_put_into_one_channel_has_one_end(void)
{
    assert_every_put_has_one_end("a");
}

static void
test_a_put_into_several_channels_has_one_end(void)
{
    assert_every_put_has_one_end("a b c");
}

static void
test_a_put_with_an_optional_channel_has_one_end(void)
{
    assert_every_put_has_one_end("a b | c");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/put-race/one-channel", test_a_put_into_one_channel_has_one_end);
    g_test_add_func("/put-race/several-channels", test_a_put_into_several_channels_has_one_end);
    g_test_add_func("/put-race/optional-channel", test_a_put_with_an_optional_channel_has_one_end);
    return g_test_run();
}
