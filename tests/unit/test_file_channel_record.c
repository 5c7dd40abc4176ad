/* test_file_channel_record.c - records, heads of segments, checksums: what is written is read, what
 * is changed is noticed. */
#include <glib.h>
#include <string.h>

#include "agent/channels/file_channel/crc32c.h"
#include "agent/channels/file_channel/record.h"
#include "agent/channels/file_channel/segment.h"
#include "agent/channels/file_channel/seq_set.h"

#define SALT 0x5a17u

static void
test_checksum_is_that_of_the_standard(void)
{
    g_assert_cmphex(crc32c(0, "123456789", 9), ==, 0xe3069283u);
    g_assert_cmphex(crc32c_by_table(0, "123456789", 9), ==, 0xe3069283u);
}

static void
test_checksum_does_not_depend_on_how_it_is_computed(void)
{
    guint8 bytes[300];

    for (guint i = 0; i < sizeof(bytes); i++)
        bytes[i] = (guint8) (i * 7 + i / 3);

    for (guint at = 0; at < 16; at++)
        for (guint length = 0; length < 64; length++) {
            guint32 whole = crc32c(0, bytes + at, length + 50);

            g_assert_cmphex(crc32c_by_table(0, bytes + at, length + 50), ==, whole);
            g_assert_cmphex(crc32c(crc32c(0, bytes + at, length), bytes + at + length, 50), ==,
                            whole);
        }
}

static GByteArray *
record_of_events(void)
{
    RecordHeader header = { .length = 5,
                            .type = RECORD_EVENTS,
                            .count = 2,
                            .seq = 77,
                            .time_us = 123456,
                            .raw_length = 5,
                            .salt = SALT,
                            .synced = 4096 };
    GByteArray *bytes = g_byte_array_new();

    g_byte_array_set_size(bytes, (guint) record_size(5));
    memset(bytes->data, 0, bytes->len);
    memcpy(bytes->data + RECORD_HEADER_SIZE, "hello", 5);
    record_header_write(&header, record_payload_crc(byte_span("hello", 5)), bytes->data);
    return bytes;
}

static void
test_record_is_read_as_written(void)
{
    g_autoptr(GByteArray) bytes = record_of_events();
    RecordHeader header;
    guint64 wanted;

    g_assert_cmpint(record_read(byte_span(bytes->data, bytes->len), SALT, &header, &wanted), ==,
                    RECORD_GOOD);

    g_assert_cmpuint(header.length, ==, 5);
    g_assert_cmpint(header.type, ==, RECORD_EVENTS);
    g_assert_cmpuint(header.count, ==, 2);
    g_assert_cmpuint(header.seq, ==, 77);
    g_assert_cmpint(header.time_us, ==, 123456);
    g_assert_cmpuint(header.synced, ==, 4096);
}

static void
test_every_flipped_bit_of_a_record_is_noticed(void)
{
    g_autoptr(GByteArray) bytes = record_of_events();
    RecordHeader header;
    guint64 wanted;

    for (guint bit = 0; bit < 8 * (RECORD_HEADER_SIZE + 5); bit++) {
        bytes->data[bit / 8] ^= (guint8) (1 << bit % 8);
        g_assert_cmpint(record_read(byte_span(bytes->data, bytes->len), SALT, &header, &wanted), !=,
                        RECORD_GOOD);
        bytes->data[bit / 8] ^= (guint8) (1 << bit % 8);
    }
}

static void
test_record_of_another_segment_is_none(void)
{
    g_autoptr(GByteArray) bytes = record_of_events();
    RecordHeader header;
    guint64 wanted;

    g_assert_cmpint(record_read(byte_span(bytes->data, bytes->len), SALT + 1, &header, &wanted), ==,
                    RECORD_BAD);
}

static void
test_record_that_is_cut_says_how_much_it_needs(void)
{
    g_autoptr(GByteArray) bytes = record_of_events();
    RecordHeader header;
    guint64 wanted = 0;

    for (guint length = 8; length < bytes->len; length++)
        g_assert_cmpint(record_read(byte_span(bytes->data, length), SALT, &header, &wanted), ==,
                        RECORD_SHORT);

    g_assert_cmpuint(wanted, ==, bytes->len);
}

static const SegmentHead some_head = { .version = SEGMENT_VERSION,
                                       .salt = SALT,
                                       .channel = 9,
                                       .number = 3,
                                       .size = 1 << 20,
                                       .time_us = 5,
                                       .first_seq = 1000,
                                       .consumed = 900,
                                       .previous = 2,
                                       .previous_end = 8192 };

static void
test_head_survives_damage_to_either_copy(void)
{
    guint8 bytes[SEGMENT_HEAD_SIZE];
    SegmentHead head;

    for (guint copy = 0; copy <= SEGMENT_HEAD_COPY; copy += SEGMENT_HEAD_COPY) {
        segment_head_write(&some_head, bytes);
        bytes[copy + 40] ^= 1;

        g_assert_cmpint(segment_head_read(byte_span(bytes, sizeof(bytes)), &head), ==,
                        SEGMENT_HEAD_GOOD);
        g_assert_cmpmem(&head, sizeof(head), &some_head, sizeof(some_head));
    }
}

static void
test_head_of_another_version_is_not_damage(void)
{
    SegmentHead later = some_head;
    guint8 bytes[SEGMENT_HEAD_SIZE];
    SegmentHead head;

    later.version = 2;
    segment_head_write(&later, bytes);

    g_assert_cmpint(segment_head_read(byte_span(bytes, sizeof(bytes)), &head), ==,
                    SEGMENT_HEAD_VERSION);
    g_assert_cmpuint(head.version, ==, 2);
}

static void
test_file_without_a_head_was_never_used(void)
{
    guint8 bytes[SEGMENT_HEAD_SIZE] = { 0 };
    SegmentHead head;

    g_assert_cmpint(segment_head_read(byte_span(bytes, sizeof(bytes)), &head), ==,
                    SEGMENT_HEAD_EMPTY);
    g_assert_cmpint(segment_head_read(byte_span(bytes, 0), &head), ==, SEGMENT_HEAD_EMPTY);
}

static void
test_only_segments_are_called_segments(void)
{
    g_autofree char *name = segment_name(42);
    guint64 number;

    g_assert_cmpstr(name, ==, "0000000000000042.segment");
    g_assert_true(segment_name_parse(name, &number));
    g_assert_cmpuint(number, ==, 42);

    g_assert_false(segment_name_parse("0000000000000042.segment.damaged", &number));
    g_assert_false(segment_name_parse("000000000000042.segment", &number));
    g_assert_false(segment_name_parse("checkpoint", &number));
    g_assert_false(segment_name_parse("0000000000000000.segment", &number));
}

static gboolean
set_has(const SeqSet *set, guint64 seq)
{
    guint index = seq_set_find(set, seq);

    return index < seq_set_n_ranges(set) && seq_set_range(set, index)->first <= seq;
}

/* Against a plain array of flags. */
static void
test_set_of_numbers_is_what_was_added(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(4);
    gboolean flags[208] = { 0 };
    SeqSet set;

    seq_set_init(&set);
    for (guint round = 0; round < 2000; round++) {
        guint first = (guint) g_rand_int_range(rand, 0, 199);
        guint end = first + (guint) g_rand_int_range(rand, 1, 8);
        guint64 n_flags = 0;

        if (round % 50 == 49) {
            seq_set_remove_below(&set, first);
            memset(flags, 0, first * sizeof(gboolean));
        }
        seq_set_add(&set, (SeqRange){ first, end, 10 * (end - first) });
        for (guint i = first; i < end; i++)
            flags[i] = TRUE;

        for (guint i = 0; i < 208; i++) {
            g_assert_cmpint(set_has(&set, i), ==, flags[i]);
            n_flags += flags[i];
        }
        g_assert_cmpuint(set.n_events, ==, n_flags);
        g_assert_cmpuint(set.n_bytes, ==, 10 * n_flags);
        for (guint i = 1; i < seq_set_n_ranges(&set); i++)
            g_assert_cmpuint(seq_set_range(&set, i - 1)->end, <, seq_set_range(&set, i)->first);
    }
    seq_set_clear(&set);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/crc32c/standard", test_checksum_is_that_of_the_standard);
    g_test_add_func("/crc32c/same", test_checksum_does_not_depend_on_how_it_is_computed);
    g_test_add_func("/record/read", test_record_is_read_as_written);
    g_test_add_func("/record/flipped", test_every_flipped_bit_of_a_record_is_noticed);
    g_test_add_func("/record/foreign", test_record_of_another_segment_is_none);
    g_test_add_func("/record/cut", test_record_that_is_cut_says_how_much_it_needs);
    g_test_add_func("/segment/copies", test_head_survives_damage_to_either_copy);
    g_test_add_func("/segment/version", test_head_of_another_version_is_not_damage);
    g_test_add_func("/segment/empty", test_file_without_a_head_was_never_used);
    g_test_add_func("/segment/name", test_only_segments_are_called_segments);
    g_test_add_func("/seq-set/model", test_set_of_numbers_is_what_was_added);
    return g_test_run();
}
