/* test_walk_verdicts.c - which calls are good, incomplete or malformed: the rows of the protocol,
 * in all three message formats. */
#include "thrift/wire/walk.h"

#include <glib.h>
#include <string.h>

#include "tests/support/walk_probe.h"

#define TEXT(t) byte_span_of_text(t)
#define BYTES(literal) byte_span("" literal, sizeof(literal) - 1)

typedef void (*WriteCall)(ThriftWriter *writer);

static const char *const protocol_names[] = { "compact", "binary", "old-style binary" };

static void
assert_verdict(WalkVerdict verdict, const char *name, WriteCall write)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, name);
        g_auto(Walk) walk = { 0 };

        g_test_message("%s", protocol_names[protocol]);
        walk_init(&walk);
        write(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, verdict);
        g_assert_true((walk.reason != NULL) == (verdict != WALK_GOOD));
    }
}

/* ---- good calls ---- */

static void
write_empty_batch(ThriftWriter *writer)
{
    walk_probe_write_batch(writer, 0);
}

static void
write_empty_batch_of_nothing(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STOP, 0);
    thrift_writer_stop(writer);
}

static void
test_an_empty_batch_is_good(void)
{
    assert_verdict(WALK_GOOD, "appendBatch", write_empty_batch);
    assert_verdict(WALK_GOOD, "appendBatch", write_empty_batch_of_nothing);
}

/* ---- bytes ---- */

static void
test_malformed_compact_events_are_refused(void)
{
    const ByteSpan events[] = {
        BYTES("\x1b\x00\x18\x80\x80\x80\x80\x80\x00\x00"), /* six bytes of length */
        BYTES("\x1b\x00\x18\x80\x80\x80\x80\x10\x00"),     /* 2^32 */
        BYTES("\x1b\x00\x18\xff\xff\xff\xff\x0f\x00"),     /* -1 */
        BYTES("\x1b\xff\xff\xff\xff\x0f\x88\x18\x00\x00"), /* count -1 */
        BYTES("\x1b\x80\x80\x80\x80\x80\x00\x18\x00\x00"), /* six bytes of count */
        BYTES("\x0b\x80\x80\x04\x00\x18\x00\x00"),         /* field number of 17 bits */
        BYTES("\x1b\x01\x85\x01k\x02\x18\x00\x00"),        /* map of string to i32 */
        BYTES("\x1b\x01\x80\x01k\x18\x00\x00"),            /* map of string to nothing */
        BYTES("\x1b\x01\x8d\x01k\x18\x00\x00"),            /* ... to type 13 */
        BYTES("\x1b\x00\x18\x00\x1d\x00"),                 /* field of type 13 */
        BYTES("\x1b\x00\x18\x00\x16\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x00"), /* 2^64 */
        BYTES("\x1b\x00\x18\x00\x15\x80\x80\x80\x80\x10\x00"),     /* i32 of 33 bits */
        BYTES("\x1b\x00\x18\x00\x19\x1d\x00\x00"),                 /* list of type 13 */
        BYTES("\x1b\x00\x18\x00\x19\xf5\xff\xff\xff\xff\x07\x00"), /* list of 2^31 - 1 */
        BYTES("\x1b\x00\x18\x00\x17\x00\x00\x00\x00"),             /* half a double */
    };

    for (guint i = 0; i < G_N_ELEMENTS(events); i++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(WIRE_COMPACT, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_raw(writer, events[i]);
        thrift_writer_stop(writer);

        g_test_message("event %u", i);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_MALFORMED);
        g_assert_nonnull(walk.reason);
    }
}

static void
test_malformed_binary_events_are_refused(void)
{
    const ByteSpan events[] = {
        BYTES("\x0d\x00\x01\x0b\x0b\xff\xff\xff\xff\x0b\x00\x02\x00\x00\x00\x00\x00"), /* count */
        BYTES("\x0d\x00\x01\x0b\x0b\x00\x00\x00\x00\x0b\x00\x02\xff\xff\xff\xff\x00"), /* length */
        BYTES("\x0d\x00\x01\x0b\x0b\x00\x00\x00\x00\x0b\x00\x02\x7f\xff\xff\xff\x00"), /* length */
        BYTES("\x0d\x00\x01\x0b\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"), /* types */
        BYTES(
            "\x0d\x00\x01\x0b\x0b\x20\x00\x00\x00\x0b\x00\x02\x00\x00\x00\x00\x00"), /* 2^29 x 8 */
        BYTES("\x01\x00\x03\x00"),                                                   /* void */
        BYTES("\x05\x00\x03\x00"),                         /* a number that is no type */
        BYTES("\x10\x00\x03\x00"),                         /* uuid, which 0.17 does not have */
        BYTES("\x0f\x00\x03\x10\x00\x00\x00\x01\x00\x00"), /* list of such */
        BYTES("\x0f\x00\x03\x00\x00\x00\x00\x01\x00\x00"), /* list of stops */
        BYTES("\x0f\x00\x03\x0a\x20\x00\x00\x00\x00"),     /* 2^29 x 8 bytes */
    };

    for (guint i = 0; i < G_N_ELEMENTS(events); i++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(WIRE_BINARY, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_raw(writer, events[i]);
        thrift_writer_stop(writer);

        g_test_message("event %u", i);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_MALFORMED);
    }
}

/* ---- calls that lack something ---- */

static void
write_no_argument(ThriftWriter *writer)
{
    thrift_writer_stop(writer);
}

static void
write_argument_of_another_type(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_I32, 1);
    thrift_writer_integer(writer, WIRE_TYPE_I32, 5);
    thrift_writer_stop(writer);
}

static void
write_argument_of_another_number(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_STRUCT, 2);
    thrift_writer_event(writer, "x");
    thrift_writer_stop(writer);
}

static void
test_a_call_without_its_argument_is_incomplete(void)
{
    assert_verdict(WALK_INCOMPLETE, "append", write_no_argument);
    assert_verdict(WALK_INCOMPLETE, "append", write_argument_of_another_type);
    assert_verdict(WALK_INCOMPLETE, "append", write_argument_of_another_number);
    assert_verdict(WALK_INCOMPLETE, "append", write_empty_batch);
    assert_verdict(WALK_INCOMPLETE, "appendBatch", write_no_argument);
    assert_verdict(WALK_INCOMPLETE, "appendBatch", write_argument_of_another_type);
    assert_verdict(WALK_INCOMPLETE, "appendBatch", walk_probe_write_single);
}

static void
write_batch_with_an_empty_event(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRUCT, 3);
    thrift_writer_event(writer, "x");
    thrift_writer_open(writer);
    thrift_writer_stop(writer);
    thrift_writer_event(writer, "y");
    thrift_writer_stop(writer);
}

static void
write_event_without_body(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
    thrift_writer_open(writer);
    thrift_writer_headers(writer, 0, NULL);
    thrift_writer_stop(writer);
    thrift_writer_stop(writer);
}

static void
write_event_without_headers(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
    thrift_writer_open(writer);
    thrift_writer_body(writer, TEXT("x"));
    thrift_writer_stop(writer);
    thrift_writer_stop(writer);
}

static void
write_event_with_a_number_for_a_body(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
    thrift_writer_open(writer);
    thrift_writer_headers(writer, 0, NULL);
    thrift_writer_field(writer, WIRE_TYPE_I64, 2);
    thrift_writer_integer(writer, WIRE_TYPE_I64, 2);
    thrift_writer_stop(writer);
    thrift_writer_stop(writer);
}

static void
test_an_event_that_lacks_a_required_field_makes_the_call_incomplete(void)
{
    assert_verdict(WALK_INCOMPLETE, "appendBatch", write_batch_with_an_empty_event);
    assert_verdict(WALK_INCOMPLETE, "append", write_event_without_body);
    assert_verdict(WALK_INCOMPLETE, "append", write_event_without_headers);
    assert_verdict(WALK_INCOMPLETE, "append", write_event_with_a_number_for_a_body);
}

static void
write_incomplete_then_a_byte_more(ThriftWriter *writer)
{
    write_event_without_body(writer);
    thrift_writer_raw(writer, BYTES("\x00"));
}

static void
test_malformed_beats_incomplete(void)
{
    assert_verdict(WALK_MALFORMED, "append", write_incomplete_then_a_byte_more);
}

/* ---- calls that cannot be trusted ---- */

static void
write_single_then_a_byte_more(ThriftWriter *writer)
{
    walk_probe_write_single(writer);
    thrift_writer_raw(writer, BYTES("\x00"));
}

static void
write_batch_of_strings(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRING, 1);
    thrift_writer_string(writer, TEXT("x"));
    thrift_writer_stop(writer);
}

/* Its bytes would do for an event. */
static void
write_batch_of_strings_that_look_like_events(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRING, 1);
    thrift_writer_event(writer, "x");
    thrift_writer_stop(writer);
}

static void
write_batch_that_claims_more(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRUCT, G_MAXINT32);
    thrift_writer_event(writer, "x");
    thrift_writer_stop(writer);
}

static void
test_what_cannot_be_trusted_is_malformed(void)
{
    assert_verdict(WALK_MALFORMED, "append", write_single_then_a_byte_more);
    assert_verdict(WALK_MALFORMED, "appendBatch", write_batch_of_strings);
    assert_verdict(WALK_MALFORMED, "appendBatch", write_batch_of_strings_that_look_like_events);
    assert_verdict(WALK_MALFORMED, "appendBatch", write_batch_that_claims_more);
}

static void
write_unknown_fields_and_stop(ThriftWriter *writer)
{
    walk_probe_write_unknown_fields(writer);
    thrift_writer_stop(writer);
}

static void
test_arguments_of_other_methods_are_only_checked(void)
{
    assert_verdict(WALK_GOOD, "somethingElse", write_unknown_fields_and_stop);
    assert_verdict(WALK_GOOD, "somethingElse", write_no_argument);
    assert_verdict(WALK_MALFORMED, "somethingElse", write_single_then_a_byte_more);
}

/* A field that nests n values: structs, or lists if so asked. */
static void
write_nested(ThriftWriter *writer, guint n_levels, WireType type)
{
    thrift_writer_field(writer, type, 7);
    for (guint level = 1; level < n_levels; level++) {
        if (type == WIRE_TYPE_LIST) {
            thrift_writer_list(writer, WIRE_TYPE_LIST, 1);
            continue;
        }
        thrift_writer_open(writer);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
    }
    if (type == WIRE_TYPE_LIST) {
        thrift_writer_list(writer, WIRE_TYPE_LIST, 0);
        return;
    }
    thrift_writer_open(writer);
    for (guint level = 0; level < n_levels; level++)
        thrift_writer_stop(writer);
}

static void
assert_depth(WalkVerdict verdict, guint n_levels, WireType type)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "append");
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
        thrift_writer_open(writer);
        thrift_writer_headers(writer, 0, NULL);
        thrift_writer_body(writer, TEXT("x"));
        write_nested(writer, n_levels, type);
        thrift_writer_stop(writer);
        thrift_writer_stop(writer);
        g_assert_cmpint(walk_probe_run(&walk, writer), ==, verdict);
    }
}

static void
test_values_may_be_nested_64_deep_and_no_deeper(void)
{
    assert_depth(WALK_GOOD, WALK_MAX_DEPTH, WIRE_TYPE_STRUCT);
    assert_depth(WALK_GOOD, WALK_MAX_DEPTH, WIRE_TYPE_LIST);
    assert_depth(WALK_MALFORMED, WALK_MAX_DEPTH + 1, WIRE_TYPE_STRUCT);
    assert_depth(WALK_MALFORMED, WALK_MAX_DEPTH + 1, WIRE_TYPE_LIST);
}

static void
test_a_hundred_thousand_nested_structs_do_not_overflow_the_stack(void)
{
    g_autoptr(ThriftWriter) writer = walk_probe_begin(WIRE_COMPACT, "append");
    g_auto(Walk) walk = { 0 };

    walk_init(&walk);
    for (guint i = 0; i < 150000; i++)
        thrift_writer_raw(writer, BYTES("\x2c"));

    g_assert_cmpint(walk_probe_run(&walk, writer), ==, WALK_MALFORMED);
}

static void
test_a_call_cut_anywhere_is_malformed(void)
{
    for (WireProtocol protocol = WIRE_COMPACT; protocol <= WIRE_BINARY_OLD; protocol++) {
        g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "appendBatch");
        guint header_length = writer->bytes->len;
        g_auto(Walk) walk = { 0 };

        walk_init(&walk);
        thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
        thrift_writer_list(writer, WIRE_TYPE_STRUCT, 3);
        thrift_writer_event(writer, "plain");
        walk_probe_write_strange_event(writer, "strange");
        thrift_writer_event(writer, "plain");
        thrift_writer_stop(writer);
        for (guint length = header_length; length < writer->bytes->len; length++)
            g_assert_cmpint(walk_probe_bytes(&walk, writer->bytes->data, length), ==,
                            WALK_MALFORMED);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/walk/empty-batch", test_an_empty_batch_is_good);
    g_test_add_func("/walk/malformed-compact", test_malformed_compact_events_are_refused);
    g_test_add_func("/walk/malformed-binary", test_malformed_binary_events_are_refused);
    g_test_add_func("/walk/no-argument", test_a_call_without_its_argument_is_incomplete);
    g_test_add_func("/walk/no-required-field",
                    test_an_event_that_lacks_a_required_field_makes_the_call_incomplete);
    g_test_add_func("/walk/malformed-beats-incomplete", test_malformed_beats_incomplete);
    g_test_add_func("/walk/not-trusted", test_what_cannot_be_trusted_is_malformed);
    g_test_add_func("/walk/depth", test_values_may_be_nested_64_deep_and_no_deeper);
    g_test_add_func("/walk/stack",
                    test_a_hundred_thousand_nested_structs_do_not_overflow_the_stack);
    g_test_add_func("/walk/cut-anywhere", test_a_call_cut_anywhere_is_malformed);
    g_test_add_func("/walk/other-methods", test_arguments_of_other_methods_are_only_checked);
    return g_test_run();
}
