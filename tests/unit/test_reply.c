/* test_reply.c - message headers and replies, against bytes that Debian's python3-thrift wrote. */
#include "thrift/wire/reply.h"

#include <glib.h>
#include <string.h>

#include "base/span.h"

#define TEXT(t) byte_span_of_text(t)
#define BYTES(literal) byte_span("" literal, sizeof(literal) - 1)

static const ByteSpan compact_ok = { (const guint8 *) "\x00\x00\x00\x0e\x82\x41\x01\x06"
                                                      "append\x05\x00\x00\x00",
                                     18 };
static const ByteSpan compact_failed = {
    (const guint8 *) "\x00\x00\x00\x17\x82\x41\xff\xff\xff\xff\x0f\x0b"
                     "appendBatch\x05\x00\x02\x00",
    27
};
static const ByteSpan compact_exception = { (const guint8 *) "\x00\x00\x00\x12\x82\x61\x07\x06"
                                                             "append\x18\x03"
                                                             "bad\x15\x0e\x00",
                                            22 };
static const ByteSpan binary_ok = {
    (const guint8 *) "\x00\x00\x00\x1a\x80\x01\x00\x02\x00\x00\x00\x06"
                     "append\x00\x00\x00\x01\x08\x00\x00\x00\x00\x00\x00\x00",
    30
};
static const ByteSpan binary_failed = {
    (const guint8 *) "\x00\x00\x00\x1f\x80\x01\x00\x02\x00\x00\x00\x0b"
                     "appendBatch\xff\xff\xff\xff\x08\x00\x00\x00\x00\x00\x01\x00",
    35
};
static const ByteSpan binary_exception = {
    (const guint8 *) "\x00\x00\x00\x24\x80\x01\x00\x03\x00\x00\x00\x06"
                     "append\x00\x00\x00\x07\x0b\x00\x01\x00\x00\x00\x03"
                     "bad\x08\x00\x02\x00\x00\x00\x07\x00",
    40
};

static WireMessage
request(WireProtocol protocol, const char *name, gint32 sequence_id)
{
    return (WireMessage){
        .protocol = protocol, .type = WIRE_CALL, .sequence_id = sequence_id, .name = TEXT(name)
    };
}

static void
assert_status_bytes(WireProtocol protocol, const char *name, gint32 sequence_id, WireStatus status,
                    ByteSpan expected)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    WireMessage message = request(protocol, name, sequence_id);

    g_byte_array_append(out, (const guint8 *) "before", 6);
    wire_reply_write_status(out, &message, status);

    g_assert_cmpmem(out->data + 6, out->len - 6, expected.data, expected.length);
}

static void
assert_exception_bytes(WireProtocol protocol, ByteSpan expected)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    WireMessage message = request(protocol, "append", 7);

    wire_reply_write_exception(out, &message, WIRE_EXCEPTION_PROTOCOL_ERROR, "bad");

    g_assert_cmpmem(out->data, out->len, expected.data, expected.length);
}

static void
test_replies_have_the_bytes_that_python_writes(void)
{
    assert_status_bytes(WIRE_COMPACT, "append", 1, WIRE_STATUS_OK, compact_ok);
    assert_status_bytes(WIRE_COMPACT, "appendBatch", -1, WIRE_STATUS_FAILED, compact_failed);
    assert_status_bytes(WIRE_BINARY, "append", 1, WIRE_STATUS_OK, binary_ok);
    assert_status_bytes(WIRE_BINARY, "appendBatch", -1, WIRE_STATUS_FAILED, binary_failed);
    assert_exception_bytes(WIRE_COMPACT, compact_exception);
    assert_exception_bytes(WIRE_BINARY, binary_exception);
}

static void
test_an_old_style_request_is_answered_strictly(void)
{
    assert_status_bytes(WIRE_BINARY_OLD, "append", 1, WIRE_STATUS_OK, binary_ok);
    assert_exception_bytes(WIRE_BINARY_OLD, binary_exception);
}

static void
assert_reads(ByteSpan frame, const WireReply *expected)
{
    /* In memory of its own, so that a sanitizer sees a read past the end. */
    gsize length = frame.length - 4;
    g_autofree guint8 *copy = g_memdup2(frame.data + 4, length);
    WireReply reply;

    g_assert_true(wire_reply_read(copy, length, &reply));
    g_assert_cmpint(reply.status, ==, expected->status);
    g_assert_cmpint(reply.message.sequence_id, ==, expected->message.sequence_id);
    g_assert_cmpint(reply.is_exception, ==, expected->is_exception);
    g_assert_cmpint(reply.exception_type, ==, expected->exception_type);
    g_assert_true(byte_span_equal(reply.exception_text, expected->exception_text));
    while (length-- > 0) {
        g_autofree guint8 *cut = g_memdup2(copy, length);

        g_assert_false(wire_reply_read(cut, length, &reply));
    }
}

static void
test_replies_are_read_and_a_cut_one_is_none(void)
{
    const WireReply ok = { .status = 0, .message.sequence_id = 1 };
    const WireReply failed = { .status = 1, .message.sequence_id = -1 };
    const WireReply exception = { .status = -1,
                                  .message.sequence_id = 7,
                                  .is_exception = TRUE,
                                  .exception_type = WIRE_EXCEPTION_PROTOCOL_ERROR,
                                  .exception_text = TEXT("bad") };

    assert_reads(compact_ok, &ok);
    assert_reads(compact_failed, &failed);
    assert_reads(compact_exception, &exception);
    assert_reads(binary_ok, &ok);
    assert_reads(binary_failed, &failed);
    assert_reads(binary_exception, &exception);
}

static void
test_a_reply_with_a_field_more_is_read(void)
{
    const WireReply failed = { .status = 1, .message.sequence_id = 1 };

    assert_reads(BYTES("\x00\x00\x00\x00\x82\x41\x01\x06"
                       "append\x18\x01x\x05\x00\x02\x00"),
                 &failed);
}

static void
test_a_reply_without_a_status_says_so(void)
{
    const WireReply none = { .status = -1, .message.sequence_id = 1 };

    assert_reads(BYTES("\x00\x00\x00\x00\x82\x41\x01\x06"
                       "append\x00"),
                 &none);
}

static gboolean
reads(ByteSpan bytes)
{
    g_autofree guint8 *copy = g_memdup2(bytes.data, bytes.length);
    WireReply reply;

    return wire_reply_read(copy, bytes.length, &reply);
}

static void
test_what_is_no_reply_to_us_is_refused(void)
{
    g_assert_false(reads(BYTES("\x82\x21\x01\x06"
                               "append\x05\x00\x00\x00"))); /* a call */
    g_assert_false(reads(BYTES("\x82\x41\x01\x05"
                               "other\x05\x00\x00\x00")));
    g_assert_false(reads(BYTES("\x82\x41\x01\x06"
                               "append\x05\x00\x00\x00\x00"))); /* a byte more */
    g_assert_false(reads(BYTES("HTTP/1.1 400 Bad Request\r\n\r\n")));
    g_assert_false(reads(BYTES("")));
}

static void
assert_header(ByteSpan bytes, WireProtocol protocol, guint8 type, gint32 sequence_id,
              const char *name)
{
    g_autofree guint8 *copy = g_memdup2(bytes.data, bytes.length);
    WireMessage message;

    g_assert_true(wire_message_read(copy, bytes.length, &message));
    g_assert_cmpint(message.protocol, ==, protocol);
    g_assert_cmpint(message.type, ==, type);
    g_assert_cmpint(message.sequence_id, ==, sequence_id);
    g_assert_true(byte_span_equal(message.name, TEXT(name)));
    g_assert_cmpuint(message.length, ==, bytes.length);
    for (gsize length = 0; length < bytes.length; length++) {
        g_autofree guint8 *cut = g_memdup2(bytes.data, length);

        g_assert_false(wire_message_read(cut, length, &message));
    }
}

static void
test_message_headers_of_three_formats_are_read(void)
{
    assert_header(BYTES("\x82\x21\xff\xff\xff\xff\x0f\x03"
                        "abc"),
                  WIRE_COMPACT, WIRE_CALL, -1, "abc");
    assert_header(BYTES("\x80\x01\x00\x01\x00\x00\x00\x03"
                        "abc\x12\x34\x56\x78"),
                  WIRE_BINARY, WIRE_CALL, 0x12345678, "abc");
    assert_header(BYTES("\x00\x00\x00\x03"
                        "abc\x04\x80\x00\x00\x00"),
                  WIRE_BINARY_OLD, WIRE_ONEWAY, G_MININT32, "abc");
    assert_header(BYTES("\x82\xe1\x00\x00"), WIRE_COMPACT, 7, 0, "");
}

static gboolean
reads_header(ByteSpan bytes)
{
    g_autofree guint8 *copy = g_memdup2(bytes.data, bytes.length);
    WireMessage message;

    return wire_message_read(copy, bytes.length, &message);
}

static void
test_other_bytes_are_no_message_header(void)
{
    g_assert_false(reads_header(BYTES("\x82\x22\x01\x01x")));                    /* version 2 */
    g_assert_false(reads_header(BYTES("\x82\x21\x80\x80\x80\x80\x80\x00\x00"))); /* over-long */
    g_assert_false(reads_header(BYTES("\x82\x21\xff\xff\xff\xff\x1f\x00")));     /* 33 bits */
    g_assert_false(reads_header(BYTES("\x82\x21\x01\xff\xff\xff\xff\x0fx")));    /* name of -1 */
    g_assert_false(reads_header(BYTES("\x80\x02\x00\x01\x00\x00\x00\x01x\x00\x00\x00\x00")));
    g_assert_false(reads_header(BYTES("\x80\x01\x00\x01\xff\xff\xff\xffx\x00\x00\x00\x00")));
    g_assert_false(reads_header(BYTES("\x00\xff\xff\xffx\x01\x00\x00\x00\x00")));
    g_assert_false(reads_header(BYTES("GET / HTTP/1.1\r\n")));
    g_assert_false(reads_header(BYTES("\x16\x03\x01\x02\x00\x01")));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reply/the-bytes-that-python-writes",
                    test_replies_have_the_bytes_that_python_writes);
    g_test_add_func("/reply/an-old-style-request-is-answered-strictly",
                    test_an_old_style_request_is_answered_strictly);
    g_test_add_func("/reply/read-and-a-cut-one-is-none",
                    test_replies_are_read_and_a_cut_one_is_none);
    g_test_add_func("/reply/with-a-field-more", test_a_reply_with_a_field_more_is_read);
    g_test_add_func("/reply/without-a-status", test_a_reply_without_a_status_says_so);
    g_test_add_func("/reply/what-is-no-reply-to-us", test_what_is_no_reply_to_us_is_refused);
    g_test_add_func("/message/three-formats", test_message_headers_of_three_formats_are_read);
    g_test_add_func("/message/other-bytes", test_other_bytes_are_no_message_header);
    return g_test_run();
}
