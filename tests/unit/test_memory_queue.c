/* test_memory_queue.c - how events lie in the memory channel. */
#include "agent/channels/memory_queue.h"

#include <glib.h>

#include "tests/support/events.h"

/* Takes up to max_events, as the channel does; the caller keeps what was taken in runs. */
static guint
take(MemoryQueue *queue, guint max_events, Lease *lease, GQueue *runs)
{
    TakeLimits limits = { .max_events = max_events, .max_bytes = G_MAXSIZE };
    g_autoptr(MemoryRun) spare = memory_run_new_empty();

    *lease = (Lease){ 0 };
    lease_init(lease, NULL);
    memory_queue_take(queue, &limits, lease, runs, &spare);
    lease_clear(lease);
    return lease->n_events;
}

static void
put(MemoryQueue *queue, Batch *batch /* (transfer full) */)
{
    g_autoptr(Batch) owned G_GNUC_UNUSED = batch;
    g_autoptr(MemoryRun) run = memory_queue_is_small(batch) ? NULL : memory_run_new(batch, 0);

    g_assert_true(memory_queue_admit(queue, batch, &run));
}

static void
test_small_batches_are_collected_in_one(void)
{
    MemoryQueue queue;

    memory_queue_init(&queue, 1000, 1 << 20);
    for (guint i = 0; i < 100; i++)
        put(&queue, batch_of_numbers(i, 2));

    g_assert_cmpuint(queue.runs.length, ==, 0);
    g_assert_cmpuint(batch_builder_n_events(queue.tail), ==, 200);
    memory_queue_clear(&queue);
}

static void
test_the_tail_stays_small(void)
{
    MemoryQueue queue;

    memory_queue_init(&queue, 1000, 1 << 20);
    for (guint i = 0; i < 100; i++)
        put(&queue, batch_of_size(1, 5000));

    g_assert_cmpuint(batch_builder_n_bytes(queue.tail), <=, 65536);
    g_assert_cmpuint(queue.runs.length, <=, 9);
    g_assert_cmpuint(queue.used_events, ==, 100);
    memory_queue_clear(&queue);
}

static void
test_a_filled_batch_is_kept_as_it_came_behind_what_came_before(void)
{
    MemoryQueue queue;
    g_autoptr(Batch) large = batch_of_size(20, 1000);
    const MemoryRun *last;

    memory_queue_init(&queue, 1000, 1 << 20);
    put(&queue, batch_of_numbers(0, 3));
    put(&queue, batch_ref(large));
    put(&queue, batch_of_numbers(0, 3));

    g_assert_cmpuint(queue.runs.length, ==, 2);
    last = queue.runs.tail->data;
    g_assert_true(last->entry->batch == large);
    g_assert_cmpuint(last->seq, ==, 3);
    g_assert_cmpuint(queue.tail_seq, ==, 23);
    memory_queue_clear(&queue);
}

static void
test_what_was_cut_apart_is_joined_again(void)
{
    MemoryQueue queue;
    Lease leases[3];
    GQueue runs[3] = { G_QUEUE_INIT, G_QUEUE_INIT, G_QUEUE_INIT };

    memory_queue_init(&queue, 1000, 1 << 20);
    put(&queue, batch_of_numbers(0, 10));
    for (guint i = 0; i < 3; i++)
        g_assert_cmpuint(take(&queue, 3, &leases[i], &runs[i]), ==, 3);
    memory_queue_restore(&queue, &leases[1], &runs[1]);
    g_assert_cmpuint(queue.runs.length, ==, 2);
    memory_queue_restore(&queue, &leases[0], &runs[0]);
    memory_queue_restore(&queue, &leases[2], &runs[2]);

    g_assert_cmpuint(queue.runs.length, ==, 1);
    g_assert_cmpuint(queue.stock.n_events, ==, 10);
    memory_queue_clear(&queue);
}

static void
test_events_of_different_batches_stay_apart(void)
{
    MemoryQueue queue;
    Lease lease;
    GQueue runs = G_QUEUE_INIT;

    memory_queue_init(&queue, 1000, 1 << 20);
    put(&queue, batch_of_size(2, 20000));
    put(&queue, batch_of_size(2, 20000));
    g_assert_cmpuint(take(&queue, 3, &lease, &runs), ==, 3);
    memory_queue_restore(&queue, &lease, &runs);

    g_assert_cmpuint(queue.runs.length, ==, 2);
    memory_queue_clear(&queue);
}

static void
test_clearing_frees_a_batch_of_which_only_pieces_are_left(void)
{
    MemoryQueue queue;
    Lease leases[3];
    GQueue runs[3] = { G_QUEUE_INIT, G_QUEUE_INIT, G_QUEUE_INIT };
    GQueue spent = G_QUEUE_INIT;
    Batch *batch = batch_of_size(3, 20000);

    memory_queue_init(&queue, 1000, 1 << 20);
    put(&queue, batch_ref(batch));
    for (guint i = 0; i < 3; i++)
        take(&queue, 1, &leases[i], &runs[i]);
    memory_queue_commit(&queue, &runs[1], 1, &spent);
    memory_runs_free(&spent);
    memory_queue_restore(&queue, &leases[0], &runs[0]);
    memory_queue_restore(&queue, &leases[2], &runs[2]);
    g_assert_cmpuint(queue.runs.length, ==, 2);
    memory_queue_clear(&queue);

    g_assert_cmpuint(queue.used_bytes, ==, 0);
    g_assert_true(g_atomic_ref_count_compare(&batch->refs, 1));
    batch_unref(batch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memory-queue/small-batches", test_small_batches_are_collected_in_one);
    g_test_add_func("/memory-queue/tail", test_the_tail_stays_small);
    g_test_add_func("/memory-queue/filled-batch",
                    test_a_filled_batch_is_kept_as_it_came_behind_what_came_before);
    g_test_add_func("/memory-queue/joined", test_what_was_cut_apart_is_joined_again);
    g_test_add_func("/memory-queue/apart", test_events_of_different_batches_stay_apart);
    g_test_add_func("/memory-queue/clear",
                    test_clearing_frees_a_batch_of_which_only_pieces_are_left);
    return g_test_run();
}
