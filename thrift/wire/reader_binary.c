/* reader_binary.c - Thrift's binary protocol: fixed sizes, big-endian. Its lengths and counts are
 * signed; read as unsigned, a negative one is larger than any frame. */
#include "thrift/wire/reader.h"

#include <glib.h>

static gboolean
is_known(guint8 type)
{
    return type < N_WIRE_TYPES && wire_reader_binary.minimum_sizes[type] > 0;
}

static gboolean
binary_read_field(WireCursor *cursor, gint16 *id, WireType *ret_type)
{
    guint8 type;

    if (!wire_cursor_read_byte(cursor, &type))
        return FALSE;
    *ret_type = type;
    if (type == WIRE_TYPE_STOP)
        return TRUE;
    if (!is_known(type))
        return wire_cursor_fail(cursor, "a field is of no known type");
    if (wire_cursor_left(cursor) < 2)
        return wire_cursor_fail(cursor, "the frame ends too early");
    *id = (gint16) (cursor->at[0] << 8 | cursor->at[1]);
    cursor->at += 2;
    return TRUE;
}

/* An unknown type is as good as none: both are refused unless the container is empty. */
static gboolean
read_element_type(WireCursor *cursor, WireType *ret_type)
{
    guint8 type;

    if (!wire_cursor_read_byte(cursor, &type))
        return FALSE;
    *ret_type = is_known(type) ? type : WIRE_TYPE_STOP;
    return TRUE;
}

static gboolean
binary_read_string(WireCursor *cursor, ByteSpan *ret_span)
{
    guint32 length;

    return wire_cursor_read_be32(cursor, &length) &&
           wire_cursor_read_span(cursor, length, ret_span);
}

static gboolean
binary_read_integer(WireCursor *cursor, WireType type, gint64 *ret_value)
{
    guint64 value = 0;
    guint bits = wire_reader_binary.sizes[type] * 8u;
    ByteSpan bytes;

    if (!wire_cursor_read_span(cursor, wire_reader_binary.sizes[type], &bytes))
        return FALSE;
    for (gsize i = 0; i < bytes.length; i++)
        value = value << 8 | bytes.data[i];
    *ret_value = (gint64) (value << (64 - bits)) >> (64 - bits);
    return TRUE;
}

static gboolean
binary_read_list(WireCursor *cursor, WireType *ret_element, guint32 *ret_count)
{
    return read_element_type(cursor, ret_element) && wire_cursor_read_be32(cursor, ret_count) &&
           wire_reader_check_list(&wire_reader_binary, cursor, *ret_element, *ret_count);
}

static gboolean
binary_read_map(WireCursor *cursor, WireType *ret_key, WireType *ret_value, guint32 *ret_count)
{
    return read_element_type(cursor, ret_key) && read_element_type(cursor, ret_value) &&
           wire_cursor_read_be32(cursor, ret_count) &&
           wire_reader_check_map(&wire_reader_binary, cursor, *ret_key, *ret_value, *ret_count);
}

const WireReader wire_reader_binary = {
    .sizes = {
        [WIRE_TYPE_BOOL] = 1,
        [WIRE_TYPE_BYTE] = 1,
        [WIRE_TYPE_DOUBLE] = 8,
        [WIRE_TYPE_I16] = 2,
        [WIRE_TYPE_I32] = 4,
        [WIRE_TYPE_I64] = 8,
    },
    .minimum_sizes = {
        [WIRE_TYPE_BOOL] = 1,
        [WIRE_TYPE_BYTE] = 1,
        [WIRE_TYPE_DOUBLE] = 8,
        [WIRE_TYPE_I16] = 2,
        [WIRE_TYPE_I32] = 4,
        [WIRE_TYPE_I64] = 8,
        [WIRE_TYPE_STRING] = 4,
        [WIRE_TYPE_STRUCT] = 1,
        [WIRE_TYPE_MAP] = 6,
        [WIRE_TYPE_SET] = 5,
        [WIRE_TYPE_LIST] = 5,
    },
    .read_field = binary_read_field,
    .read_string = binary_read_string,
    .read_integer = binary_read_integer,
    .read_list = binary_read_list,
    .read_map = binary_read_map,
};
