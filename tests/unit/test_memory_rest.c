/* test_memory_rest.c - producers that rest while a deep memory channel is drained. */
#include "agent/channels/memory_rest.h"

#include <glib.h>

#include "agent/builtin.h"
#include "agent/core/channel_processor.h"
#include "base/clock.h"
#include "tests/support/events.h"
#include "tests/support/select.h"
#include "tests/support/test_part.h"

#define MIB ((gsize) 1024 * 1024)

/* ---- whether ---- */

static gboolean
is_due(gsize n_bytes, gint64 age_us)
{
    g_autoptr(Batch) batch = batch_of_size(1, n_bytes);
    g_autoptr(MemoryRun) run = memory_run_new(batch, 1000);
    MemoryQueue queue;
    gboolean due;

    memory_queue_init(&queue, 1000, G_MAXUINT64);
    g_assert_true(memory_queue_admit(&queue, batch, &run));
    due = memory_rest_is_due(&queue, 1000 + age_us);
    memory_queue_clear(&queue);
    return due;
}

static void
test_only_a_deep_queue_makes_producers_rest(void)
{
    g_assert_false(is_due(7 * MIB, 10));
    g_assert_true(is_due(9 * MIB, 10));
}

static void
test_a_queue_that_is_not_drained_quickly_makes_nobody_rest(void)
{
    g_assert_true(is_due(9 * MIB, MEMORY_REST_US - 1));
    g_assert_false(is_due(9 * MIB, MEMORY_REST_US));
}

/* ---- until when ---- */

static Ticket *
begin(MemoryRest *rest, Ticket *ticket, gsize n_bytes)
{
    *ticket = (Ticket){ .link = { .data = ticket }, .batch = batch_of_size(1, n_bytes) };
    memory_rest_begin(rest, ticket, 1000);
    return ticket;
}

static void
test_one_after_the_other_is_released_for_as_many_bytes_as_it_has(void)
{
    MemoryRest rest = { 0 };
    GQueue released = G_QUEUE_INIT;
    Ticket tickets[3];

    for (guint i = 0; i < 3; i++)
        begin(&rest, &tickets[i], 20000);

    memory_rest_note_committed(&rest, 15000, &released);
    g_assert_cmpuint(released.length, ==, 0);
    memory_rest_note_committed(&rest, 15000, &released);
    g_assert_cmpuint(released.length, ==, 1);
    g_assert_true(released.head->data == &tickets[0]);
    memory_rest_note_committed(&rest, 40000, &released);
    g_assert_cmpuint(released.length, ==, 3);
    for (guint i = 0; i < 3; i++)
        batch_unref(tickets[i].batch);
}

static void
test_what_was_committed_before_a_rest_does_not_count(void)
{
    MemoryRest rest = { 0 };
    GQueue released = G_QUEUE_INIT;
    Ticket ticket;

    memory_rest_note_committed(&rest, 30000, &released);
    begin(&rest, &ticket, 20000);
    memory_rest_note_committed(&rest, 15000, &released);

    g_assert_cmpuint(released.length, ==, 0);
    batch_unref(ticket.batch);
}

/* ---- in a channel ---- */

typedef struct {
    Ticket ticket;
    gint n_done; /* atomic */
} CountedTicket;

static void
count_done(Ticket *ticket)
{
    g_atomic_int_inc(&((CountedTicket *) ticket)->n_done);
}

static Channel *
channel_new(void)
{
    return (Channel *) test_part_open(&memory_channel.base, COMPONENT_CHANNEL, "buffer", "");
}

static PutResult
put(Channel *channel, CountedTicket *ticket, gsize n_bytes)
{
    g_autoptr(Batch) batch = batch_of_size(1, n_bytes);

    *ticket = (CountedTicket){ .ticket = { .done = count_done } };
    return channel_put(channel, batch, &ticket->ticket, NULL);
}

/* A new channel that holds so much in one event. */
static Channel *
deep_channel_new(CountedTicket *ticket)
{
    Channel *channel = channel_new();

    g_assert_cmpint(put(channel, ticket, 9 * MIB), ==, PUT_PENDING);
    return channel;
}

static void
commit_one(Channel *channel)
{
    TakeLimits limits = { .max_events = 1, .max_bytes = 100 };
    g_autoptr(Lease) lease = channel_take(channel, &limits, 0);

    lease_commit(lease, 1);
}

static void
test_a_put_that_rests_is_in_the_channel_and_done_with_the_commits(void)
{
    CountedTicket first;
    CountedTicket second;
    Channel *channel = deep_channel_new(&first);

    g_assert_cmpint(put(channel, &second, MIB), ==, PUT_PENDING);
    g_assert_cmpuint(channel_n_events(channel), ==, 2);
    g_assert_cmpint(first.n_done + second.n_done, ==, 0);
    commit_one(channel);
    g_assert_cmpint(first.n_done, ==, 1);
    commit_one(channel);
    g_assert_cmpint(second.n_done, ==, 1);
    g_assert_no_error(second.ticket.error);
    test_part_free(&channel->base);
}

static void
test_a_put_that_rests_ends_well_when_it_is_cancelled(void)
{
    CountedTicket ticket;
    Channel *channel = deep_channel_new(&ticket);

    g_assert_false(channel_put_cancel(channel, &ticket.ticket));
    g_assert_cmpint(ticket.n_done, ==, 1);
    g_assert_no_error(ticket.ticket.error);
    g_assert_false(channel_put_cancel(channel, &ticket.ticket));
    g_assert_cmpint(ticket.n_done, ==, 1);
    g_assert_cmpuint(channel_n_events(channel), ==, 1);
    test_part_free(&channel->base);
}

static void
test_a_small_put_does_not_rest(void)
{
    CountedTicket first;
    CountedTicket second;
    Channel *channel = deep_channel_new(&first);

    g_assert_cmpint(put(channel, &second, 100), ==, PUT_DONE);
    channel_put_cancel(channel, &first.ticket);
    test_part_free(&channel->base);
}

static void
test_a_put_that_rests_ends_well_when_the_channel_closes(void)
{
    CountedTicket ticket;
    Channel *channel = deep_channel_new(&ticket);

    test_part_free(&channel->base);
    g_assert_cmpint(ticket.n_done, ==, 1);
    g_assert_no_error(ticket.ticket.error);
}

static gpointer
put_nine_mib(gpointer channel)
{
    static CountedTicket ticket;

    g_assert_cmpint(put(channel, &ticket, 9 * MIB), ==, PUT_PENDING);
    return NULL;
}

static void
test_a_put_that_rests_ends_a_linger(void)
{
    TakeLimits limits = { .max_events = 10,
                          .max_bytes = G_MAXSIZE,
                          .linger_us = 20 * G_USEC_PER_SEC };
    gint64 start_us = clock_now_us();
    Channel *channel = channel_new();
    CountedTicket small;
    GThread *producer;
    Lease *lease;

    g_assert_cmpint(put(channel, &small, 100), ==, PUT_DONE);
    commit_one(channel);
    producer = g_thread_new("producer", put_nine_mib, channel);
    lease = channel_take(channel, &limits, CLOCK_NEVER);

    g_assert_cmpuint(lease->n_events, ==, 1);
    g_assert_cmpint(clock_now_us() - start_us, <, limits.linger_us);
    g_thread_join(producer);
    lease_commit(lease, 1);
    lease_rollback(lease);
    test_part_free(&channel->base);
}

/* ---- for a source ---- */

typedef struct {
    Put put;
    GMutex lock; /* guards n_ready */
    GCond changed;
    guint n_ready;
    ChannelProcessor *processor;
    guint n_pending;
} Producer;

static void
producer_ready(Put *put)
{
    Producer *self = (Producer *) put;

    g_mutex_lock(&self->lock);
    self->n_ready++;
    g_cond_signal(&self->changed);
    g_mutex_unlock(&self->lock);
}

/* As a source does; everything is accepted. */
static void
producer_put(Producer *self, Batch *batch)
{
    g_autoptr(GError) error = NULL;
    gboolean in_time = TRUE;

    self->n_ready = 0;
    if (channel_processor_put(self->processor, batch, &self->put, &error) == PUT_PENDING) {
        self->n_pending++;
        g_assert_cmpint(self->put.deadline_us, <=, clock_deadline_us(MEMORY_REST_US));
        g_mutex_lock(&self->lock);
        while (self->n_ready == 0 && in_time)
            in_time = g_cond_wait_until(&self->changed, &self->lock, self->put.deadline_us);
        g_mutex_unlock(&self->lock);
        g_assert_false(channel_processor_expire(&self->put));
        g_assert_cmpuint(self->n_ready, ==, 1);
        g_assert_true(channel_processor_finish(&self->put, &error));
    }
    g_assert_no_error(error);
}

static guint
put_often(const char *channel_names, guint n_puts, gsize n_bytes)
{
    g_autoptr(Selector) selector = selector_new(&replicating_selector, channel_names, "", NULL);
    g_autoptr(GPtrArray) channels = g_ptr_array_new_with_free_func((GDestroyNotify) test_part_free);
    g_autoptr(Component) source =
        test_part_new(&sequence_source.base, COMPONENT_SOURCE, "test", "channels: a");
    g_autoptr(Batch) batch = batch_of_size(1, n_bytes);
    Producer producer = { .put = { .ready = producer_ready } };

    for (guint i = 0; i < selector->n_channels; i++)
        g_ptr_array_add(channels, channel_new());
    producer.processor =
        channel_processor_new(NULL, selector, channels, selector->n_required, source);
    for (guint i = 0; i < n_puts; i++)
        producer_put(&producer, batch);

    for (guint i = 0; i < selector->n_channels; i++)
        g_assert_cmpuint(channel_n_events(g_ptr_array_index(channels, i)), ==, n_puts);
    g_assert_cmpuint(metric_get(source->metrics, SOURCE_OPTIONAL_FAILURES), ==, 0);
    channel_processor_free(producer.processor);
    return producer.n_pending;
}

static void
test_a_source_rests_once_if_nothing_drains_the_channel(void)
{
    g_assert_cmpuint(put_often("a", 20, MIB), ==, 1);
}

static void
test_a_source_with_several_channels_does_not_rest(void)
{
    g_assert_cmpuint(put_often("a b | c", 20, MIB), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memory-rest/only-a-deep-queue", test_only_a_deep_queue_makes_producers_rest);
    g_test_add_func("/memory-rest/not-if-it-is-not-drained-quickly",
                    test_a_queue_that_is_not_drained_quickly_makes_nobody_rest);
    g_test_add_func("/memory-rest/one-after-the-other-by-bytes",
                    test_one_after_the_other_is_released_for_as_many_bytes_as_it_has);
    g_test_add_func("/memory-rest/earlier-commits-do-not-count",
                    test_what_was_committed_before_a_rest_does_not_count);
    g_test_add_func("/memory-rest/in-the-channel-and-done-with-the-commits",
                    test_a_put_that_rests_is_in_the_channel_and_done_with_the_commits);
    g_test_add_func("/memory-rest/ends-well-when-cancelled",
                    test_a_put_that_rests_ends_well_when_it_is_cancelled);
    g_test_add_func("/memory-rest/small-puts-do-not-rest", test_a_small_put_does_not_rest);
    g_test_add_func("/memory-rest/ends-well-when-the-channel-closes",
                    test_a_put_that_rests_ends_well_when_the_channel_closes);
    g_test_add_func("/memory-rest/ends-a-linger", test_a_put_that_rests_ends_a_linger);
    g_test_add_func("/memory-rest/a-source-rests-once-if-nothing-drains",
                    test_a_source_rests_once_if_nothing_drains_the_channel);
    g_test_add_func("/memory-rest/a-source-with-several-channels-does-not-rest",
                    test_a_source_with_several_channels_does_not_rest);
    return g_test_run();
}
