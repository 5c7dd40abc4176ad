/* reader_compact.c - Thrift's compact protocol: varints, and types in half a byte. */
#include "thrift/wire/reader.h"

#include <glib.h>

/* By the half byte that stands for it in a field header. */
static const guint8 field_types[16] = {
    WIRE_TYPE_STOP,   WIRE_TYPE_VOID,    WIRE_TYPE_VOID,    WIRE_TYPE_BYTE,
    WIRE_TYPE_I16,    WIRE_TYPE_I32,     WIRE_TYPE_I64,     WIRE_TYPE_DOUBLE,
    WIRE_TYPE_STRING, WIRE_TYPE_LIST,    WIRE_TYPE_SET,     WIRE_TYPE_MAP,
    WIRE_TYPE_STRUCT, WIRE_TYPE_UNKNOWN, WIRE_TYPE_UNKNOWN, WIRE_TYPE_UNKNOWN,
};

static gint64
from_zigzag(guint64 value)
{
    return (gint64) (value >> 1) ^ -(gint64) (value & 1);
}

static gboolean
compact_read_field(WireCursor *cursor, gint16 *id, WireType *ret_type)
{
    guint8 byte;
    guint64 number;

    if (!wire_cursor_read_byte(cursor, &byte))
        return FALSE;
    *ret_type = field_types[byte & 0x0f];
    if (*ret_type == WIRE_TYPE_STOP) /* whatever the upper half says: so do Thrift's readers */
        return TRUE;
    if (*ret_type == WIRE_TYPE_UNKNOWN)
        return wire_cursor_fail(cursor, "a field is of no known type");
    if (byte >> 4) {
        *id = (gint16) (*id + (byte >> 4)); /* wraps, as Thrift's readers do */
        return TRUE;
    }
    if (!wire_cursor_read_varint(cursor, 5, G_MAXUINT16, &number))
        return FALSE;
    *id = (gint16) from_zigzag(number);
    return TRUE;
}

static gboolean
compact_read_string(WireCursor *cursor, ByteSpan *ret_span)
{
    guint32 length;

    return wire_cursor_read_varint32(cursor, &length) &&
           wire_cursor_read_span(cursor, length, ret_span);
}

static gboolean
compact_read_integer(WireCursor *cursor, WireType type, gint64 *ret_value)
{
    guint max_bytes = type == WIRE_TYPE_I64 ? 10 : 5;
    guint64 value;

    if (!wire_cursor_read_varint(cursor, max_bytes,
                                 type == WIRE_TYPE_I64 ? G_MAXUINT64 : G_MAXUINT32, &value))
        return FALSE;
    *ret_value = from_zigzag(value);
    return TRUE;
}

static gboolean
element_type(WireCursor *cursor, guint8 half_byte, WireType *ret_type)
{
    WireType type = field_types[half_byte];

    if (type == WIRE_TYPE_UNKNOWN)
        return wire_cursor_fail(cursor, "a container holds values of no known type");
    *ret_type = type == WIRE_TYPE_VOID ? WIRE_TYPE_BOOL : type;
    return TRUE;
}

static gboolean
compact_read_list(WireCursor *cursor, WireType *ret_element, guint32 *ret_count)
{
    guint8 byte;

    if (!wire_cursor_read_byte(cursor, &byte))
        return FALSE;
    *ret_count = byte >> 4;
    if (*ret_count == 15 && !wire_cursor_read_varint32(cursor, ret_count))
        return FALSE;
    return element_type(cursor, byte & 0x0f, ret_element) &&
           wire_reader_check_list(&wire_reader_compact, cursor, *ret_element, *ret_count);
}

static gboolean
compact_read_map(WireCursor *cursor, WireType *ret_key, WireType *ret_value, guint32 *ret_count)
{
    guint8 byte;

    if (!wire_cursor_read_varint32(cursor, ret_count))
        return FALSE;
    *ret_key = *ret_value = WIRE_TYPE_STOP;
    if (*ret_count == 0)
        return TRUE;
    if (!wire_cursor_read_byte(cursor, &byte) || !element_type(cursor, byte >> 4, ret_key) ||
        !element_type(cursor, byte & 0x0f, ret_value))
        return FALSE;
    return wire_reader_check_map(&wire_reader_compact, cursor, *ret_key, *ret_value, *ret_count);
}

const WireReader wire_reader_compact = {
    .sizes = {
        [WIRE_TYPE_BOOL] = 1,
        [WIRE_TYPE_BYTE] = 1,
        [WIRE_TYPE_DOUBLE] = 8,
    },
    .minimum_sizes = {
        [WIRE_TYPE_BOOL] = 1,
        [WIRE_TYPE_BYTE] = 1,
        [WIRE_TYPE_DOUBLE] = 8,
        [WIRE_TYPE_I16] = 1,
        [WIRE_TYPE_I32] = 1,
        [WIRE_TYPE_I64] = 1,
        [WIRE_TYPE_STRING] = 1,
        [WIRE_TYPE_STRUCT] = 1,
        [WIRE_TYPE_MAP] = 1,
        [WIRE_TYPE_SET] = 1,
        [WIRE_TYPE_LIST] = 1,
    },
    .read_field = compact_read_field,
    .read_string = compact_read_string,
    .read_integer = compact_read_integer,
    .read_list = compact_read_list,
    .read_map = compact_read_map,
};
