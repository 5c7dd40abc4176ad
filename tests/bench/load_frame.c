/* load_frame.c - builds append and appendBatch calls of equal events. */
#include "tests/bench/load_frame.h"

#include "base/batch_builder.h"
#include "thrift/wire/call.h"

#define MAX_HEADERS 16

guint
load_shape_n_events(const LoadShape *shape)
{
    return MAX(shape->batch, 1);
}

static Batch *
equal_events(const LoadShape *shape)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    g_autofree char *body = g_strnfill(shape->body, 'x');
    static const char *const keys[MAX_HEADERS] = { "host", "application", "c", "d", "e", "f",
                                                   "g",    "h",           "i", "j", "k", "l",
                                                   "m",    "n",           "o", "p" };
    EventHeader headers[MAX_HEADERS];
    guint n_headers = MIN(shape->headers, MAX_HEADERS);

    for (guint i = 0; i < n_headers; i++) {
        headers[i].key = byte_span_of_text(keys[i]);
        headers[i].value = byte_span_of_text("web-17.fra.example");
    }
    for (guint i = 0; i < load_shape_n_events(shape); i++)
        batch_builder_add_event(builder, headers, n_headers, byte_span(body, shape->body));
    return batch_builder_finish(builder);
}

/* call.h writes no append, as leat sends none. */
static void
write_append(GByteArray *out, ByteSpan event)
{
    static const guint8 head[] = { 0x82, 0x21, 1, 6, 'a', 'p', 'p', 'e', 'n', 'd', 0x1c };
    guint32 length = GUINT32_TO_BE((guint32) (sizeof head + event.length + 1));

    g_byte_array_append(out, (const guint8 *) &length, sizeof length);
    g_byte_array_append(out, head, sizeof head);
    g_byte_array_append(out, event.data, (guint) event.length);
    g_byte_array_append(out, wire_call_tail, sizeof wire_call_tail);
}

GByteArray *
load_frame_new(const LoadShape *shape)
{
    g_autoptr(Batch) batch = equal_events(shape);
    BatchSlice slice = { .batch = batch, .count = batch->n_events };
    ByteSpan events = batch_span(batch, 0, batch->n_events);
    GByteArray *frame = g_byte_array_new();

    if (shape->batch == 0) {
        write_append(frame, events);
        return frame;
    }
    wire_call_write_head(frame, WIRE_COMPACT, wire_frame_size(WIRE_COMPACT, &slice, 1), 1,
                         batch->n_events);
    g_byte_array_append(frame, events.data, (guint) events.length);
    g_byte_array_append(frame, wire_call_tail, sizeof wire_call_tail);
    return frame;
}
