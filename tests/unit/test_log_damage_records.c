/* test_log_damage_records.c - records of a file channel that are torn, changed or gone: which
 * events survive, and what is told. The rows of docs/file-channel-format.md. */
#include <string.h>

#include "agent/channels/file_channel/compression.h"
#include "tests/support/log_maker.h"
#include "tests/support/log_survivors.h"

static guint64
offset_of(const LogMaker *log, guint record)
{
    return log_maker_record(log, record).offset;
}

/* ---- the end of the log ---- */

static void
test_nothing_is_wrong_with_a_log_that_is_whole(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    assert_survives(log, "7-59", "");
}

static void
test_torn_tail_is_the_end_of_the_log(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_cut(log, 3, offset_of(log, 12) + 60);

    assert_survives(log, "7-54", "");
}

static void
test_tail_that_is_cut_within_a_header_is_the_end_of_the_log(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_cut(log, 3, offset_of(log, 12) + 20);

    assert_survives(log, "7-54", "");
}

static void
test_zero_filled_tail_is_the_end_of_the_log(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_zero(log, 3, offset_of(log, 12), log->bytes->len - offset_of(log, 12));

    assert_survives(log, "7-54", "");
}

static void
test_tail_whose_payload_never_came_is_the_end_of_the_log(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_zero(log, 3, offset_of(log, 12) + RECORD_HEADER_SIZE, 32);

    assert_survives(log, "7-54", "");
}

static void
test_zeros_behind_the_tail_are_nothing(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_zero(log, 3, log->bytes->len, 10000);

    assert_survives(log, "7-59", "");
}

static void
test_garbage_behind_the_tail_is_nothing(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    guint8 garbage[777];

    memset(garbage, 0xa5, sizeof(garbage));
    log_maker_overwrite(log, 3, log->bytes->len, garbage, sizeof(garbage));

    assert_survives(log, "7-59", "");
}

/* Blocks that a file system gives again may hold what another file was. */
static void
test_records_of_another_segment_behind_the_tail_are_nothing(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *file = log_maker_segment(log, 1);
    g_autofree char *bytes = NULL;
    gsize length;

    g_assert_true(g_file_get_contents(file, &bytes, &length, NULL));
    log_maker_overwrite(log, 3, log->bytes->len, bytes + SEGMENT_HEAD_SIZE,
                        length - SEGMENT_HEAD_SIZE);

    assert_survives(log, "7-59", "");
}

/* Nothing of the group was acknowledged; its second record came to the disk before its first. */
static void
test_group_with_a_hole_is_the_end_of_the_log(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_put_in_group(log, 5);
    log_maker_put(log, 5);
    log_maker_flip(log, 3, offset_of(log, 13) + 50);

    assert_survives(log, "7-59", "");
}

/* A write failed there, so that the channel went on in a new segment. */
static void
test_bytes_behind_the_end_that_the_next_segment_names_are_nothing(void)
{
    g_autoptr(LogMaker) log = log_maker_new();
    guint8 half[100];

    log_maker_roll(log);
    log_maker_put(log, 5);
    memset(half, 0x77, sizeof(half));
    log_maker_roll(log);
    log_maker_put(log, 5);
    log_maker_overwrite(log, 1, offset_of(log, 0) + 80, half, sizeof(half));

    assert_survives(log, "0-9", "");
}

/* ---- in the middle ---- */

static void
test_flipped_byte_in_a_payload_costs_that_record(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 3, offset_of(log, 10) + RECORD_HEADER_SIZE + 3);

    assert_survives(
        log, "7-44 50-59",
        "3.segment:4184: 88 bytes are damaged\n"
        "3.segment:4272: events 45 to 49 are missing before it; 5 of them were not consumed\n"
        "5 lost\n");
}

static void
test_flipped_byte_in_a_record_header_costs_that_record(void)
{
    for (guint at = 0; at < RECORD_HEADER_SIZE; at++) {
        g_autoptr(LogMaker) log = log_maker_new_standard();

        log_maker_flip(log, 3, offset_of(log, 10) + at);

        assert_survives(
            log, "7-44 50-59",
            "3.segment:4184: 88 bytes are damaged\n"
            "3.segment:4272: events 45 to 49 are missing before it; 5 of them were not consumed\n"
            "5 lost\n");
    }
}

static void
test_first_record_of_a_segment_is_lost_alone(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 2, SEGMENT_HEAD_SIZE);

    assert_survives(
        log, "7-19 25-59",
        "2.segment:4096: 88 bytes are damaged\n"
        "2.segment:4256: events 20 to 24 are missing before it; 5 of them were not consumed\n"
        "5 lost\n");
}

static void
test_last_record_of_a_closed_segment_is_lost_alone(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 1, offset_of(log, 3) + 50);

    assert_survives(
        log, "7-14 20-59",
        "1.segment:4344: 88 bytes are damaged\n"
        "2.segment:4096: events 15 to 19 are missing before it; 5 of them were not consumed\n"
        "5 lost\n");
}

/* Zeros where a record would begin are the end of a log, but not before what came later. */
static void
test_zeros_at_a_record_boundary_cost_that_record(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_zero(log, 3, offset_of(log, 10), 8);

    assert_survives(
        log, "7-44 50-59",
        "3.segment:4184: 88 bytes are damaged\n"
        "3.segment:4272: events 45 to 49 are missing before it; 5 of them were not consumed\n"
        "5 lost\n");
}

static void
test_damage_across_a_record_boundary_costs_both(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_zero(log, 3, offset_of(log, 11) - 8, 16);

    assert_survives(
        log, "7-44 55-59",
        "3.segment:4184: 176 bytes are damaged\n"
        "3.segment:4360: events 45 to 54 are missing before it; 10 of them were not consumed\n"
        "10 lost\n");
}

static void
test_damage_that_ends_at_a_record_boundary_costs_what_is_before(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_zero(log, 3, offset_of(log, 10), offset_of(log, 12) - offset_of(log, 10));

    assert_survives(
        log, "7-44 55-59",
        "3.segment:4184: 176 bytes are damaged\n"
        "3.segment:4360: events 45 to 54 are missing before it; 10 of them were not consumed\n"
        "10 lost\n");
}

static void
test_two_places_are_two_damages(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 1, offset_of(log, 2) + 50);
    log_maker_flip(log, 3, offset_of(log, 10) + 50);

    assert_survives(
        log, "7-9 15-44 50-59",
        "1.segment:4256: 88 bytes are damaged\n"
        "3.segment:4184: 88 bytes are damaged\n"
        "1.segment:4344: events 10 to 14 are missing before it; 5 of them were not consumed\n"
        "3.segment:4272: events 45 to 49 are missing before it; 5 of them were not consumed\n"
        "10 lost\n");
}

static void
test_damage_to_events_that_are_consumed_loses_nothing(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_flip(log, 1, offset_of(log, 0) + 50);

    assert_survives(log, "7-59", "1.segment:4096: 80 bytes are damaged\n");
}

static void
test_damaged_consumed_record_brings_events_again(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_consume(log, 7, 12);
    log_maker_put(log, 5);
    log_maker_flip(log, 3, offset_of(log, 13) + 50);

    assert_survives(log, "7-64", "3.segment:4448: 72 bytes are damaged\n");
}

static void
test_damaged_consumed_record_is_made_up_for_by_the_next_one(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_consume(log, 7, 12);
    log_maker_consume(log, 12, 13);
    log_maker_flip(log, 3, offset_of(log, 13) + 50);

    assert_survives(log, "13-59", "3.segment:4448: 72 bytes are damaged\n");
}

static void
test_flipped_byte_in_a_compressed_record_costs_that_record(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    if (record_compression_missing(RECORD_ZSTD) != NULL) {
        g_test_skip("zstd is not built in");
        return;
    }
    log_maker_put_compressed(log, 200);
    log_maker_put(log, 5);
    log_maker_flip(log, 3, offset_of(log, 13) + RECORD_HEADER_SIZE + 20);

    assert_survives(
        log, "7-59 260-264",
        "3.segment:4448: 272 bytes are damaged\n"
        "3.segment:4720: events 60 to 259 are missing before it; 200 of them were not consumed\n"
        "200 lost\n");
}

/* For people to look at, when everything else of the segment is consumed and it is deleted. */
static void
test_damaged_segment_stays_under_a_second_name(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    g_autofree char *first = log_maker_segment(log, 1);
    g_autofree char *kept = g_strconcat(first, DAMAGED_SUFFIX, NULL);
    g_autofree char *events = NULL;
    guint64 n_lost;

    log_maker_flip(log, 1, offset_of(log, 2) + 50);

    events = log_survivors_recover(log->path, &n_lost);

    g_assert_cmpuint(n_lost, ==, 5);
    g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test(first, G_FILE_TEST_EXISTS));
}

/* ---- anywhere ---- */

/* What survives when this record of the standard log is damaged. */
static char *
all_but(guint record)
{
    static const guint firsts[] = { 20, 0, 25, 30, 35 };
    guint first = firsts[record - 4];

    if (first == 0) /* consumed: the next head says it too */
        return g_strdup("7-59");
    return g_strdup_printf("7-%u %u-59", first - 1, first + 5);
}

static void
test_any_flipped_byte_costs_its_record_at_most(void)
{
    for (guint64 offset = SEGMENT_HEAD_SIZE; offset < 4520; offset += 5) {
        g_autoptr(LogMaker) log = log_maker_new_standard();
        guint record = 8;
        g_autofree char *expected = NULL;
        g_autofree char *read = NULL;
        g_autofree char *taken = NULL;
        guint64 n_lost;

        while (offset_of(log, record) > offset)
            record--;
        expected = all_but(record);
        log_maker_flip(log, 2, offset);

        read = log_survivors_read(log->path);
        taken = log_survivors_recover(log->path, &n_lost);

        if (g_strcmp0(read, "7-59") != 0) /* the byte may be padding */
            g_assert_cmpstr(read, ==, expected);
        g_assert_cmpstr(taken, ==, read);
    }
}

static void
test_log_that_is_cut_anywhere_keeps_what_is_whole(void)
{
    for (guint64 length = SEGMENT_HEAD_SIZE; length < 4448; length += 7) {
        g_autoptr(LogMaker) log = log_maker_new_standard();
        g_autofree char *expected = NULL;
        guint n_whole = 0;

        while (n_whole < 3 && offset_of(log, 10 + n_whole) <= length)
            n_whole++;
        expected = g_strdup_printf("7-%u", 39 + 5 * n_whole);
        log_maker_cut(log, 3, length);

        assert_survives(log, expected, "");
    }
}

/* No damage that a checksum could find: the program that wrote it was wrong, or is hostile. */
static void
test_record_that_does_not_hold_what_it_says_is_left_out(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    log_maker_put_bytes(log, 2, byte_span("not two events", 14));
    log_maker_put(log, 5);

    assert_survives(log, "7-59 62-66",
                    "3.segment:4448: the record does not hold the 2 events that it says\n"
                    "2 lost\n");
}

static void
test_compressed_records_are_read(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();

    if (record_compression_missing(RECORD_ZSTD) != NULL) {
        g_test_skip("zstd is not built in");
        return;
    }
    log_maker_put_compressed(log, 200);

    assert_survives(log, "7-259", "");
}

static void
test_compressed_records_wait_for_a_leat_that_can_read_them(void)
{
    g_autoptr(LogMaker) log = log_maker_new_standard();
    guint64 n_lost;

    if (record_compression_missing(RECORD_ZSTD) == NULL) {
        g_test_skip("zstd is built in");
        return;
    }
    log_maker_put_compressed(log, 200);

    g_assert_cmpuint(log_survivors_left(log->path, &n_lost), ==, 200);
    g_assert_cmpuint(n_lost, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log-damage/none", test_nothing_is_wrong_with_a_log_that_is_whole);
    g_test_add_func("/log-damage/torn-tail", test_torn_tail_is_the_end_of_the_log);
    g_test_add_func("/log-damage/torn-header",
                    test_tail_that_is_cut_within_a_header_is_the_end_of_the_log);
    g_test_add_func("/log-damage/zero-filled-tail", test_zero_filled_tail_is_the_end_of_the_log);
    g_test_add_func("/log-damage/tail-without-payload",
                    test_tail_whose_payload_never_came_is_the_end_of_the_log);
    g_test_add_func("/log-damage/zeros-behind", test_zeros_behind_the_tail_are_nothing);
    g_test_add_func("/log-damage/garbage-behind", test_garbage_behind_the_tail_is_nothing);
    g_test_add_func("/log-damage/old-blocks",
                    test_records_of_another_segment_behind_the_tail_are_nothing);
    g_test_add_func("/log-damage/hole-in-group", test_group_with_a_hole_is_the_end_of_the_log);
    g_test_add_func("/log-damage/failed-write",
                    test_bytes_behind_the_end_that_the_next_segment_names_are_nothing);
    g_test_add_func("/log-damage/payload", test_flipped_byte_in_a_payload_costs_that_record);
    g_test_add_func("/log-damage/record-header",
                    test_flipped_byte_in_a_record_header_costs_that_record);
    g_test_add_func("/log-damage/first-record", test_first_record_of_a_segment_is_lost_alone);
    g_test_add_func("/log-damage/last-record", test_last_record_of_a_closed_segment_is_lost_alone);
    g_test_add_func("/log-damage/zeros-at-boundary",
                    test_zeros_at_a_record_boundary_cost_that_record);
    g_test_add_func("/log-damage/across-boundary", test_damage_across_a_record_boundary_costs_both);
    g_test_add_func("/log-damage/up-to-boundary",
                    test_damage_that_ends_at_a_record_boundary_costs_what_is_before);
    g_test_add_func("/log-damage/two-places", test_two_places_are_two_damages);
    g_test_add_func("/log-damage/consumed-events",
                    test_damage_to_events_that_are_consumed_loses_nothing);
    g_test_add_func("/log-damage/consumed-record",
                    test_damaged_consumed_record_brings_events_again);
    g_test_add_func("/log-damage/consumed-record-repaired",
                    test_damaged_consumed_record_is_made_up_for_by_the_next_one);
    g_test_add_func("/log-damage/compressed", test_compressed_records_are_read);
    g_test_add_func("/log-damage/compressed-unreadable",
                    test_compressed_records_wait_for_a_leat_that_can_read_them);
    g_test_add_func("/log-damage/compressed-flipped",
                    test_flipped_byte_in_a_compressed_record_costs_that_record);
    g_test_add_func("/log-damage/kept", test_damaged_segment_stays_under_a_second_name);
    g_test_add_func("/log-damage/any-byte", test_any_flipped_byte_costs_its_record_at_most);
    g_test_add_func("/log-damage/any-length", test_log_that_is_cut_anywhere_keeps_what_is_whole);
    g_test_add_func("/log-damage/lie", test_record_that_does_not_hold_what_it_says_is_left_out);
    return g_test_run();
}
