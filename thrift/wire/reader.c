/* reader.c - what both encodings share: bounds, and passing over values nobody asked for. */
#include "thrift/wire/reader.h"

#include <glib.h>
#include <string.h>

const WireReader *
wire_reader_for(WireProtocol protocol)
{
    return protocol == WIRE_COMPACT ? &wire_reader_compact : &wire_reader_binary;
}

/* ---- cursor ---- */

gboolean
wire_cursor_read_varint(WireCursor *self, guint max_bytes, guint64 max_value, guint64 *ret_value)
{
    guint64 value = 0;
    guint8 byte = 0x80;

    for (guint i = 0; byte & 0x80; i++) {
        if (i == max_bytes)
            return wire_cursor_fail(self, "an integer is over-long");
        if (!wire_cursor_read_byte(self, &byte))
            return FALSE;
        if (i == 9 && byte > 1)
            return wire_cursor_fail(self, "an integer is over-long");
        value |= (guint64) (byte & 0x7f) << (7 * i);
    }
    if (value > max_value)
        return wire_cursor_fail(self, "an integer is over-long");
    *ret_value = value;
    return TRUE;
}

gboolean
wire_cursor_read_varint32(WireCursor *self, guint32 *ret_value)
{
    guint64 value;

    if (G_LIKELY(self->at < self->end && *self->at < 0x80)) {
        *ret_value = *self->at++;
        return TRUE;
    }
    if (!wire_cursor_read_varint(self, 5, G_MAXUINT32, &value))
        return FALSE;
    *ret_value = (guint32) value;
    return TRUE;
}

gboolean
wire_cursor_read_be32(WireCursor *self, guint32 *ret_value)
{
    guint32 value;

    if (G_UNLIKELY(wire_cursor_left(self) < sizeof value))
        return wire_cursor_fail(self, "the frame ends too early");
    memcpy(&value, self->at, sizeof value);
    self->at += sizeof value;
    *ret_value = GUINT32_FROM_BE(value);
    return TRUE;
}

/* ---- containers ---- */

static gboolean
check_count(WireCursor *cursor, guint32 count, gsize element_size)
{
    if (count > wire_cursor_left(cursor) / element_size)
        return wire_cursor_fail(cursor, "a container claims more than the frame can hold");
    return TRUE;
}

gboolean
wire_reader_check_list(const WireReader *self, WireCursor *cursor, WireType element, guint32 count)
{
    gsize size = self->minimum_sizes[element];

    if (count == 0)
        return TRUE;
    if (size == 0)
        return wire_cursor_fail(cursor, "a container holds values of no known type");
    return check_count(cursor, count, size);
}

gboolean
wire_reader_check_map(const WireReader *self, WireCursor *cursor, WireType key, WireType value,
                      guint32 count)
{
    gsize key_size = self->minimum_sizes[key];
    gsize value_size = self->minimum_sizes[value];

    if (count == 0)
        return TRUE;
    if (key_size == 0 || value_size == 0)
        return wire_cursor_fail(cursor, "a container holds values of no known type");
    return check_count(cursor, count, key_size + value_size);
}

/* ---- skipping ---- */

static gboolean skip_value(const WireReader *self, WireCursor *cursor, WireType type, guint depth);

static gboolean
skip_struct(const WireReader *self, WireCursor *cursor, guint depth)
{
    gint16 id = 0;
    WireType type;

    while (self->read_field(cursor, &id, &type)) {
        if (type == WIRE_TYPE_STOP)
            return TRUE;
        if (!skip_value(self, cursor, type, depth))
            return FALSE;
    }
    return FALSE;
}

/* count times an element of the first type and one of the second, which is WIRE_TYPE_VOID in a
 * list. */
static gboolean
skip_elements(const WireReader *self, WireCursor *cursor, guint32 count, WireType first,
              WireType second, guint depth)
{
    gboolean second_fixed = second == WIRE_TYPE_VOID || self->sizes[second] > 0;
    ByteSpan skipped;

    if (count == 0)
        return TRUE;
    if (self->sizes[first] > 0 && second_fixed)
        return wire_cursor_read_span(
            cursor, (gsize) count * (self->sizes[first] + self->sizes[second]), &skipped);
    for (guint32 i = 0; i < count; i++)
        if (!skip_value(self, cursor, first, depth) || !skip_value(self, cursor, second, depth))
            return FALSE;
    return TRUE;
}

static gboolean
skip_nested(const WireReader *self, WireCursor *cursor, WireType type, guint depth)
{
    WireType first;
    WireType second = WIRE_TYPE_VOID;
    guint32 count;

    if (depth > READER_MAX_DEPTH)
        return wire_cursor_fail(cursor, "values are nested more than 64 deep");
    if (type == WIRE_TYPE_STRUCT)
        return skip_struct(self, cursor, depth);
    if (type == WIRE_TYPE_MAP)
        return self->read_map(cursor, &first, &second, &count) &&
               skip_elements(self, cursor, count, first, second, depth);
    return self->read_list(cursor, &first, &count) &&
           skip_elements(self, cursor, count, first, second, depth);
}

static gboolean
skip_value(const WireReader *self, WireCursor *cursor, WireType type, guint depth)
{
    ByteSpan skipped;
    gint64 integer;

    switch (type) {
    case WIRE_TYPE_VOID:
        return TRUE;
    case WIRE_TYPE_BOOL:
    case WIRE_TYPE_BYTE:
    case WIRE_TYPE_DOUBLE:
        return wire_cursor_read_span(cursor, self->sizes[type], &skipped);
    case WIRE_TYPE_I16:
    case WIRE_TYPE_I32:
    case WIRE_TYPE_I64:
        return self->read_integer(cursor, type, &integer);
    case WIRE_TYPE_STRING:
        return self->read_string(cursor, &skipped);
    case WIRE_TYPE_STRUCT:
    case WIRE_TYPE_MAP:
    case WIRE_TYPE_SET:
    case WIRE_TYPE_LIST:
        return skip_nested(self, cursor, type, depth + 1);
    default:
        return wire_cursor_fail(cursor, "a value is of no known type");
    }
}

gboolean
wire_reader_skip(const WireReader *self, WireCursor *cursor, WireType type)
{
    return skip_value(self, cursor, type, 0);
}
