/* message.c - message headers of the compact and the binary protocol. */
#include "thrift/wire/message.h"

#include <glib.h>

#include "thrift/wire/reader.h"

#define COMPACT_ID 0x82
#define COMPACT_VERSION 1
#define BINARY_VERSION 0x80010000u

static gboolean
read_compact(WireCursor *cursor, WireMessage *message)
{
    guint8 id;
    guint8 version_and_type;
    guint32 sequence_id;

    if (!wire_cursor_read_byte(cursor, &id) || !wire_cursor_read_byte(cursor, &version_and_type))
        return FALSE;
    if (id != COMPACT_ID || (version_and_type & 0x1f) != COMPACT_VERSION)
        return FALSE;
    if (!wire_cursor_read_varint32(cursor, &sequence_id))
        return FALSE;
    message->type = version_and_type >> 5;
    message->sequence_id = (gint32) sequence_id;
    return wire_reader_compact.read_string(cursor, &message->name);
}

static gboolean
read_binary_strict(WireCursor *cursor, WireMessage *message)
{
    guint32 version_and_type;
    guint32 sequence_id;

    if (!wire_cursor_read_be32(cursor, &version_and_type) ||
        (version_and_type & 0xffff0000u) != BINARY_VERSION)
        return FALSE;
    if (!wire_reader_binary.read_string(cursor, &message->name) ||
        !wire_cursor_read_be32(cursor, &sequence_id))
        return FALSE;
    message->type = version_and_type & 0xff;
    message->sequence_id = (gint32) sequence_id;
    return TRUE;
}

static gboolean
read_binary_old(WireCursor *cursor, WireMessage *message)
{
    guint32 sequence_id;

    if (!wire_reader_binary.read_string(cursor, &message->name) ||
        !wire_cursor_read_byte(cursor, &message->type) ||
        !wire_cursor_read_be32(cursor, &sequence_id))
        return FALSE;
    message->sequence_id = (gint32) sequence_id;
    return TRUE;
}

static gboolean
read_any(WireCursor *cursor, WireMessage *message)
{
    if (wire_cursor_left(cursor) == 0)
        return FALSE;
    switch (*cursor->at) {
    case COMPACT_ID:
        message->protocol = WIRE_COMPACT;
        return read_compact(cursor, message);
    case BINARY_VERSION >> 24:
        message->protocol = WIRE_BINARY;
        return read_binary_strict(cursor, message);
    case 0:
        message->protocol = WIRE_BINARY_OLD;
        return read_binary_old(cursor, message);
    default:
        return FALSE;
    }
}

gboolean
wire_message_read(const guint8 *data, gsize length, WireMessage *ret_message)
{
    WireCursor cursor = wire_cursor(data, length);
    WireMessage message = { 0 };

    if (!read_any(&cursor, &message))
        return FALSE;
    message.length = (gsize) (cursor.at - data);
    *ret_message = message;
    return TRUE;
}
