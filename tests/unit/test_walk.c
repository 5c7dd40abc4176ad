/* test_walk.c - the events of good calls, in place or written anew, in all three message formats;
 * memory and time. */
#include "thrift/wire/walk.h"

#include <glib.h>
#include <string.h>

#include "base/event_bytes.h"
#include "tests/support/walk_probe.h"

#define TEXT(t) byte_span_of_text(t)
#define BYTES(literal) byte_span("" literal, sizeof(literal) - 1)

/* ---- good calls ---- */

static void
test_events_of_a_batch_come_out_in_order(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "appendBatch");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        walk_probe_write_batch(writer, 1000);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_cmpuint(walk.n_events, ==, 1000);
        g_assert_cmpint(walk.in_place, ==, protocol == WIRE_COMPACT);
        walk_probe_assert_body(&walk, 0, TEXT("body 0"));
        walk_probe_assert_body(&walk, 999, TEXT("body 999"));
        walk_probe_assert_header(&walk, 500, TEXT("k"), TEXT("v"));
    }
}

static void
test_a_canonical_batch_is_not_copied(void)
{
    g_autoptr(ThriftWriter) writer = walk_probe_begin(WIRE_COMPACT, "appendBatch");
    WireMessage message;
    g_auto(Walk) walk = { 0 };

    walk_init(&walk);
    walk_probe_write_batch(writer, 3);
    g_assert_true(wire_message_read(writer->bytes->data, writer->bytes->len, &message));
    g_assert_cmpint(walk_append_batch(&walk, &message, writer->bytes->data, writer->bytes->len), ==,
                    WALK_GOOD);

    g_assert_true(walk.in_place);
    g_assert_true(walk.bytes == writer->bytes->data);
    g_assert_cmpuint(walk.rewritten_size, ==, 0);
}

static void
test_a_single_append_is_one_event(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        walk_probe_write_single(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_cmpuint(walk.n_events, ==, 1);
        g_assert_cmpint(walk.in_place, ==, protocol == WIRE_COMPACT);
        walk_probe_assert_body(&walk, 0, TEXT("single"));
    }
}

static void
test_unknown_fields_and_another_order_are_written_anew(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "appendBatch");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        walk_probe_write_unknown_fields(writer);
        thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
        thrift_writer_list(writer, WIRE_TYPE_STRUCT, 4);
        thrift_writer_event(writer, "plain");
        walk_probe_write_strange_event(writer, "strange");
        walk_probe_write_strange_event(writer, "also strange");
        thrift_writer_event(writer, "plain again");
        thrift_writer_stop(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_cmpuint(walk.n_events, ==, 4);
        g_assert_false(walk.in_place);
        walk_probe_assert_body(&walk, 0, TEXT("plain"));
        walk_probe_assert_body(&walk, 1, TEXT("strange"));
        walk_probe_assert_body(&walk, 2, TEXT("also strange"));
        walk_probe_assert_body(&walk, 3, TEXT("plain again"));
        walk_probe_assert_header(&walk, 1, TEXT("b"), TEXT("2"));
        walk_probe_assert_header(&walk, 3, TEXT("k"), TEXT("v"));
    }
}

static void
test_nul_and_bytes_that_are_no_text_pass_unchanged(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_open(writer);
        thrift_writer_field(writer, WIRE_TYPE_MAP, 1);
        thrift_writer_map(writer, WIRE_TYPE_STRING, WIRE_TYPE_STRING, 3);
        thrift_writer_string(writer, BYTES("a\0b"));
        thrift_writer_string(writer, BYTES("\xff\0\xfe"));
        thrift_writer_string(writer, TEXT("a"));
        thrift_writer_string(writer, TEXT(""));
        thrift_writer_string(writer, TEXT(""));
        thrift_writer_string(writer, TEXT("of the empty key"));
        thrift_writer_body(writer, BYTES("\0\x80\0"));
        thrift_writer_stop(writer);
        thrift_writer_stop(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        walk_probe_assert_header(&walk, 0, BYTES("a\0b"), BYTES("\xff\0\xfe"));
        walk_probe_assert_header(&walk, 0, TEXT("a"), TEXT(""));
        walk_probe_assert_header(&walk, 0, TEXT(""), TEXT("of the empty key"));
        walk_probe_assert_body(&walk, 0, BYTES("\0\x80\0"));
    }
}

static void
test_empty_is_not_absent(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_open(writer);
        thrift_writer_headers(writer, 0, NULL);
        thrift_writer_body(writer, TEXT(""));
        thrift_writer_stop(writer);
        thrift_writer_stop(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_cmpuint(walk_probe_event(&walk, 0).n_headers, ==, 0);
        walk_probe_assert_body(&walk, 0, TEXT(""));
    }
}

static void
test_the_last_of_a_repeated_header_key_wins(void)
{
    const char *const texts[] = { "k", "1", "other", "o", "k", "2", "k", "3" };

    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_open(writer);
        thrift_writer_headers(writer, G_N_ELEMENTS(texts), texts);
        thrift_writer_body(writer, TEXT(""));
        thrift_writer_stop(writer);
        thrift_writer_stop(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_cmpuint(walk_probe_event(&walk, 0).n_headers, ==, 2);
        walk_probe_assert_header(&walk, 0, TEXT("k"), TEXT("3"));
        walk_probe_assert_header(&walk, 0, TEXT("other"), TEXT("o"));
    }
}

static void
test_the_last_of_a_repeated_field_wins_as_a_whole(void)
{
    const char *const first[] = { "a", "1", "b", "2" };
    const char *const last[] = { "c", "3" };

    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_event(writer, "first event");
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_open(writer);
        thrift_writer_headers(writer, G_N_ELEMENTS(first), first);
        thrift_writer_body(writer, TEXT("first body"));
        thrift_writer_headers(writer, G_N_ELEMENTS(last), last);
        thrift_writer_body(writer, TEXT("last"));
        thrift_writer_stop(writer);
        thrift_writer_stop(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_cmpuint(walk.n_events, ==, 1);
        g_assert_cmpuint(walk_probe_event(&walk, 0).n_headers, ==, 1);
        walk_probe_assert_header(&walk, 0, TEXT("c"), TEXT("3"));
        walk_probe_assert_body(&walk, 0, TEXT("last"));
    }
}

static void
test_the_last_of_a_repeated_list_wins_as_a_whole(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "appendBatch");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
        thrift_writer_list(writer, WIRE_TYPE_STRUCT, 2);
        thrift_writer_event(writer, "a");
        walk_probe_write_strange_event(writer, "b");
        walk_probe_write_batch(writer, 1);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_cmpuint(walk.n_events, ==, 1);
        g_assert_cmpint(walk.in_place, ==, protocol == WIRE_COMPACT);
        walk_probe_assert_body(&walk, 0, TEXT("body 0"));
    }
}

/* ---- compact forms that are legal and not canonical ---- */

static void
test_other_legal_compact_forms_are_written_anew(void)
{
    const ByteSpan events[] = {
        BYTES("\x0b\x02\x01\x88\x01k\x01v\x08\x04\x01x\x00"),         /* long field headers */
        BYTES("\x0b\x82\x80\x00\x01\x88\x01k\x01v\x18\x01x\x00"),     /* padded field number */
        BYTES("\x1b\x81\x80\x80\x80\x00\x88\x01k\x01v\x18\x01x\x00"), /* padded count */
        BYTES("\x1b\x01\x88\x81\x00k\x81\x80\x00v\x18\x81\x00x\x00"), /* padded lengths */
        BYTES("\x28\x01x\x0b\x02\x01\x88\x01k\x01v\x00"),             /* body first */
        BYTES("\x1b\x01\x88\x01k\x01v\x18\x01x\xf0"),                 /* a stop with a number */
    };

    for (guint i = 0; i < G_N_ELEMENTS(events); i++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(WIRE_COMPACT, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_raw(writer, events[i]);
        thrift_writer_stop(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);

        g_assert_false(walk.in_place);
        g_assert_true(byte_span_equal(walk_probe_event(&walk, 0).bytes,
                                      BYTES("\x1b\x01\x88\x01k\x01v\x18\x01x\x00")));
    }
}

/* ---- memory and time ---- */

static gsize
resident_bytes(void)
{
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    return (gsize) g_ascii_strtoull(strchr(text, ' '), NULL, 10) * 4096;
}

static void
walk_damaged(Walk *walk, const ThriftWriter *writer, guint n_times)
{
    g_autofree guint8 *frame = g_malloc(writer->bytes->len);

    for (guint i = 0; i < n_times; i++) {
        WireMessage message;

        memcpy(frame, writer->bytes->data, writer->bytes->len);
        frame[g_test_rand_int_range(20, (gint32) writer->bytes->len)] =
            (guint8) g_test_rand_int_range(0, 256);
        g_assert_true(wire_message_read(frame, writer->bytes->len, &message));
        walk_append_batch(walk, &message, frame, writer->bytes->len - 1);
    }
}

static void
test_a_hundred_thousand_malformed_calls_leave_memory_flat(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "appendBatch");
        g_auto(Walk) walk = { 0 };
        gsize before;

        walk_init(&walk);
        walk_probe_write_batch(writer, 50);
        walk_damaged(&walk, writer, 1000);
        before = resident_bytes();
        walk_damaged(&walk, writer, 100000);

        g_assert_cmpuint(resident_bytes(), <, before + 1024 * 1024);
    }
}

static void
test_memory_of_a_large_message_is_given_back(void)
{
    g_autoptr(ThriftWriter) writer = walk_probe_begin(WIRE_BINARY, "appendBatch");
    g_autofree guint8 *body = g_malloc0(3 << 20);
    g_auto(Walk) walk = { 0 };

    walk_init(&walk);
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRUCT, 1);
    thrift_writer_open(writer);
    thrift_writer_headers(writer, 0, NULL);
    thrift_writer_body(writer, byte_span(body, 3 << 20));
    thrift_writer_stop(writer);
    thrift_writer_stop(writer);
    g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);
    walk_shrink(&walk);

    g_assert_cmpuint(walk.rewritten_size, ==, 0);
}

/* n headers with keys of three bytes, every one different. */
static void
test_a_large_event_of_tiny_headers_takes_linear_time(void)
{
    const guint n_headers = 500000;

    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "append");
        g_auto(Walk) walk = { 0 };
        gint64 start_us;

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_open(writer);
        thrift_writer_field(writer, WIRE_TYPE_MAP, 1);
        thrift_writer_map(writer, WIRE_TYPE_STRING, WIRE_TYPE_STRING, n_headers);
        for (guint32 i = 0; i < n_headers; i++) {
            thrift_writer_string(writer, byte_span(&i, 3));
            thrift_writer_string(writer, TEXT(""));
        }
        thrift_writer_body(writer, TEXT(""));
        thrift_writer_stop(writer);
        thrift_writer_stop(writer);
        start_us = g_get_monotonic_time();

        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_GOOD);
        g_assert_cmpint(g_get_monotonic_time() - start_us, <, 20 * G_USEC_PER_SEC);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/walk/events-come-out-in-order", test_events_of_a_batch_come_out_in_order);
    g_test_add_func("/walk/canonical-is-not-copied", test_a_canonical_batch_is_not_copied);
    g_test_add_func("/walk/single", test_a_single_append_is_one_event);
    g_test_add_func("/walk/unknown-fields", test_unknown_fields_and_another_order_are_written_anew);
    g_test_add_func("/walk/nul", test_nul_and_bytes_that_are_no_text_pass_unchanged);
    g_test_add_func("/walk/empty", test_empty_is_not_absent);
    g_test_add_func("/walk/repeated-key", test_the_last_of_a_repeated_header_key_wins);
    g_test_add_func("/walk/repeated-field", test_the_last_of_a_repeated_field_wins_as_a_whole);
    g_test_add_func("/walk/repeated-list", test_the_last_of_a_repeated_list_wins_as_a_whole);
    g_test_add_func("/walk/other-compact-forms", test_other_legal_compact_forms_are_written_anew);
    g_test_add_func("/walk/memory-flat", test_a_hundred_thousand_malformed_calls_leave_memory_flat);
    g_test_add_func("/walk/memory-given-back", test_memory_of_a_large_message_is_given_back);
    g_test_add_func("/walk/linear-time", test_a_large_event_of_tiny_headers_takes_linear_time);
    return g_test_run();
}
