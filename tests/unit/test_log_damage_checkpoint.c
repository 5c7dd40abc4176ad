/* test_log_damage_checkpoint.c - a checkpoint that is damaged, late or not ours costs a scan and no
 * event; one that is good tells of a tail that is gone. The rows of docs/file-channel-format.md. */
#include <glib/gstdio.h>
#include <string.h>

#include "agent/channels/file_channel/checkpoint.h"
#include "agent/commands/channel.h"
#include "tests/support/log_maker.h"
#include "tests/support/log_survivors.h"

static LogMaker *
log_with_checkpoint(void)
{
    LogMaker *log = log_maker_new_standard();

    log_maker_checkpoint(log);
    return log;
}

static void
set_checkpoint(const LogMaker *log, const char *bytes, gssize length)
{
    g_autofree char *file = log_maker_file(log, CHECKPOINT_NAME);

    g_assert_true(g_file_set_contents(file, bytes, length, NULL));
}

static void
test_log_with_its_checkpoint_is_whole(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();

    assert_survives(log, "7-59", "");
}

/* As `leat channel inspect` reads it. */
static void
test_what_a_checkpoint_covers_need_not_be_read(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();
    g_autoptr(ChannelFolder) folder = channel_folder_open(log->path, NULL);
    g_autoptr(ChannelWalk) walk = NULL;
    ChannelProgress progress;

    channel_progress_init(&progress, FALSE);
    walk = channel_walk_consumed(folder, &progress);

    g_assert_cmpuint(channel_walk_add_losses(walk), ==, 0);
    g_assert_cmpuint(channel_walk_n_queued(walk), ==, 53);
    g_assert_cmpuint(channel_walk_next_seq(walk), ==, 60);
    g_assert_cmpuint(progress.count.n_events, ==, 0);
}

static void
test_missing_checkpoint_costs_nothing(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();
    g_autofree char *file = log_maker_file(log, CHECKPOINT_NAME);

    g_assert_cmpint(g_unlink(file), ==, 0);

    assert_survives(log, "7-59", "");
}

static void
test_flipped_byte_in_the_checkpoint_costs_nothing(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();
    g_autofree char *file = log_maker_file(log, CHECKPOINT_NAME);
    g_autofree char *bytes = NULL;
    gsize length;

    g_assert_true(g_file_get_contents(file, &bytes, &length, NULL));
    bytes[25] ^= 1;
    set_checkpoint(log, bytes, (gssize) length);

    assert_survives(log, "7-59", "checkpoint:0: its checksum is wrong\n");
}

static void
test_empty_checkpoint_costs_nothing(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();

    set_checkpoint(log, "", 0);

    assert_survives(log, "7-59", "checkpoint:0: it is not a checkpoint\n");
}

static void
test_half_a_checkpoint_costs_nothing(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();
    g_autofree char *file = log_maker_file(log, CHECKPOINT_NAME);
    g_autofree char *bytes = NULL;

    g_assert_true(g_file_get_contents(file, &bytes, NULL, NULL));
    set_checkpoint(log, bytes, 60);

    assert_survives(log, "7-59", "checkpoint:0: it is not a checkpoint\n");
}

static void
test_half_a_checkpoint_under_its_temporary_name_is_nothing(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();
    g_autofree char *file = log_maker_file(log, CHECKPOINT_TEMPORARY);

    g_assert_true(g_file_set_contents(file, "LEATCKP\n", 8, NULL));

    assert_survives(log, "7-59", "");
}

static void
test_stale_checkpoint_is_brought_up_to_date(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();

    log_maker_put(log, 5);
    log_maker_consume(log, 7, 12);
    log_maker_roll(log);
    log_maker_put(log, 5);

    assert_survives(log, "12-69", "");
}

/* What it covers is gone since, and that is in the log. */
static void
test_checkpoint_of_segments_that_are_deleted_is_brought_up_to_date(void)
{
    g_autoptr(LogMaker) log = log_maker_new();

    log_maker_roll(log);
    log_maker_put(log, 20);
    log_maker_checkpoint(log);
    log_maker_roll(log);
    log_maker_put(log, 20);
    log_maker_consume(log, 0, 25);
    log_maker_remove(log, 1);

    assert_survives(log, "25-39", "");
}

static void
test_checkpoint_of_another_channel_is_left_out(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log->channel++;
    log->consumed = 50;
    log_maker_checkpoint(log);

    assert_survives(log, "7-59", "checkpoint:16: it belongs to another channel\n");
}

static void
test_tail_that_a_checkpoint_covers_is_missed(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();

    log_maker_cut(log, 3, log_maker_record(log, 12).offset);

    assert_survives(log, "7-54",
                    "3.segment:4360: 88 bytes are damaged\n"
                    "checkpoint:0: events 55 to 59 are missing at the end of the log; 5 of "
                    "them were not consumed\n"
                    "5 lost\n");
}

static void
test_damaged_tail_that_a_checkpoint_covers_is_missed(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();

    log_maker_flip(log, 3, log_maker_record(log, 12).offset + 50);

    assert_survives(log, "7-54",
                    "3.segment:4360: 88 bytes are damaged\n"
                    "checkpoint:0: events 55 to 59 are missing at the end of the log; 5 of "
                    "them were not consumed\n"
                    "5 lost\n");
}

static void
test_checkpoint_makes_up_for_a_missing_segment_that_told_of_consumption(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();

    log_maker_remove(log, 2);

    assert_survives(
        log, "7-19 40-59",
        "3.segment:4096: events 20 to 39 are missing before it; 20 of them were not consumed\n"
        "20 lost\n");
}

static void
test_checkpoint_alone_tells_what_is_gone(void)
{
    g_autoptr(LogMaker) log = log_with_checkpoint();

    for (guint64 number = 1; number <= 3; number++)
        log_maker_remove(log, number);

    assert_survives(log, "",
                    "checkpoint:0: events 0 to 59 are missing at the end of the log; 53 of "
                    "them were not consumed\n"
                    "53 lost\n");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log-damage/checkpoint", test_log_with_its_checkpoint_is_whole);
    g_test_add_func("/log-damage/checkpoint-covers",
                    test_what_a_checkpoint_covers_need_not_be_read);
    g_test_add_func("/log-damage/checkpoint-missing", test_missing_checkpoint_costs_nothing);
    g_test_add_func("/log-damage/checkpoint-flipped",
                    test_flipped_byte_in_the_checkpoint_costs_nothing);
    g_test_add_func("/log-damage/checkpoint-empty", test_empty_checkpoint_costs_nothing);
    g_test_add_func("/log-damage/checkpoint-half", test_half_a_checkpoint_costs_nothing);
    g_test_add_func("/log-damage/checkpoint-temporary",
                    test_half_a_checkpoint_under_its_temporary_name_is_nothing);
    g_test_add_func("/log-damage/checkpoint-stale", test_stale_checkpoint_is_brought_up_to_date);
    g_test_add_func("/log-damage/checkpoint-of-deleted",
                    test_checkpoint_of_segments_that_are_deleted_is_brought_up_to_date);
    g_test_add_func("/log-damage/checkpoint-foreign",
                    test_checkpoint_of_another_channel_is_left_out);
    g_test_add_func("/log-damage/tail-cut", test_tail_that_a_checkpoint_covers_is_missed);
    g_test_add_func("/log-damage/tail-flipped",
                    test_damaged_tail_that_a_checkpoint_covers_is_missed);
    g_test_add_func("/log-damage/checkpoint-makes-up",
                    test_checkpoint_makes_up_for_a_missing_segment_that_told_of_consumption);
    g_test_add_func("/log-damage/checkpoint-alone", test_checkpoint_alone_tells_what_is_gone);
    return g_test_run();
}
