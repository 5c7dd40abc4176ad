/* test_spillable_channel.c - events in memory and on disk are one queue; a clean stop writes what
 * is in memory, a crash loses no more than that. */
#include <errno.h>
#include <stdlib.h>

#include "agent/builtin.h"
#include "agent/channels/file_channel/file_channel.h"
#include "tests/contract/channel_harness.h"
#include "tests/support/folder.h"
#include "tests/support/test_part.h"

#define OPTIONS "reserve: 0\nsegment-size: 64KiB\n"

static const ChannelVariant little = { .type = "spillable",
                                       .options = OPTIONS "memory-capacity: 20\n",
                                       .is_on_disk = TRUE };
static const ChannelVariant roomy = { .type = "spillable",
                                      .options = OPTIONS "memory-capacity: 1000\n",
                                      .is_on_disk = TRUE };

static guint64
part_metric(const ChannelHarness *harness, FileChannelMetric metric)
{
    return metric_get(harness->channel->base.part_metrics, metric);
}

static void
put_fives(ChannelHarness *harness, guint first, guint end)
{
    for (; first < end; first += 5)
        channel_harness_put(harness, first, 5);
}

static char *
numbers(guint first, guint end)
{
    GString *text = g_string_new(NULL);

    for (guint i = first; i < end; i++)
        g_string_append_printf(text, "%s%u", i > first ? " " : "", i);
    return g_string_free(text, FALSE);
}

/* What is on disk now, in a channel of its own: as after a crash at this moment. */
static ChannelHarness *
after_a_crash(const ChannelHarness *harness)
{
    ChannelHarness *copy = channel_harness_new(&roomy, "");
    g_autoptr(GDir) dir = g_dir_open(harness->directory, 0, NULL);
    const char *name;

    test_part_free(&copy->channel->base);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *from = g_build_filename(harness->directory, name, NULL);
        g_autofree char *to = g_build_filename(copy->directory, name, NULL);
        g_autofree char *bytes = NULL;
        gsize length;

        g_assert_true(g_file_get_contents(from, &bytes, &length, NULL));
        g_assert_true(g_file_set_contents(to, bytes, (gssize) length, NULL));
    }
    copy->channel = (Channel *) test_part_open(builtin_find(COMPONENT_CHANNEL, "spillable"),
                                               COMPONENT_CHANNEL, "copy", copy->yaml);
    return copy;
}

static void
test_events_that_memory_holds_are_not_written(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&roomy, "");

    put_fives(harness, 0, 500);

    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_MEMORY), ==, 500);
    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_WRITTEN), ==, 0);
}

static void
test_events_that_are_taken_in_time_are_never_written(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");

    for (guint i = 0; i < 500; i += 10) {
        g_autofree char *expected = numbers(i, i + 10);

        put_fives(harness, i, i + 10);
        assert_drains(harness, expected);
    }

    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_WRITTEN), ==, 0);
    channel_harness_reopen(harness);
    assert_drains(harness, "");
    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_LOST), ==, 0);
}

static void
test_order_is_kept_from_memory_to_disk(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    g_autofree char *expected = numbers(0, 200);

    put_fives(harness, 0, 200);

    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_WRITTEN), >=, 180);
    assert_drains(harness, expected);
}

static void
test_order_is_kept_from_disk_back_to_memory(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    g_autofree char *backlog = numbers(0, 100);
    g_autofree char *later = numbers(100, 110);
    guint64 written;

    put_fives(harness, 0, 100);
    assert_drains(harness, backlog);
    written = part_metric(harness, FILE_CHANNEL_WRITTEN);
    put_fives(harness, 100, 110);

    assert_drains(harness, later);
    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_WRITTEN), ==, written);
}

static void
test_a_lease_takes_from_disk_and_memory(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    g_autofree char *expected = numbers(0, 100);
    g_autoptr(Lease) lease = NULL;

    put_fives(harness, 0, 100);
    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_MEMORY), >, 0);
    lease = channel_harness_take(harness, 1000);

    assert_lease(lease, expected);
}

static void
test_capacity_counts_what_is_in_memory_and_on_disk(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "capacity: 100");
    g_autofree char *expected = numbers(0, 100);

    put_fives(harness, 0, 100);

    g_assert_true(channel_harness_is_full_for(harness, 1));
    assert_drains(harness, expected);
}

/* What is rolled back comes first, wherever it and what came after it are by then. */
static void
test_what_is_put_back_comes_first(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    g_autofree char *expected = numbers(2, 100);
    Lease *lease;

    put_fives(harness, 0, 10);
    lease = channel_harness_take(harness, 7);
    lease_commit(lease, 2);
    put_fives(harness, 10, 100);
    lease_rollback(lease);

    assert_drains(harness, expected);
}

/* The first n_events of the lease, each for the first time. */
static void
mark_done(const Lease *lease, guint n_events, GArray *done)
{
    g_autofree char *text = lease_to_text(lease);
    g_auto(GStrv) bodies = g_strsplit(text, " ", -1);

    for (guint i = 0; i < n_events; i++) {
        gboolean *is_done = &g_array_index(done, gboolean, atoi(bodies[i]));

        g_assert_false(*is_done);
        *is_done = TRUE;
    }
}

/* Two leases at a time, ended in any order, while puts go on: every event comes, none twice, and
 * the head is always the lowest that is not leased. */
static void
test_order_is_kept_whatever_happens(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "sync: never");
    g_autoptr(GArray) done = g_array_new(FALSE, TRUE, sizeof(gboolean));
    Lease *leases[2] = { NULL, NULL };
    guint n_put = 0;
    g_autoptr(GString) expected = g_string_new(NULL);
    g_autofree char *rest = NULL;

    for (guint round = 0; round < 3000; round++) {
        Lease **lease = &leases[g_rand_int_range(rand, 0, 2)];
        guint count = (guint) g_rand_int_range(rand, 1, 9);

        if (*lease == NULL && g_rand_boolean(rand) && n_put < 5000) {
            channel_harness_put(harness, n_put, count);
            n_put += count;
            g_array_set_size(done, n_put);
        } else if (*lease == NULL) {
            *lease = channel_harness_take(harness, count);
        } else {
            guint n_events = (guint) g_rand_int_range(rand, 0, (gint) (*lease)->n_events + 1);

            mark_done(*lease, n_events, done);
            lease_commit(*lease, n_events);
            lease_rollback(g_steal_pointer(lease));
        }
    }
    for (guint i = 0; i < 2; i++)
        lease_rollback(leases[i]);
    channel_harness_reopen(harness);
    rest = channel_harness_drain(harness);

    for (guint i = 0; i < n_put; i++)
        if (!g_array_index(done, gboolean, i))
            g_string_append_printf(expected, "%s%u", expected->len > 0 ? " " : "", i);
    g_assert_cmpstr(rest, ==, expected->str);
}

static void
test_a_clean_stop_writes_what_is_in_memory(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&roomy, "");
    g_autofree char *expected = numbers(0, 50);

    put_fives(harness, 0, 40);
    channel_harness_reopen(harness);
    put_fives(harness, 40, 50);

    assert_drains(harness, expected);
    g_assert_cmpuint(part_metric(harness, FILE_CHANNEL_LOST), ==, 0);
}

static void
test_a_crash_loses_what_is_in_memory_and_no_more(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    g_autoptr(ChannelHarness) copy = NULL;
    g_autofree char *left = NULL;
    g_autofree char *expected = NULL;
    guint n_left;

    put_fives(harness, 0, 200);
    copy = after_a_crash(harness);
    n_left = (guint) channel_n_events(copy->channel);
    left = channel_harness_drain(copy);

    g_assert_cmpuint(n_left, >=, 200 - 20);
    expected = numbers(0, n_left);
    g_assert_cmpstr(left, ==, expected);
}

/* The log begins behind events that it never had: they were consumed, not lost. */
static void
test_events_consumed_in_memory_are_not_missed_on_disk(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    g_autoptr(ChannelHarness) copy = NULL;
    g_autoptr(Lease) lease = NULL;

    put_fives(harness, 0, 10);
    lease = channel_harness_take(harness, 8);
    lease_commit(lease, 8);
    put_fives(harness, 10, 100);
    copy = after_a_crash(harness);

    g_assert_cmpuint(part_metric(copy, FILE_CHANNEL_LOST), ==, 0);
}

static void
test_a_batch_that_is_larger_than_memory_passes_through(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    g_autofree char *expected = numbers(0, 105);

    channel_harness_put(harness, 0, 5);
    channel_harness_put(harness, 5, 100);

    assert_drains(harness, expected);
}

/* ---- a disk that fails ---- */

static gint disk_fails; /* atomic */

static ssize_t
failing_pwritev(int fd, const struct iovec *parts, int n_parts, off_t offset)
{
    if (!g_atomic_int_get(&disk_fails))
        return file_ops_system.pwritev(fd, parts, n_parts, offset);
    errno = EIO;
    return -1;
}

static FileOps failing_ops;

static void
test_memory_takes_events_while_the_disk_fails(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&little, "");
    FileChannel *channel = (FileChannel *) harness->channel;
    g_autoptr(Batch) batch = batch_of_numbers(20, 5);
    g_autoptr(GError) error = NULL;
    g_autofree char *expected = NULL;
    TestTicket ticket;
    PutResult result;

    failing_ops = file_ops_system;
    failing_ops.pwritev = failing_pwritev;
    channel->ops = channel->dir.ops = &failing_ops;
    g_atomic_int_set(&disk_fails, TRUE);
    test_ticket_init(&ticket);
    put_fives(harness, 0, 20);
    result = channel_put(harness->channel, batch, &ticket.ticket, &error); /* memory is full */
    while (part_metric(harness, FILE_CHANNEL_FAILURES) == 0)
        g_thread_yield();
    g_atomic_int_set(&disk_fails, FALSE);

    g_assert_true(result == PUT_PENDING ? test_ticket_wait(&ticket)
                                        : g_error_matches(error, CHANNEL_ERROR, CHANNEL_ERROR_IO));
    expected = numbers(0, result == PUT_PENDING ? 25 : 20);
    assert_drains(harness, expected);
    test_ticket_clear(&ticket);
}

static void
test_an_age_that_only_the_clock_explains_is_not_observed(void)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(&roomy, "");
    const FileChannel *channel = (const FileChannel *) harness->channel;
    guint64 buckets[METRIC_BUCKETS];
    guint64 sum_us;

    put_fives(harness, 0, 15);
    run_cache_at(&channel->memory, 0)->time_us = 0;
    run_cache_at(&channel->memory, 1)->time_us += (gint64) 3600 * G_USEC_PER_SEC;
    g_free(channel_harness_drain(harness));

    sum_us = metric_get_buckets(harness->channel->base.metrics, CHANNEL_RESIDENCE_TIME, buckets);
    for (guint i = 1; i < METRIC_BUCKETS; i++)
        buckets[0] += buckets[i];
    g_assert_cmpuint(buckets[0], ==, 5);
    g_assert_cmpuint(sum_us, <, 3600 * (guint64) G_USEC_PER_SEC);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/spillable/memory", test_events_that_memory_holds_are_not_written);
    g_test_add_func("/spillable/in-time", test_events_that_are_taken_in_time_are_never_written);
    g_test_add_func("/spillable/order-to-disk", test_order_is_kept_from_memory_to_disk);
    g_test_add_func("/spillable/order-to-memory", test_order_is_kept_from_disk_back_to_memory);
    g_test_add_func("/spillable/both", test_a_lease_takes_from_disk_and_memory);
    g_test_add_func("/spillable/capacity", test_capacity_counts_what_is_in_memory_and_on_disk);
    g_test_add_func("/spillable/put-back", test_what_is_put_back_comes_first);
    g_test_add_func("/spillable/order", test_order_is_kept_whatever_happens);
    g_test_add_func("/spillable/stop", test_a_clean_stop_writes_what_is_in_memory);
    g_test_add_func("/spillable/crash", test_a_crash_loses_what_is_in_memory_and_no_more);
    g_test_add_func("/spillable/gap", test_events_consumed_in_memory_are_not_missed_on_disk);
    g_test_add_func("/spillable/large", test_a_batch_that_is_larger_than_memory_passes_through);
    g_test_add_func("/spillable/disk", test_memory_takes_events_while_the_disk_fails);
    g_test_add_func("/spillable/age", test_an_age_that_only_the_clock_explains_is_not_observed);
    return g_test_run();
}
