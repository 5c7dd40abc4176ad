/* walk_probe.c - runs the walk over written calls and looks at what it found. */
#include "tests/support/walk_probe.h"

#include <glib.h>
#include <string.h>

#include "base/event_bytes.h"

#define TEXT(t) byte_span_of_text(t)
#define BYTES(literal) byte_span("" literal, sizeof(literal) - 1)

ThriftWriter *
walk_probe_begin(WireProtocol protocol, const char *name)
{
    ThriftWriter *writer = thrift_writer_new(protocol);

    thrift_writer_begin_call(writer, name, WIRE_CALL, 1);
    return writer;
}

/* In memory of the frame's exact size, so that a sanitizer sees a read past the end; kept until the
 * next call, as the walk may point into it. */
WalkVerdict
walk_probe_bytes(Walk *walk, const guint8 *data, gsize length)
{
    static guint8 *kept;
    WireMessage message;

    g_free(kept);
    kept = g_memdup2(data, length);
    g_assert_true(wire_message_read(kept, length, &message));
    if (byte_span_equal(message.name, TEXT("append")))
        return walk_append(walk, &message, kept, length);
    if (byte_span_equal(message.name, TEXT("appendBatch")))
        return walk_append_batch(walk, &message, kept, length);
    return walk_other(walk, &message, kept, length);
}

WalkVerdict
walk_probe_run(Walk *walk, const ThriftWriter *writer)
{
    return walk_probe_bytes(walk, writer->bytes->data, writer->bytes->len);
}

EventView
walk_probe_event(const Walk *walk, guint index)
{
    const guint32 *offsets = walk->offsets;
    gsize length = offsets[index + 1] - offsets[index];
    EventView view;

    g_assert_cmpuint(event_bytes_check(walk->bytes + offsets[index], length), ==, length);
    event_view_init(&view, walk->bytes + offsets[index], length);
    return view;
}

void
walk_probe_assert_body(const Walk *walk, guint index, ByteSpan body)
{
    EventView view = walk_probe_event(walk, index);

    g_assert_cmpmem(view.body.data, view.body.length, body.data, body.length);
}

void
walk_probe_assert_header(const Walk *walk, guint index, ByteSpan key, ByteSpan value)
{
    EventView view = walk_probe_event(walk, index);
    ByteSpan found;

    g_assert_true(event_view_find_header(&view, key, &found));
    g_assert_cmpmem(found.data, found.length, value.data, value.length);
}

/* One of each type, nested. */
void
walk_probe_write_unknown_fields(ThriftWriter *writer)
{
    gboolean compact = writer->protocol == WIRE_COMPACT;

    thrift_writer_field(writer, compact ? WIRE_TYPE_VOID : WIRE_TYPE_BOOL, 3);
    thrift_writer_raw(writer, compact ? BYTES("") : BYTES("\x01"));
    thrift_writer_field(writer, WIRE_TYPE_BYTE, 4);
    thrift_writer_raw(writer, BYTES("\xff"));
    thrift_writer_field(writer, WIRE_TYPE_I16, 5);
    thrift_writer_integer(writer, WIRE_TYPE_I16, -32768);
    thrift_writer_field(writer, WIRE_TYPE_I32, 6);
    thrift_writer_integer(writer, WIRE_TYPE_I32, G_MININT32);
    thrift_writer_field(writer, WIRE_TYPE_I64, 7);
    thrift_writer_integer(writer, WIRE_TYPE_I64, G_MININT64);
    thrift_writer_field(writer, WIRE_TYPE_DOUBLE, 8);
    thrift_writer_raw(writer, BYTES("\x00\xff\x00\xff\x00\xff\x00\xff"));
    thrift_writer_field(writer, WIRE_TYPE_SET, 9);
    thrift_writer_list(writer, WIRE_TYPE_BOOL, 3);
    thrift_writer_raw(writer, BYTES("\x01\x02\x00"));
    thrift_writer_field(writer, WIRE_TYPE_MAP, 10);
    thrift_writer_map(writer, WIRE_TYPE_I32, WIRE_TYPE_LIST, 2);
    for (gint i = 0; i < 2; i++) {
        thrift_writer_integer(writer, WIRE_TYPE_I32, i * 100000);
        thrift_writer_list(writer, WIRE_TYPE_STRUCT, 20);
        for (guint j = 0; j < 20; j++)
            thrift_writer_raw(writer, BYTES("\x00"));
    }
    thrift_writer_field(writer, WIRE_TYPE_MAP, 11);
    thrift_writer_map(writer, WIRE_TYPE_BYTE, WIRE_TYPE_DOUBLE, 2);
    thrift_writer_raw(writer, BYTES("134567890234567890"));
    thrift_writer_field(writer, WIRE_TYPE_MAP, 1000);
    thrift_writer_map(writer, WIRE_TYPE_STRING, WIRE_TYPE_STRING, 0);
    thrift_writer_field(writer, WIRE_TYPE_STRUCT, -5);
    thrift_writer_event(writer, "inner");
}

void
walk_probe_write_strange_event(ThriftWriter *writer, const char *body)
{
    const char *const texts[] = { "a", "1", "b", "2" };

    thrift_writer_open(writer);
    thrift_writer_body(writer, TEXT(body));
    walk_probe_write_unknown_fields(writer);
    thrift_writer_headers(writer, G_N_ELEMENTS(texts), texts);
    thrift_writer_stop(writer);
}

void
walk_probe_write_batch(ThriftWriter *writer, guint n_events)
{
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRUCT, n_events);
    for (guint i = 0; i < n_events; i++) {
        char body[16];

        g_snprintf(body, sizeof body, "body %u", i);
        thrift_writer_event(writer, body);
    }
    thrift_writer_stop(writer);
}

void
walk_probe_write_single(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_STRUCT, 1);
    thrift_writer_event(writer, "single");
    thrift_writer_stop(writer);
}
