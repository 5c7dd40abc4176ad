/* test_call.c - the bytes of appendBatch calls. */
#include "thrift/wire/call.h"

#include <glib.h>

#include "base/batch_builder.h"

static const EventHeader one_header = { .key = { (const guint8 *) "k", 1 },
                                        .value = { (const guint8 *) "v", 1 } };

static Batch *
batch_of(guint n_events, const char *body)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);

    for (guint i = 0; i < n_events; i++)
        batch_builder_add_event(builder, &one_header, 1, byte_span_of_text(body));
    return batch_builder_finish(builder);
}

static GByteArray *
head_of(WireProtocol protocol, const BatchSlice *slices, guint n_slices, guint n_events)
{
    GByteArray *head = g_byte_array_new();

    wire_call_write_head(head, protocol, wire_frame_size(protocol, slices, n_slices), 5, n_events);
    return head;
}

static void
assert_bytes(const GByteArray *bytes, const void *expected, gsize length)
{
    g_assert_cmpmem(bytes->data, bytes->len, expected, length);
}

static void
test_a_compact_head_is_what_thrift_writes(void)
{
    static const char expected[] = "\x00\x00\x00\x1c"
                                   "\x82\x21\x05\x0b"
                                   "appendBatch"
                                   "\x19\x1c";
    g_autoptr(Batch) batch = batch_of(1, "");
    BatchSlice slice = { .batch = batch, .count = 1 };

    g_autoptr(GByteArray) head = head_of(WIRE_COMPACT, &slice, 1, 1);

    assert_bytes(head, expected, sizeof expected - 1);
}

static void
test_a_compact_list_of_fifteen_or_more_has_its_count_behind_its_type(void)
{
    g_autoptr(Batch) batch = batch_of(300, "");
    BatchSlice slice = { .batch = batch, .count = 300 };

    g_autoptr(GByteArray) head = head_of(WIRE_COMPACT, &slice, 1, 300);

    g_assert_cmpmem(head->data + head->len - 4, 4, "\x19\xfc\xac\x02", 4);
}

static void
test_a_binary_call_is_what_thrift_writes(void)
{
    static const char expected[] = "\x00\x00\x00\x3c"
                                   "\x80\x01\x00\x01\x00\x00\x00\x0b"
                                   "appendBatch"
                                   "\x00\x00\x00\x05"
                                   "\x0f\x00\x01\x0c\x00\x00\x00\x01"
                                   "\x0d\x00\x01\x0b\x0b\x00\x00\x00\x01"
                                   "\x00\x00\x00\x01k\x00\x00\x00\x01v"
                                   "\x0b\x00\x02\x00\x00\x00\x01!"
                                   "\x00";
    g_autoptr(Batch) batch = batch_of(1, "!");
    BatchSlice slice = { .batch = batch, .count = 1 };

    g_autoptr(GByteArray) call = head_of(WIRE_BINARY, &slice, 1, 1);
    wire_call_write_binary_events(call, &slice);

    assert_bytes(call, expected, sizeof expected - 1);
}

/* Length prefix and tail are the only difference. */
static void
test_a_frame_size_is_that_of_the_bytes(void)
{
    g_autoptr(Batch) batch = batch_of(40, "some body");
    BatchSlice slices[] = { { .batch = batch, .first = 3, .count = 20 },
                            { .batch = batch, .first = 0, .count = 1 } };
    gsize events = batch_span(batch, 3, 20).length + batch_span(batch, 0, 1).length;

    g_autoptr(GByteArray) compact = head_of(WIRE_COMPACT, slices, 2, 21);
    g_autoptr(GByteArray) binary = head_of(WIRE_BINARY, slices, 2, 21);
    wire_call_write_binary_events(binary, &slices[0]);
    wire_call_write_binary_events(binary, &slices[1]);

    g_assert_cmpuint(wire_frame_size(WIRE_COMPACT, slices, 2), ==, compact->len - 4 + events + 1);
    g_assert_cmpuint(wire_frame_size(WIRE_BINARY, slices, 2), ==, binary->len - 4 + 1);
}

static void
test_an_append_is_what_thrift_writes(void)
{
    static const char compact[] = "\x00\x00\x00\x17"
                                  "\x82\x21\x05\x06"
                                  "append"
                                  "\x1c";
    static const char binary[] = "\x00\x00\x00\x32"
                                 "\x80\x01\x00\x01\x00\x00\x00\x06"
                                 "append"
                                 "\x00\x00\x00\x05"
                                 "\x0c\x00\x01";
    g_autoptr(GByteArray) compact_head = g_byte_array_new();
    g_autoptr(GByteArray) binary_head = g_byte_array_new();
    g_autoptr(Batch) batch = batch_of(1, "!");
    BatchSlice event = { .batch = batch, .count = 1 };

    wire_call_write_append_head(compact_head, WIRE_COMPACT,
                                wire_append_frame_size(WIRE_COMPACT, &event), 5);
    wire_call_write_append_head(binary_head, WIRE_BINARY,
                                wire_append_frame_size(WIRE_BINARY, &event), 5);

    assert_bytes(compact_head, compact, sizeof compact - 1);
    assert_bytes(binary_head, binary, sizeof binary - 1);
    g_assert_cmpuint(wire_append_frame_size(WIRE_COMPACT, &event), ==,
                     sizeof compact - 1 - 4 + batch_span(batch, 0, 1).length + 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/call/a-compact-head-is-what-thrift-writes",
                    test_a_compact_head_is_what_thrift_writes);
    g_test_add_func("/call/a-compact-list-of-fifteen-or-more-has-its-count-behind-its-type",
                    test_a_compact_list_of_fifteen_or_more_has_its_count_behind_its_type);
    g_test_add_func("/call/a-binary-call-is-what-thrift-writes",
                    test_a_binary_call_is_what_thrift_writes);
    g_test_add_func("/call/a-frame-size-is-that-of-the-bytes",
                    test_a_frame_size_is_that_of_the_bytes);
    g_test_add_func("/call/an-append-is-what-thrift-writes", test_an_append_is_what_thrift_writes);
    return g_test_run();
}
