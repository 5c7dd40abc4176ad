/* call.c - the bytes of appendBatch and append calls, in compact and in binary. */
#include "thrift/wire/call.h"

#include "base/event_bytes.h"

#define METHOD_LENGTH(method) (sizeof method - 1)
/* Of a message header without the method's name. */
#define COMPACT_MESSAGE_SIZE (2 + 1 + 1)
#define BINARY_MESSAGE_SIZE (4 + 4 + 4)
/* Of the header of the one argument: a list of structs, up to the number of events; a struct. */
#define COMPACT_LIST_SIZE 1
#define BINARY_LIST_SIZE (3 + 1 + 4)
#define COMPACT_STRUCT_SIZE 1
#define BINARY_STRUCT_SIZE 3
/* Around the headers and the body of an event, and around one header. */
#define BINARY_EVENT_SIZE (3 + 6 + 3 + 4 + 1)
#define BINARY_HEADER_SIZE (4 + 4)

enum { BINARY_STRING = 11, BINARY_STRUCT = 12, BINARY_MAP = 13, BINARY_LIST = 15 };

const guint8 wire_call_tail[1] = { 0 };

static gsize
varint_size(guint number)
{
    gsize size = 1;

    while ((number >>= 7) != 0)
        size++;
    return size;
}

static void
append_u8(GByteArray *out, guint number)
{
    guint8 byte = (guint8) number;

    g_byte_array_append(out, &byte, 1);
}

static void
append_u32(GByteArray *out, gsize number)
{
    guint32 big_endian = GUINT32_TO_BE((guint32) number);

    g_byte_array_append(out, (const guint8 *) &big_endian, sizeof big_endian);
}

static void
append_varint(GByteArray *out, guint number)
{
    for (; number >= 0x80; number >>= 7)
        append_u8(out, (number & 0x7f) | 0x80);
    append_u8(out, number);
}

static void
append_span(GByteArray *out, ByteSpan span)
{
    append_u32(out, span.length);
    g_byte_array_append(out, span.data, (guint) span.length);
}

static void
append_field(GByteArray *out, guint type, guint id)
{
    append_u8(out, type);
    append_u8(out, 0);
    append_u8(out, id);
}

static gsize
binary_event_size(const EventView *event)
{
    gsize size = BINARY_EVENT_SIZE + event->body.length;
    EventHeaderIter iter;
    EventHeader header;

    event_header_iter_init(&iter, event);
    while (event_header_iter_next(&iter, &header))
        size += BINARY_HEADER_SIZE + header.key.length + header.value.length;
    return size;
}

gsize
wire_events_size(WireProtocol protocol, const BatchSlice *slice)
{
    gsize size = 0;
    EventView event;

    if (protocol == WIRE_COMPACT)
        return batch_span(slice->batch, slice->first, slice->count).length;
    for (guint i = 0; i < slice->count; i++) {
        batch_view(slice->batch, slice->first + i, &event);
        size += binary_event_size(&event);
    }
    return size;
}

/* A list of fewer than 15 carries its length in its type byte. */
static gsize
compact_count_size(guint n_events)
{
    return n_events < 15 ? 1 : 1 + varint_size(n_events);
}

gsize
wire_frame_size_for(WireProtocol protocol, guint n_events, gsize events_size)
{
    gsize size = METHOD_LENGTH(WIRE_APPEND_BATCH) + events_size + sizeof wire_call_tail;

    if (protocol == WIRE_COMPACT)
        return COMPACT_MESSAGE_SIZE + COMPACT_LIST_SIZE + compact_count_size(n_events) + size;
    return BINARY_MESSAGE_SIZE + BINARY_LIST_SIZE + size;
}

gsize
wire_frame_size(WireProtocol protocol, const BatchSlice *slices, guint n_slices)
{
    gsize size = 0;
    guint n_events = 0;

    for (guint i = 0; i < n_slices; i++) {
        n_events += slices[i].count;
        size += wire_events_size(protocol, &slices[i]);
    }
    return wire_frame_size_for(protocol, n_events, size);
}

gsize
wire_append_frame_size(WireProtocol protocol, const BatchSlice *event)
{
    gsize size =
        METHOD_LENGTH(WIRE_APPEND) + wire_events_size(protocol, event) + sizeof wire_call_tail;

    if (protocol == WIRE_COMPACT)
        return COMPACT_MESSAGE_SIZE + COMPACT_STRUCT_SIZE + size;
    return BINARY_MESSAGE_SIZE + BINARY_STRUCT_SIZE + size;
}

/* The length prefix and the message header. */
static void
write_message(GByteArray *out, WireProtocol protocol, gsize frame_size, gint32 sequence_id,
              const char *method)
{
    static const guint8 compact_and_type[] = { 0x82, WIRE_CALL << 5 | 1 };
    ByteSpan name = byte_span_of_text(method);

    g_assert(frame_size <= G_MAXINT32);
    g_assert(sequence_id >= 1 && sequence_id <= WIRE_MAX_SEQUENCE_ID);
    append_u32(out, frame_size);
    if (protocol == WIRE_COMPACT) {
        g_byte_array_append(out, compact_and_type, sizeof compact_and_type);
        append_varint(out, (guint) sequence_id);
        append_varint(out, (guint) name.length);
        g_byte_array_append(out, name.data, (guint) name.length);
    } else {
        append_u32(out, 0x80010000u | WIRE_CALL);
        append_span(out, name);
        append_u32(out, (guint32) sequence_id);
    }
}

static void
write_compact_list(GByteArray *out, guint n_events)
{
    append_u8(out, 0x19); /* field 1, a list */
    if (n_events < 15) {
        append_u8(out, n_events << 4 | 0xc);
        return;
    }
    append_u8(out, 0xfc);
    append_varint(out, n_events);
}

void
wire_call_write_head(GByteArray *out, WireProtocol protocol, gsize frame_size, gint32 sequence_id,
                     guint n_events)
{
    write_message(out, protocol, frame_size, sequence_id, WIRE_APPEND_BATCH);
    if (protocol == WIRE_COMPACT) {
        write_compact_list(out, n_events);
    } else {
        append_field(out, BINARY_LIST, 1);
        append_u8(out, BINARY_STRUCT);
        append_u32(out, n_events);
    }
}

void
wire_call_write_append_head(GByteArray *out, WireProtocol protocol, gsize frame_size,
                            gint32 sequence_id)
{
    write_message(out, protocol, frame_size, sequence_id, WIRE_APPEND);
    if (protocol == WIRE_COMPACT)
        append_u8(out, 0x1c); /* field 1, a struct */
    else
        append_field(out, BINARY_STRUCT, 1);
}

static void
write_binary_event(GByteArray *out, const EventView *event)
{
    EventHeaderIter iter;
    EventHeader header;

    append_field(out, BINARY_MAP, 1);
    append_u8(out, BINARY_STRING);
    append_u8(out, BINARY_STRING);
    append_u32(out, event->n_headers);
    event_header_iter_init(&iter, event);
    while (event_header_iter_next(&iter, &header)) {
        append_span(out, header.key);
        append_span(out, header.value);
    }
    append_field(out, BINARY_STRING, 2);
    append_span(out, event->body);
    append_u8(out, 0);
}

void
wire_call_write_binary_events(GByteArray *out, const BatchSlice *slice)
{
    EventView event;

    for (guint i = 0; i < slice->count; i++) {
        batch_view(slice->batch, slice->first + i, &event);
        write_binary_event(out, &event);
    }
}
