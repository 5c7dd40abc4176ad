/* test_log_damage_segments.c - segments of a file channel that are missing, cut, doubled or not
 * ours: which events survive, and what is told. The rows of docs/file-channel-format.md. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/channels/file_channel/recovery.h"
#include "agent/commands/channel.h"
#include "tests/support/log_maker.h"
#include "tests/support/log_survivors.h"

static void
assert_refused(const LogMaker *log, const char *why)
{
    g_autofree char *refusal = log_survivors_refusal(log->path);

    g_assert_nonnull(strstr(refusal, why));
}

static void
assert_set_aside(const LogMaker *log, guint64 number)
{
    g_autofree char *file = log_maker_segment(log, number);
    g_autofree char *aside = g_strconcat(file, DAMAGED_SUFFIX, NULL);

    g_assert_true(g_file_test(aside, G_FILE_TEST_EXISTS));
}

static void
assert_start_notes(const LogMaker *log, const char *note)
{
    SegmentList segments;
    RecoveredLog found;
    SegmentDir dir;

    segment_list_init(&segments);
    g_assert_true(segment_dir_open(&dir, &file_ops_system, log->path, TRUE, NULL));
    g_assert_true(recovery_run(&dir, &segments, &found, NULL));
    g_assert_cmpuint(found.notes->len, ==, 1);
    g_assert_cmpstr(g_ptr_array_index(found.notes, 0), ==, note);
    recovered_log_clear(&found);
    segment_dir_close(&dir);
    segment_list_clear(&segments);
}

/* ---- heads ---- */

static void
test_damaged_head_is_made_up_for_by_its_copy(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 2, 24);

    assert_survives(log, "7-59",
                    "2.segment:24: a copy of its head is damaged; the other one serves\n");
}

static void
test_damaged_copy_of_a_head_is_told(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 2, SEGMENT_HEAD_COPY + 24);

    assert_survives(log, "7-59",
                    "2.segment:2072: a copy of its head is damaged; the other one serves\n");
}

/* The salt is gone, without which no bytes are records. */
static void
test_both_damaged_copies_of_a_head_cost_the_segment(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 2, 24);
    log_maker_flip(log, 2, SEGMENT_HEAD_COPY + 24);

    assert_survives(log, "7-19 40-59",
                    "2.segment:0: both copies of its head are damaged\n"
                    "3.segment:4096: events 20 to 39 are missing before it; 20 of them were "
                    "not consumed\n"
                    "20 lost\n");
    assert_set_aside(log, 2);
}

static void
test_zeroed_head_costs_the_segment(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_zero(log, 2, 0, SEGMENT_HEAD_SIZE);

    assert_survives(
        log, "7-19 40-59",
        "2.segment:0: it has no head\n"
        "3.segment:4096: events 20 to 39 are missing before it; 20 of them were not consumed\n"
        "20 lost\n");
    assert_set_aside(log, 2);
}

static void
test_segment_of_a_later_version_is_not_read(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    guint8 bytes[SEGMENT_HEAD_SIZE];
    SegmentHead later = log->head;

    later.version = SEGMENT_VERSION + 1;
    segment_head_write(&later, bytes);
    log_maker_overwrite(log, 3, 0, bytes, sizeof(bytes));

    assert_readers_find(
        log, "7-39",
        "3.segment:8: it is of version 2 of the format, this program reads version 1\n");
    assert_refused(log, "0000000000000003.segment' is of format version 2, and this leat knows "
                        "version 1; nothing was changed");
}

/* ---- lengths ---- */

static void
test_segment_that_is_cut_to_its_head_costs_its_events(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_cut(log, 2, SEGMENT_HEAD_SIZE);

    assert_survives(
        log, "7-19 40-59",
        "2.segment:4096: 424 bytes are damaged\n"
        "3.segment:4096: events 20 to 39 are missing before it; 20 of them were not consumed\n"
        "20 lost\n");
}

static void
test_closed_segment_that_is_cut_costs_what_is_behind(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_cut(log, 1, log_maker_record(log, 2).offset);

    assert_survives(
        log, "7-9 20-59",
        "1.segment:4256: 176 bytes are damaged\n"
        "2.segment:4096: events 10 to 19 are missing before it; 10 of them were not consumed\n"
        "10 lost\n");
}

static void
test_empty_file_in_the_middle_costs_the_segment(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_cut(log, 2, 0);

    assert_survives(
        log, "7-19 40-59",
        "3.segment:4096: events 20 to 39 are missing before it; 20 of them were not consumed\n"
        "20 lost\n");
}

static void
test_empty_file_at_the_end_was_never_used(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *file = log_maker_segment(log, 4);

    g_assert_true(g_file_set_contents(file, "", 0, NULL));

    assert_survives(log, "7-59", "");
}

static void
test_half_a_head_at_the_end_was_never_used(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_roll(log);
    log_maker_cut(log, 4, 1000);

    assert_survives(log, "7-59", "");
}

static void
test_segment_without_records_at_the_end_is_well(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_roll(log);

    assert_survives(log, "7-59", "");
}

/* ---- missing ---- */

static void
test_missing_first_segment_costs_its_events(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_remove(log, 1);

    assert_survives(
        log, "20-59",
        "2.segment:4096: events 0 to 19 are missing before it; 13 of them were not consumed\n"
        "13 lost\n");
}

static void
test_first_segment_that_was_consumed_may_be_missing(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_consume(log, 7, 21);
    log_maker_remove(log, 1);

    assert_survives(log, "21-59", "");
}

static void
test_missing_middle_segment_costs_its_events(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_remove(log, 2);

    assert_survives(
        log, "7-19 40-59",
        "3.segment:4096: events 20 to 39 are missing before it; 20 of them were not consumed\n"
        "20 lost\n");
}

/* Nothing says that it was there. */
static void
test_missing_last_segment_is_not_noticed_without_a_checkpoint(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_remove(log, 3);

    assert_survives(log, "7-39", "");
}

static void
test_missing_last_segment_is_noticed_by_the_checkpoint(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_checkpoint(log);
    log_maker_remove(log, 3);

    assert_survives(log, "7-39",
                    "checkpoint:0: events 40 to 59 are missing at the end of the log; 20 of "
                    "them were not consumed\n"
                    "20 lost\n");
}

static void
test_only_the_last_segment_is_left(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_remove(log, 1);
    log_maker_remove(log, 2);

    assert_survives(
        log, "40-59",
        "3.segment:4096: events 0 to 39 are missing before it; 33 of them were not consumed\n"
        "33 lost\n");
}

/* An agent deletes what is consumed while the directory is read. */
static void
test_segment_that_vanishes_meanwhile_was_consumed(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autoptr(ChannelFolder) folder = channel_folder_open(log->path, NULL);
    ChannelProgress progress;
    ChannelTotals totals;

    channel_progress_init(&progress, FALSE);
    log_maker_remove(log, 1);

    totals = channel_folder_verify(folder, &progress);

    g_assert_cmpuint(folder->n_damages, ==, 0);
    g_assert_cmpuint(totals.n_lost, ==, 0);
    g_assert_cmpuint(totals.n_events, ==, 40);
}

/* ---- not ours ---- */

static void
test_segment_under_another_number_is_left_out(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_copy(log, 2, 4);

    assert_readers_find(log, "7-59",
                        "4.segment:32: it is a copy of segment 2 under another name\n");
    assert_start_notes(log, "0000000000000004.segment is a copy of segment 2 under another name: "
                            "it is set aside");
    assert_survives(log, "7-59", "");
    assert_set_aside(log, 4);
}

static void
test_copy_in_place_of_a_missing_segment_does_not_count(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_copy(log, 1, 2);

    assert_survives(
        log, "7-19 40-59",
        "2.segment:32: it is a copy of segment 1 under another name\n"
        "3.segment:4096: events 20 to 39 are missing before it; 20 of them were not consumed\n"
        "20 lost\n");
    assert_set_aside(log, 2);
}

static void
test_segment_of_another_channel_is_left_out(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log->channel++;
    log_maker_roll(log);
    log_maker_put(log, 5);

    assert_survives(log, "7-59", "4.segment:24: it belongs to another channel\n");
    assert_set_aside(log, 4);
}

static void
test_files_of_other_people_are_left_alone(void)
{
    static const char *const names[] = { "README", "3.segment", "0000000000000009.segment~",
                                         "000000000000000x.segment", "0000000000000000.segment" };
    g_autoptr(LogMaker) log = log_maker_new_standard();

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *file = log_maker_file(log, names[i]);

        g_assert_true(g_file_set_contents(file, "mine", 4, NULL));
    }

    assert_survives(log, "7-59", "");
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *file = log_maker_file(log, names[i]);
        g_autofree char *text = NULL;

        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "mine");
    }
}

static void
test_folder_that_is_called_like_a_segment_is_left_alone(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *folder = log_maker_segment(log, 4);

    g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);

    assert_survives(log, "7-59", "4.segment:0: it cannot be opened: it is no regular file\n");
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* Opened as a file, it would be waited for until somebody writes to it. */
static void
test_pipe_that_is_called_like_a_segment_is_left_alone(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *pipe = log_maker_segment(log, 4);

    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);

    assert_survives(log, "7-59", "4.segment:0: it cannot be opened: it is no regular file\n");
    g_assert_cmpint(g_unlink(pipe), ==, 0);
}

static void
test_pipe_that_is_called_checkpoint_is_not_waited_for(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *pipe = log_maker_file(log, "checkpoint");

    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);

    assert_survives(log, "7-59", "checkpoint:0: it is no regular file\n");
}

static void
test_link_to_nothing_that_is_called_like_a_segment_is_left_alone(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *link = log_maker_segment(log, 4);

    g_assert_cmpint(symlink("nothing", link), ==, 0);

    assert_start_notes(log, "0000000000000004.segment is no regular file: it is left alone");
    assert_survives(log, "7-59", "");
    g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
}

static void
test_segment_that_is_no_segment_is_told(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *file = log_maker_segment(log, 4);
    g_autofree char *text = g_strnfill(2 * SEGMENT_HEAD_SIZE, 'x');

    g_assert_true(g_file_set_contents(file, text, -1, NULL));

    assert_survives(log, "7-59", "4.segment:0: both copies of its head are damaged\n");
    assert_set_aside(log, 4);
}

static void
test_text_that_is_called_like_a_segment_is_not_removed(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *file = log_maker_segment(log, 4);

    g_assert_true(g_file_set_contents(file, "hello", 5, NULL));

    assert_survives(log, "7-59", "4.segment:0: both copies of its head are damaged\n");
    assert_set_aside(log, 4);
}

/* As nobody, to whom the folder and its files are given to read. */
static void
test_folder_that_cannot_be_written_is_read(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    uid_t user;

    g_assert_cmpint(g_chmod(log->path, 0555), ==, 0);
    user = (uid_t) setfsuid(65534);

    assert_readers_find(log, "7-59", "");
    assert_refused(log, "cannot write in '");
    setfsuid(user);
    g_assert_cmpint(g_chmod(log->path, 0700), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log-damage/head", test_damaged_head_is_made_up_for_by_its_copy);
    g_test_add_func("/log-damage/copy-of-head", test_damaged_copy_of_a_head_is_told);
    g_test_add_func("/log-damage/both-copies", test_both_damaged_copies_of_a_head_cost_the_segment);
    g_test_add_func("/log-damage/zeroed-head", test_zeroed_head_costs_the_segment);
    g_test_add_func("/log-damage/version", test_segment_of_a_later_version_is_not_read);
    g_test_add_func("/log-damage/cut-to-head",
                    test_segment_that_is_cut_to_its_head_costs_its_events);
    g_test_add_func("/log-damage/cut", test_closed_segment_that_is_cut_costs_what_is_behind);
    g_test_add_func("/log-damage/empty-middle", test_empty_file_in_the_middle_costs_the_segment);
    g_test_add_func("/log-damage/empty-end", test_empty_file_at_the_end_was_never_used);
    g_test_add_func("/log-damage/half-head", test_half_a_head_at_the_end_was_never_used);
    g_test_add_func("/log-damage/no-records", test_segment_without_records_at_the_end_is_well);
    g_test_add_func("/log-damage/missing-first", test_missing_first_segment_costs_its_events);
    g_test_add_func("/log-damage/missing-consumed",
                    test_first_segment_that_was_consumed_may_be_missing);
    g_test_add_func("/log-damage/missing-middle", test_missing_middle_segment_costs_its_events);
    g_test_add_func("/log-damage/missing-last",
                    test_missing_last_segment_is_not_noticed_without_a_checkpoint);
    g_test_add_func("/log-damage/missing-last-noticed",
                    test_missing_last_segment_is_noticed_by_the_checkpoint);
    g_test_add_func("/log-damage/only-last", test_only_the_last_segment_is_left);
    g_test_add_func("/log-damage/vanished", test_segment_that_vanishes_meanwhile_was_consumed);
    g_test_add_func("/log-damage/copy", test_segment_under_another_number_is_left_out);
    g_test_add_func("/log-damage/copy-in-place",
                    test_copy_in_place_of_a_missing_segment_does_not_count);
    g_test_add_func("/log-damage/other-channel", test_segment_of_another_channel_is_left_out);
    g_test_add_func("/log-damage/foreign-files", test_files_of_other_people_are_left_alone);
    g_test_add_func("/log-damage/folder", test_folder_that_is_called_like_a_segment_is_left_alone);
    g_test_add_func("/log-damage/pipe", test_pipe_that_is_called_like_a_segment_is_left_alone);
    g_test_add_func("/log-damage/pipe-checkpoint",
                    test_pipe_that_is_called_checkpoint_is_not_waited_for);
    g_test_add_func("/log-damage/dangling",
                    test_link_to_nothing_that_is_called_like_a_segment_is_left_alone);
    g_test_add_func("/log-damage/no-segment", test_segment_that_is_no_segment_is_told);
    g_test_add_func("/log-damage/text", test_text_that_is_called_like_a_segment_is_not_removed);
    g_test_add_func("/log-damage/read-only", test_folder_that_cannot_be_written_is_read);
    return g_test_run();
}
