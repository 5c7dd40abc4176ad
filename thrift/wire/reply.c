/* reply.c - replies as bytes: a status, or a TApplicationException. */
#include "thrift/wire/reply.h"

#include <glib.h>
#include <string.h>

#include "thrift/wire/reader.h"

#define LENGTH_PREFIX 4

/* ---- writing ---- */

static void
append_byte(GByteArray *out, guint8 byte)
{
    g_byte_array_append(out, &byte, 1);
}

static void
append_be32(GByteArray *out, guint32 value)
{
    value = GUINT32_TO_BE(value);
    g_byte_array_append(out, (const guint8 *) &value, sizeof value);
}

static void
append_varint(GByteArray *out, guint32 value)
{
    for (; value >= 0x80; value >>= 7)
        append_byte(out, (guint8) (value | 0x80));
    append_byte(out, (guint8) value);
}

static guint32
to_zigzag(gint32 value)
{
    return (guint32) value << 1 ^ (guint32) (value >> 31);
}

static void
append_compact_string(GByteArray *out, ByteSpan text)
{
    append_varint(out, (guint32) text.length);
    g_byte_array_append(out, text.data, (guint) text.length);
}

static void
append_binary_string(GByteArray *out, ByteSpan text)
{
    append_be32(out, (guint32) text.length);
    g_byte_array_append(out, text.data, (guint) text.length);
}

static void
append_header(GByteArray *out, const WireMessage *request, WireMessageType type)
{
    if (request->protocol == WIRE_COMPACT) {
        append_byte(out, 0x82);
        append_byte(out, (guint8) (type << 5 | 1));
        append_varint(out, (guint32) request->sequence_id);
        append_compact_string(out, request->name);
        return;
    }
    /* Strict also for an old-style request, as Java's TBinaryProtocol.Factory has it: its readers
     * take both. */
    append_be32(out, 0x80010000u | type);
    append_binary_string(out, request->name);
    append_be32(out, (guint32) request->sequence_id);
}

/* Where the length prefix stands that end_frame fills in. */
static guint
begin_frame(GByteArray *out)
{
    guint start = out->len;

    append_be32(out, 0);
    return start;
}

static void
end_frame(GByteArray *out, guint start)
{
    guint32 length = GUINT32_TO_BE(out->len - start - LENGTH_PREFIX);

    memcpy(out->data + start, &length, sizeof length);
}

void
wire_reply_write_status(GByteArray *out, const WireMessage *request, WireStatus status)
{
    guint start = begin_frame(out);

    append_header(out, request, WIRE_REPLY);
    if (request->protocol == WIRE_COMPACT) {
        append_byte(out, 0x05); /* i32, number in full: 0 is no step up from 0 */
        append_byte(out, 0);
        append_varint(out, to_zigzag((gint32) status));
    } else {
        append_byte(out, WIRE_TYPE_I32);
        append_byte(out, 0);
        append_byte(out, 0);
        append_be32(out, status);
    }
    append_byte(out, WIRE_TYPE_STOP);
    end_frame(out, start);
}

void
wire_reply_write_exception(GByteArray *out, const WireMessage *request, WireExceptionType type,
                           const char *text)
{
    guint start = begin_frame(out);

    append_header(out, request, WIRE_EXCEPTION);
    if (request->protocol == WIRE_COMPACT) {
        append_byte(out, 0x18); /* field 1, binary */
        append_compact_string(out, byte_span_of_text(text));
        append_byte(out, 0x15); /* field 2, i32 */
        append_varint(out, to_zigzag((gint32) type));
    } else {
        g_byte_array_append(out, (const guint8[]){ WIRE_TYPE_STRING, 0, 1 }, 3);
        append_binary_string(out, byte_span_of_text(text));
        g_byte_array_append(out, (const guint8[]){ WIRE_TYPE_I32, 0, 2 }, 3);
        append_be32(out, type);
    }
    append_byte(out, WIRE_TYPE_STOP);
    end_frame(out, start);
}

/* ---- reading ---- */

static gboolean
read_integer(const WireReader *reader, WireCursor *cursor, gint32 *ret_value)
{
    gint64 value;

    if (!reader->read_integer(cursor, WIRE_TYPE_I32, &value))
        return FALSE;
    *ret_value = (gint32) value;
    return TRUE;
}

static gboolean
read_result_field(const WireReader *reader, WireCursor *cursor, gint16 id, WireType type,
                  WireReply *reply)
{
    if (!reply->is_exception && id == 0 && type == WIRE_TYPE_I32)
        return read_integer(reader, cursor, &reply->status);
    if (reply->is_exception && id == 1 && type == WIRE_TYPE_STRING)
        return reader->read_string(cursor, &reply->exception_text);
    if (reply->is_exception && id == 2 && type == WIRE_TYPE_I32)
        return read_integer(reader, cursor, &reply->exception_type);
    return wire_reader_skip(reader, cursor, type);
}

static gboolean
read_result(WireCursor *cursor, WireReply *reply)
{
    const WireReader *reader = wire_reader_for(reply->message.protocol);
    gint16 id = 0;
    WireType type;

    while (reader->read_field(cursor, &id, &type)) {
        if (type == WIRE_TYPE_STOP)
            return wire_cursor_left(cursor) == 0;
        if (!read_result_field(reader, cursor, id, type, reply))
            return FALSE;
    }
    return FALSE;
}

static gboolean
is_our_method(ByteSpan name)
{
    return byte_span_equal(name, byte_span_of_text("append")) ||
           byte_span_equal(name, byte_span_of_text("appendBatch"));
}

gboolean
wire_reply_read(const guint8 *data, gsize length, WireReply *ret_reply)
{
    WireReply reply = { .status = -1 };
    WireCursor cursor;

    if (!wire_message_read(data, length, &reply.message))
        return FALSE;
    reply.is_exception = reply.message.type == WIRE_EXCEPTION;
    /* An exception may carry any name: some servers have none to give. */
    if (!reply.is_exception &&
        (reply.message.type != WIRE_REPLY || !is_our_method(reply.message.name)))
        return FALSE;
    cursor = wire_cursor(data + reply.message.length, length - reply.message.length);
    if (!read_result(&cursor, &reply))
        return FALSE;
    *ret_reply = reply;
    return TRUE;
}
