/* thrift_writer.c - the writing half of Thrift's two protocols. */
#include "tests/support/thrift_writer.h"

#include <glib.h>
#include <string.h>

static gboolean
is_compact(const ThriftWriter *self)
{
    return self->protocol == WIRE_COMPACT;
}

static void
byte(ThriftWriter *self, guint value)
{
    guint8 small = (guint8) value;

    g_byte_array_append(self->bytes, &small, 1);
}

static void
big_endian(ThriftWriter *self, guint64 value, guint n_bytes)
{
    while (n_bytes-- > 0)
        byte(self, (guint) (value >> (8 * n_bytes)) & 0xff);
}

static void
varint(ThriftWriter *self, guint64 value)
{
    for (; value >= 0x80; value >>= 7)
        byte(self, (guint) (value & 0x7f) | 0x80);
    byte(self, (guint) value);
}

static guint
compact_type(WireType type)
{
    switch (type) {
    case WIRE_TYPE_VOID:
    case WIRE_TYPE_BOOL:
        return 1;
    case WIRE_TYPE_BYTE:
        return 3;
    case WIRE_TYPE_I16:
        return 4;
    case WIRE_TYPE_I32:
        return 5;
    case WIRE_TYPE_I64:
        return 6;
    case WIRE_TYPE_DOUBLE:
        return 7;
    case WIRE_TYPE_STRING:
        return 8;
    case WIRE_TYPE_LIST:
        return 9;
    case WIRE_TYPE_SET:
        return 10;
    case WIRE_TYPE_MAP:
        return 11;
    case WIRE_TYPE_STRUCT:
        return 12;
    default:
        return type == WIRE_TYPE_STOP ? 0 : 15;
    }
}

ThriftWriter *
thrift_writer_new(WireProtocol protocol)
{
    ThriftWriter *self = g_new0(ThriftWriter, 1);

    self->bytes = g_byte_array_new();
    self->protocol = protocol;
    return self;
}

void
thrift_writer_free(ThriftWriter *self)
{
    g_byte_array_unref(self->bytes);
    g_free(self);
}

void
thrift_writer_begin_call(ThriftWriter *self, const char *name, WireMessageType type,
                         gint32 sequence_id)
{
    if (is_compact(self)) {
        byte(self, 0x82);
        byte(self, type << 5 | 1);
        varint(self, (guint32) sequence_id);
        thrift_writer_string(self, byte_span_of_text(name));
    } else if (self->protocol == WIRE_BINARY) {
        big_endian(self, 0x80010000u | type, 4);
        thrift_writer_string(self, byte_span_of_text(name));
        big_endian(self, (guint32) sequence_id, 4);
    } else {
        thrift_writer_string(self, byte_span_of_text(name));
        byte(self, type);
        big_endian(self, (guint32) sequence_id, 4);
    }
    thrift_writer_open(self);
}

void
thrift_writer_field(ThriftWriter *self, WireType type, gint16 id)
{
    gint16 *last_id = &self->last_ids[self->depth];

    if (!is_compact(self)) {
        byte(self, type);
        big_endian(self, (guint16) id, 2);
    } else if (id > *last_id && id - *last_id <= 15) {
        byte(self, (guint) (id - *last_id) << 4 | compact_type(type));
    } else {
        byte(self, compact_type(type));
        thrift_writer_integer(self, WIRE_TYPE_I16, id);
    }
    *last_id = id;
}

void
thrift_writer_open(ThriftWriter *self)
{
    g_assert(++self->depth < G_N_ELEMENTS(self->last_ids));
    self->last_ids[self->depth] = 0;
}

void
thrift_writer_stop(ThriftWriter *self)
{
    byte(self, WIRE_TYPE_STOP);
    self->depth--;
}

void
thrift_writer_string(ThriftWriter *self, ByteSpan text)
{
    if (is_compact(self))
        varint(self, text.length);
    else
        big_endian(self, text.length, 4);
    thrift_writer_raw(self, text);
}

void
thrift_writer_integer(ThriftWriter *self, WireType type, gint64 value)
{
    if (is_compact(self))
        varint(self, (guint64) value << 1 ^ (guint64) (value >> 63));
    else
        big_endian(self, (guint64) value, wire_reader_binary.sizes[type]);
}

void
thrift_writer_list(ThriftWriter *self, WireType element, guint32 count)
{
    if (!is_compact(self)) {
        byte(self, element);
        big_endian(self, count, 4);
    } else if (count < 15) {
        byte(self, count << 4 | compact_type(element));
    } else {
        byte(self, 0xf0 | compact_type(element));
        varint(self, count);
    }
}

void
thrift_writer_map(ThriftWriter *self, WireType key, WireType value, guint32 count)
{
    if (!is_compact(self)) {
        byte(self, key);
        byte(self, value);
        big_endian(self, count, 4);
        return;
    }
    varint(self, count);
    if (count > 0)
        byte(self, compact_type(key) << 4 | compact_type(value));
}

void
thrift_writer_raw(ThriftWriter *self, ByteSpan bytes)
{
    g_byte_array_append(self->bytes, bytes.data, (guint) bytes.length);
}

void
thrift_writer_headers(ThriftWriter *self, guint n_texts, const char *const *texts)
{
    thrift_writer_field(self, WIRE_TYPE_MAP, 1);
    thrift_writer_map(self, WIRE_TYPE_STRING, WIRE_TYPE_STRING, n_texts / 2);
    for (guint i = 0; i < n_texts; i++)
        thrift_writer_string(self, byte_span_of_text(texts[i]));
}

void
thrift_writer_body(ThriftWriter *self, ByteSpan body)
{
    thrift_writer_field(self, WIRE_TYPE_STRING, 2);
    thrift_writer_string(self, body);
}

void
thrift_writer_event(ThriftWriter *self, const char *body)
{
    const char *const texts[] = { "k", "v" };

    thrift_writer_open(self);
    thrift_writer_headers(self, G_N_ELEMENTS(texts), texts);
    thrift_writer_body(self, byte_span_of_text(body));
    thrift_writer_stop(self);
}
