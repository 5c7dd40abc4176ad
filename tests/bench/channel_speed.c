/* channel_speed.c - what a put and a take of the memory channel cost; CPU time, printed and not
 * judged.
 */
#include <glib.h>
#include <stdlib.h>
#include <time.h>

#include "agent/builtin.h"
#include "agent/core/channel_processor.h"
#include "base/clock.h"
#include "tests/support/events.h"
#include "tests/support/test_part.h"

/* Then the producer lets the consumer catch up; from twice as much on it would have to rest. */
#define MOST_QUEUED ((gsize) 4 * 1024 * 1024)

typedef struct {
    Channel *channel;
    ChannelProcessor *processor;
    Batch *batch;
    guint n_puts;
    guint64 n_taken;
    gint64 take_us; /* CPU of the consumer's thread */
} Course;

static void
unexpected_ready(Put *put G_GNUC_UNUSED)
{
    g_assert_not_reached();
}

/* Of this thread: what others do on the machine does not count. */
static gint64
cpu_us(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * G_USEC_PER_SEC + used.tv_nsec / 1000;
}

static void
put_all(Course *self, guint n_puts)
{
    Put put = { .ready = unexpected_ready };
    guint n_events = self->batch->n_events;
    guint group = (guint) (MOST_QUEUED / batch_span(self->batch, 0, n_events).length);

    for (guint i = 0; i < n_puts; i++) {
        if (i % group == 0)
            while (channel_n_events(self->channel) > group * n_events)
                g_usleep(50);
        if (channel_processor_put(self->processor, self->batch, &put, NULL) != PUT_DONE)
            g_assert_not_reached();
    }
}

static guint
take_one(Course *self, gint64 linger_us)
{
    TakeLimits limits = { .max_events = 1000, .max_bytes = 4 << 20, .linger_us = linger_us };
    Lease *lease = channel_take(self->channel, &limits, clock_deadline_us(G_USEC_PER_SEC));
    guint n_events = lease->n_events;

    lease_commit(lease, n_events);
    lease_rollback(lease);
    return n_events;
}

static gpointer
take_all(gpointer data)
{
    Course *self = data;
    guint64 wanted = (guint64) self->n_puts * self->batch->n_events;

    while (self->n_taken < wanted)
        self->n_taken += take_one(self, 200);
    self->take_us = cpu_us();
    return NULL;
}

static void
print_cost(const char *what, const Course *self, gint64 took_us)
{
    double n_events = (double) self->n_puts * self->batch->n_events;

    g_print("%-44s %9.1f ns per put %9.2f ns per event\n", what,
            (double) took_us * 1000 / self->n_puts, (double) took_us * 1000 / n_events);
}

/* Puts for as many events as one take fetches, then takes: no thread waits for another. */
static void
run_in_one_thread(Course *self)
{
    guint group = MAX(1000 / self->batch->n_events, 1);
    gint64 put_us = 0;
    gint64 take_us = 0;

    for (guint i = 0; i < self->n_puts; i += group) {
        gint64 start_us = cpu_us();
        gint64 middle_us;
        guint n = 0;

        put_all(self, group);
        middle_us = cpu_us();
        while (n < group * self->batch->n_events)
            n += take_one(self, 0);
        put_us += middle_us - start_us;
        take_us += cpu_us() - middle_us;
    }
    print_cost("  put, in one thread", self, put_us);
    print_cost("  take and commit, in one thread", self, take_us);
}

static void
run_in_two_threads(Course *self)
{
    gint64 start_us = cpu_us();
    GThread *consumer = g_thread_new("consumer", take_all, self);

    put_all(self, self->n_puts);
    print_cost("  put, while another thread takes", self, cpu_us() - start_us);
    g_thread_join(consumer);
    print_cost("  take and commit, meanwhile", self, self->take_us);
}

static void
run(guint n_events, guint event_bytes, guint n_puts, guint n_puts_beside)
{
    g_autoptr(GPtrArray) channels = g_ptr_array_new();
    Selector *selector =
        (Selector *) test_part_open(&replicating_selector.base, COMPONENT_SELECTOR, "selector", "");
    g_autoptr(Component) source =
        test_part_new(&sequence_source.base, COMPONENT_SOURCE, "speed", "channels: channel");
    Course course = { .batch = batch_of_size(n_events, event_bytes), .n_puts = n_puts };

    course.channel = (Channel *) test_part_open(&memory_channel.base, COMPONENT_CHANNEL, "channel",
                                                "capacity: 100000000\nbyte-capacity: 64GiB");
    g_ptr_array_add(channels, course.channel);
    course.processor = channel_processor_new(NULL, selector, channels, 1, source);
    g_print("batches of %u events of %u bytes\n", n_events, event_bytes);
    run_in_one_thread(&course);
    course.n_puts = n_puts_beside;
    run_in_two_threads(&course);

    channel_processor_free(course.processor);
    test_part_free(&course.channel->base);
    test_part_free(&selector->base);
    batch_unref(course.batch);
}

int
main(int argc, char **argv)
{
    guint scale = argc > 1 ? (guint) atoi(argv[1]) : 1;

    run(1, 300, scale * 2000000, scale * 1000000);
    run(100, 300, scale * 200000, scale * 100000);
    run(1000, 30, scale * 200000, scale * 100000);
    return 0;
}
