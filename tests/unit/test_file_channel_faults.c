/* test_file_channel_faults.c - a disk that fails, is full, or cannot be read, and works again. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/channels/file_channel/file_channel.h"
#include "base/clock.h"
#include "tests/support/channel_world.h"
#include "tests/support/crash_disk.h"

#define OPTIONS "reserve: 0\nsegment-size: 64KiB\n"

static ChannelWorld *
world_new(const char *options)
{
    ChannelWorld *world = channel_world_new(1, &crash_disk_ops, options);
    g_autoptr(GError) error = NULL;

    crash_disk_start(NULL, NULL);
    channel_world_open(world, &error);
    g_assert_no_error(error);
    return world;
}

static void
world_end(ChannelWorld *world)
{
    channel_world_close(world);
    channel_world_free(world);
    crash_disk_stop();
}

static guint64
part_metric(ChannelWorld *world, FileChannelMetric metric)
{
    return metric_get(world->channel->base.part_metrics, metric);
}

/* Stands while no put is under way. */
static const char *
trouble_detail(const ChannelWorld *world)
{
    return ((const FileChannel *) world->channel)->trouble_detail;
}

/* Until puts are taken again: the disk is tried in turns of a few hundred milliseconds. */
static void
put_until_taken(ChannelWorld *world)
{
    gint64 deadline_us = clock_deadline_us(10 * G_USEC_PER_SEC);

    while (!channel_world_put(world, 1)) {
        g_assert_cmpint(clock_now_us(), <, deadline_us);
        g_usleep(1000);
    }
}

#define assert_world_drains(world, text)                                        \
    G_STMT_START                                                                \
    {                                                                           \
        g_autofree char *drained_ = channel_world_drain(world, clock_now_us()); \
        g_assert_cmpstr(drained_, ==, text);                                    \
    }                                                                           \
    G_STMT_END

static void
test_what_could_not_be_synced_is_refused_and_never_delivered(void)
{
    ChannelWorld *world = world_new(OPTIONS);
    g_autoptr(GError) error = NULL;

    g_assert_true(channel_world_put(world, 2));
    crash_disk_fail(crash_disk_n_calls() + 1, FALSE, EIO); /* after the write */
    g_assert_false(channel_world_put(world, 3));
    g_assert_true(channel_world_put(world, 1));

    assert_world_drains(world, "0 1 5");
    g_assert_null(channel_trouble(world->channel));
    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_FAILURES), ==, 1);
    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_REFUSED), ==, 3);
    channel_world_close(world);
    channel_world_open(world, &error);
    assert_world_drains(world, "");
    world_end(world);
}

static void
test_a_segment_that_failed_is_not_written_to_again(void)
{
    ChannelWorld *world = world_new(OPTIONS);

    g_assert_true(channel_world_put(world, 1));
    g_assert_cmpuint(((FileChannel *) world->channel)->writer.number, ==, 1);
    crash_disk_fail(crash_disk_n_calls(), FALSE, EIO);
    g_assert_false(channel_world_put(world, 1));
    g_assert_true(channel_world_put(world, 1));

    g_assert_cmpuint(((FileChannel *) world->channel)->writer.number, ==, 2);
    assert_world_drains(world, "0 2");
    world_end(world);
}

static void
test_a_full_disk_refuses_puts_and_gives_events_until_it_has_room(void)
{
    ChannelWorld *world = world_new(OPTIONS);

    crash_disk_fill(ENOSPC);
    g_assert_false(channel_world_put(world, 1));
    g_assert_nonnull(channel_trouble(world->channel));
    crash_disk_fill(0);
    put_until_taken(world);
    g_assert_null(channel_trouble(world->channel));
    while (((FileChannel *) world->channel)->writer.number < 4)
        g_assert_true(channel_world_put(world, 5));

    crash_disk_fill(ENOSPC);
    while (channel_world_put(world, 5))
        ;
    g_free(channel_world_drain(world, clock_now_us()));

    g_assert_cmpuint(channel_n_events(world->channel), ==, 0);
    crash_disk_fill(0);
    put_until_taken(world);
    world->fails = TRUE; /* space that was given back before that could be written down */
    channel_world_close(world);
    channel_world_check(world, world->directory, "after a full disk");
    world_end(world);
}

static void
test_puts_are_refused_below_the_reserve(void)
{
    ChannelWorld *world = world_new("reserve: 1000GiB\n");

    g_assert_false(channel_world_put(world, 1));

    g_assert_nonnull(channel_trouble(world->channel));
    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_REFUSED), ==, 1);
    world_end(world);
}

static int
almost_enough(int folder G_GNUC_UNUSED, guint64 *ret_bytes)
{
    *ret_bytes = (1 << 20) + 1024;
    return 0;
}

static void
test_sizes_that_differ_by_little_are_told_apart(void)
{
    FileOps ops = crash_disk_ops;
    ChannelWorld *world;

    ops.free_bytes = almost_enough;
    crash_disk_start(NULL, NULL);
    world = channel_world_new(1, &ops, "reserve: 1MiB\nsegment-size: 64KiB\n");
    channel_world_open(world, NULL);
    g_assert_false(channel_world_put(world, 1));

    g_assert_nonnull(strstr(trouble_detail(world),
                            ": 1 MiB are free, less than 1.1 MiB: the reserve (1 MiB) and a "
                            "segment (64 KiB); free space or lower the reserve"));
    world_end(world);
}

static void
assert_remedy(int number, const char *remedy)
{
    ChannelWorld *world = world_new(OPTIONS);

    crash_disk_fail(crash_disk_n_calls(), TRUE, number);
    g_assert_false(channel_world_put(world, 1));

    g_assert_true(g_str_has_suffix(trouble_detail(world), remedy));
    crash_disk_fail(G_MAXUINT, FALSE, 0);
    world_end(world);
}

static void
test_limits_of_the_process_come_with_a_remedy(void)
{
    assert_remedy(EMFILE, "raise the limit of open files (LimitNOFILE=, ulimit -n)");
    assert_remedy(EFBIG, "lower segment-size or raise the limit of the file size (LimitFSIZE=, "
                         "ulimit -f)");
}

static void
test_a_read_that_fails_is_tried_again(void)
{
    ChannelWorld *world = world_new(OPTIONS "cache: 0\n");
    g_autofree char *drained = NULL;

    g_assert_true(channel_world_put(world, 3));
    crash_disk_fail_reads(1, EIO);
    assert_world_drains(world, "");
    drained = channel_world_drain(world, clock_deadline_us(100 * 1000));

    g_assert_cmpstr(drained, ==, "0 1 2");
    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_LOST), ==, 0);
    world_end(world);
}

static void
test_a_place_that_cannot_be_read_is_passed_over_in_the_end(void)
{
    ChannelWorld *world = world_new(OPTIONS "cache: 0\n");

    g_assert_true(channel_world_put(world, 3));
    crash_disk_fail_reads(1000, EIO);
    for (guint i = 0; i < 10; i++)
        assert_world_drains(world, "");
    g_assert_cmpuint(channel_n_events(world->channel), ==, 3);
    assert_world_drains(world, "");
    crash_disk_fail_reads(0, 0);

    g_assert_cmpuint(channel_n_events(world->channel), ==, 0);
    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_LOST), ==, 3);
    g_assert_true(channel_world_put(world, 1));
    assert_world_drains(world, "3");
    world_end(world);
}

/* Two segments, of which somebody has removed the first; the second has number 2 of the events. */
static ChannelWorld *
world_new_without_first_segment(void)
{
    ChannelWorld *world = channel_world_new(1, NULL, OPTIONS "cache: 0\n");
    g_autoptr(GError) error = NULL;
    g_autofree char *file = NULL;

    for (guint i = 0; i < 2; i++) {
        channel_world_open(world, &error);
        g_assert_no_error(error);
        g_assert_true(channel_world_put(world, 2 - i));
        if (i == 0)
            channel_world_close(world);
    }
    file = g_build_filename(world->directory, "0000000000000001.segment", NULL);
    g_assert_cmpint(g_unlink(file), ==, 0);
    return world;
}

static void
test_a_segment_that_vanishes_is_passed_over(void)
{
    g_autoptr(ChannelWorld) world = world_new_without_first_segment();

    assert_world_drains(world, "2");

    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_LOST), ==, 2);
    g_assert_cmpuint(channel_n_events(world->channel), ==, 0);
    channel_world_close(world);
}

static void
test_a_stop_counts_what_vanished_unread(void)
{
    g_autoptr(ChannelWorld) world = world_new_without_first_segment();

    component_close(&world->channel->base);

    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_LOST), ==, 2);
    channel_world_close(world);
}

static void
test_a_segment_that_was_removed_while_it_is_written_acknowledges_nothing(void)
{
    g_autoptr(ChannelWorld) world = world_new(OPTIONS);
    g_autofree char *first = g_build_filename(world->directory, "0000000000000001.segment", NULL);

    g_assert_true(channel_world_put(world, 2));
    g_assert_cmpint(unlink(first), ==, 0);

    g_assert_false(channel_world_put(world, 3));

    g_assert_true(channel_world_put(world, 4));
    channel_world_close(world);
}

/* It may be there: the process has too many files open. */
static void
test_a_segment_that_cannot_be_opened_for_now_is_not_lost(void)
{
    ChannelWorld *world = world_new(OPTIONS "cache: 0\n");

    g_assert_true(channel_world_put(world, 3));
    crash_disk_fail_opens(EMFILE);
    for (guint i = 0; i < 20; i++)
        assert_world_drains(world, "");

    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_LOST), ==, 0);
    crash_disk_fail_opens(0);
    assert_world_drains(world, "0 1 2");
    world_end(world);
}

static gint opens_before_failure; /* atomic */

static int
open_until_failure(int folder, const char *name, int flags, mode_t mode)
{
    if ((flags & O_ACCMODE) != O_RDONLY || g_atomic_int_add(&opens_before_failure, -1) != 0)
        return file_ops_system.open(folder, name, flags, mode);
    errno = EMFILE;
    return -1;
}

/* The start is refused, or goes on without what it needs not. */
static void
test_whatever_open_fails_at_a_start_loses_nothing(void)
{
    FileOps ops = file_ops_system;
    g_autoptr(ChannelWorld) world = channel_world_new(1, &ops, OPTIONS);
    guint n_refused = 0;

    ops.open = open_until_failure;
    for (gint n_opens = -1; n_opens < 20; n_opens++) {
        g_atomic_int_set(&opens_before_failure, n_opens);
        if (!channel_world_open(world, NULL))
            n_refused++;
        else if (n_opens == -1)
            g_assert_true(channel_world_put(world, 3));
        channel_world_close(world);
    }
    g_atomic_int_set(&opens_before_failure, -1);
    channel_world_open(world, NULL);

    g_assert_cmpuint(n_refused, >, 1);
    assert_world_drains(world, "0 1 2");
    g_assert_cmpuint(part_metric(world, FILE_CHANNEL_LOST), ==, 0);
}

static void
test_a_directory_has_one_channel(void)
{
    ChannelWorld *world = world_new(OPTIONS);
    g_autoptr(ChannelWorld) other = channel_world_new(2, NULL, OPTIONS);
    g_autofree char *pid = g_strdup_printf("process %d", (int) getpid());
    g_autofree char *own = g_strdup(other->directory);
    g_autoptr(GError) error = NULL;

    rmdir(own);
    g_free(other->directory);
    other->directory = g_strdup(world->directory);

    g_assert_false(channel_world_open(other, &error));
    g_assert_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_LOCKED);
    g_assert_nonnull(strstr(error->message, pid));
    g_assert_nonnull(strstr(error->message, world->directory));
    world_end(world);
}

static void
test_a_put_larger_than_a_segment_gets_one_of_its_own(void)
{
    ChannelWorld *world = world_new(OPTIONS "cache: 0\n");

    g_assert_true(channel_world_put(world, 1));
    g_assert_true(channel_world_put(world, 300)); /* some 270 kB */
    g_assert_true(channel_world_put(world, 1));
    channel_world_close(world);

    channel_world_check(world, world->directory, "after a large put");
    world_end(world);
}

/* Consumers linger until there are bytes enough. */
static void
test_a_channel_that_is_drained_after_a_start_has_no_bytes(void)
{
    ChannelWorld *world = world_new(OPTIONS);
    g_autoptr(GError) error = NULL;

    g_assert_true(channel_world_put(world, 3));
    channel_world_close(world);
    channel_world_open(world, &error);
    assert_world_drains(world, "0 1 2");

    g_assert_cmpuint(((FileChannel *) world->channel)->stock.n_bytes, ==, 0);
    world_end(world);
}

/* One lease is kept, and everything else is delivered: segments cannot go. */
static void
test_a_lease_that_is_kept_does_not_fill_the_disk(void)
{
    ChannelWorld *world = world_new(OPTIONS "byte-capacity: 128KiB\n");
    TakeLimits limits = { .max_events = 1, .max_bytes = G_MAXSIZE };
    FileChannel *channel = (FileChannel *) world->channel;
    Lease *kept;
    guint n_puts = 0;

    g_assert_true(channel_world_put(world, 1));
    kept = channel_take(world->channel, &limits, clock_now_us());
    for (; channel->disk_bytes <= 288 * 1024; n_puts++) {
        g_assert_true(channel_world_put(world, 5));
        g_free(channel_world_drain(world, clock_now_us()));
        g_assert_cmpuint(n_puts, <, 1000);
    }
    g_assert_false(channel_world_put(world, 1));

    lease_commit(kept, 1);
    lease_rollback(kept);
    put_until_taken(world);
    world_end(world);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-channel/faults/sync",
                    test_what_could_not_be_synced_is_refused_and_never_delivered);
    g_test_add_func("/file-channel/faults/closed-for-ever",
                    test_a_segment_that_failed_is_not_written_to_again);
    g_test_add_func("/file-channel/faults/full",
                    test_a_full_disk_refuses_puts_and_gives_events_until_it_has_room);
    g_test_add_func("/file-channel/faults/reserve", test_puts_are_refused_below_the_reserve);
    g_test_add_func("/file-channel/faults/sizes-are-told-apart",
                    test_sizes_that_differ_by_little_are_told_apart);
    g_test_add_func("/file-channel/faults/remedies", test_limits_of_the_process_come_with_a_remedy);
    g_test_add_func("/file-channel/faults/read-again", test_a_read_that_fails_is_tried_again);
    g_test_add_func("/file-channel/faults/unreadable",
                    test_a_place_that_cannot_be_read_is_passed_over_in_the_end);
    g_test_add_func("/file-channel/faults/vanished", test_a_segment_that_vanishes_is_passed_over);
    g_test_add_func("/file-channel/faults/vanished-unread",
                    test_a_stop_counts_what_vanished_unread);
    g_test_add_func("/file-channel/faults/removed",
                    test_a_segment_that_was_removed_while_it_is_written_acknowledges_nothing);
    g_test_add_func("/file-channel/faults/open-again",
                    test_a_segment_that_cannot_be_opened_for_now_is_not_lost);
    g_test_add_func("/file-channel/faults/open-at-start",
                    test_whatever_open_fails_at_a_start_loses_nothing);
    g_test_add_func("/file-channel/faults/locked", test_a_directory_has_one_channel);
    g_test_add_func("/file-channel/faults/large",
                    test_a_put_larger_than_a_segment_gets_one_of_its_own);
    g_test_add_func("/file-channel/faults/drained",
                    test_a_channel_that_is_drained_after_a_start_has_no_bytes);
    g_test_add_func("/file-channel/faults/kept-lease",
                    test_a_lease_that_is_kept_does_not_fill_the_disk);
    return g_test_run();
}
