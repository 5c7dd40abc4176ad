/* reader.h - Thrift's two encodings as tables of bounded readers over one frame. For thrift/wire/.
 *
 * Every length and count is checked, in 64-bit arithmetic, against the bytes left before it is used
 * or returned. After a reader has returned FALSE the cursor is only good for its reason. */
#pragma once

#include <glib.h>

#include "base/span.h"
#include "thrift/wire/message.h"

#define READER_MAX_DEPTH 64 /* the value itself counted */

/* Thrift's numbers, as the binary protocol sends them. */
typedef enum {
    WIRE_TYPE_STOP = 0,
    WIRE_TYPE_VOID = 1, /* here: a boolean that stood in a compact field header; no bytes follow */
    WIRE_TYPE_BOOL = 2,
    WIRE_TYPE_BYTE = 3,
    WIRE_TYPE_DOUBLE = 4,
    WIRE_TYPE_I16 = 6,
    WIRE_TYPE_I32 = 8,
    WIRE_TYPE_I64 = 10,
    WIRE_TYPE_STRING = 11,
    WIRE_TYPE_STRUCT = 12,
    WIRE_TYPE_MAP = 13,
    WIRE_TYPE_SET = 14,
    WIRE_TYPE_LIST = 15,
    N_WIRE_TYPES,
    WIRE_TYPE_UNKNOWN = 0xff,
} WireType;

typedef struct {
    const guint8 *at;
    const guint8 *end;
    const char *reason; /* static; of the first failure */
} WireCursor;

typedef struct {
    guint8 sizes[N_WIRE_TYPES];         /* of a value whose size never varies, else 0 */
    guint8 minimum_sizes[N_WIRE_TYPES]; /* of an element; 0 for what cannot be one */

    /* id: in, the field before in this struct, 0 for the first; out, this one. At the end of the
     * struct the type is WIRE_TYPE_STOP and id unchanged. */
    gboolean (*read_field)(WireCursor *cursor, gint16 *id, WireType *ret_type);
    gboolean (*read_string)(WireCursor *cursor, ByteSpan *ret_span);
    gboolean (*read_integer)(WireCursor *cursor, WireType type, gint64 *ret_value);
    /* Also of sets. The types of an empty one may be WIRE_TYPE_STOP. */
    gboolean (*read_list)(WireCursor *cursor, WireType *ret_element, guint32 *ret_count);
    gboolean (*read_map)(WireCursor *cursor, WireType *ret_key, WireType *ret_value,
                         guint32 *ret_count);
} WireReader;

extern const WireReader wire_reader_compact;
extern const WireReader wire_reader_binary;

const WireReader *wire_reader_for(WireProtocol protocol);

/* Checks and passes over a value of any type, nested at most READER_MAX_DEPTH deep, in time linear
 * in its bytes. */
gboolean wire_reader_skip(const WireReader *self, WireCursor *cursor, WireType type);

/* Whether count elements of such types can be left. For the readers themselves. */
gboolean wire_reader_check_list(const WireReader *self, WireCursor *cursor, WireType element,
                                guint32 count);
gboolean wire_reader_check_map(const WireReader *self, WireCursor *cursor, WireType key,
                               WireType value, guint32 count);

static inline WireCursor
wire_cursor(const guint8 *data, gsize length)
{
    return (WireCursor){ .at = data, .end = length > 0 ? data + length : data };
}

static inline gsize
wire_cursor_left(const WireCursor *self)
{
    return (gsize) (self->end - self->at);
}

static inline gboolean
wire_cursor_fail(WireCursor *self, const char *reason)
{
    self->reason = reason;
    return FALSE;
}

static inline gboolean
wire_cursor_read_span(WireCursor *self, gsize length, ByteSpan *ret_span)
{
    if (G_UNLIKELY(length > wire_cursor_left(self)))
        return wire_cursor_fail(self, "a length goes past the end of the frame");
    *ret_span = byte_span(self->at, length);
    self->at += length;
    return TRUE;
}

static inline gboolean
wire_cursor_read_byte(WireCursor *self, guint8 *ret_byte)
{
    if (G_UNLIKELY(self->at == self->end))
        return wire_cursor_fail(self, "the frame ends too early");
    *ret_byte = *self->at++;
    return TRUE;
}

/* At most max_bytes long, and within max_value. */
gboolean wire_cursor_read_varint(WireCursor *self, guint max_bytes, guint64 max_value,
                                 guint64 *ret_value);
gboolean wire_cursor_read_varint32(WireCursor *self, guint32 *ret_value);
gboolean wire_cursor_read_be32(WireCursor *self, guint32 *ret_value);
