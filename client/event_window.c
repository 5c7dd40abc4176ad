/* event_window.c - measures events, then writes them one behind the other. */
#include "client/event_window.h"

#include <string.h>

#include "thrift/wire/connection.h"

/* A copy of what one call sends is no larger than this, and one event. */
#define WINDOW_BYTES ((gsize) 64 * 1024 * 1024)
#define WINDOW_EVENTS 1000000
/* Of an event without headers and body; and of a length, at the most. */
#define EVENT_OVERHEAD 16
#define LENGTH_OVERHEAD 4

static gboolean
refuse(GError **error, const char *why)
{
    g_set_error_literal(error, LEAT_ERROR, LEAT_ERROR_EVENT, why);
    return FALSE;
}

static gboolean
refuse_size(GError **error)
{
    g_set_error(error, LEAT_ERROR, LEAT_ERROR_EVENT,
                "an event is larger than the %d bytes of a frame that peers accept",
                WIRE_MAX_FRAME);
    return FALSE;
}

static ByteSpan
header_value(const LeatHeader *header)
{
    return byte_span_of_text(header->value == NULL ? "" : header->value);
}

/* An upper bound of its bytes; nothing overflows, since what is too large ends it. */
static gboolean
measure_event(const LeatEvent *event, gsize *ret_size, GError **error)
{
    gsize size = EVENT_OVERHEAD;

    if (event->body == NULL && event->body_length > 0)
        return refuse(error, "an event has a length, but no body");
    if (event->headers == NULL && event->n_headers > 0)
        return refuse(error, "an event has a number of headers, but no headers");
    if (event->body_length > WIRE_MAX_FRAME)
        return refuse_size(error);
    size += event->body_length;
    for (gsize i = 0; i < event->n_headers && size <= WIRE_MAX_FRAME; i++) {
        if (event->headers[i].name == NULL)
            return refuse(error, "an event has a header without a name");
        size += strlen(event->headers[i].name) + header_value(&event->headers[i]).length +
                (gsize) 2 * LENGTH_OVERHEAD;
    }
    *ret_size = size;
    return size <= WIRE_MAX_FRAME || refuse_size(error);
}

/* How many of the first events go together, and an upper bound of their bytes. */
static guint
measure_window(const LeatEvent *events, gsize n_events, gsize *ret_size, GError **error)
{
    gsize limit = MIN(n_events, WINDOW_EVENTS);
    guint n_taken = 0;
    gsize size = 0;

    for (*ret_size = 0; n_taken < limit && *ret_size < WINDOW_BYTES; n_taken++) {
        if (!measure_event(&events[n_taken], &size, n_taken == 0 ? error : NULL))
            break;
        *ret_size += size;
    }
    return n_taken;
}

static guint8 *
write_event(guint8 *begin, const LeatEvent *event)
{
    guint8 *out = event_bytes_begin(begin, (guint) event->n_headers);

    for (gsize i = 0; i < event->n_headers; i++)
        out = event_bytes_put_header(out, byte_span_of_text(event->headers[i].name),
                                     header_value(&event->headers[i]));
    out = event_bytes_keep_last_headers(begin, out);
    if (out == NULL)
        g_error("no memory for the headers of an event");
    return event_bytes_end(out, byte_span(event->body, event->body_length));
}

Batch *
event_window_encode(const LeatEvent *events, gsize n_events, GError **error)
{
    gsize size;
    guint n_taken = measure_window(events, n_events, &size, error);
    g_autofree guint32 *offsets = NULL;
    Buffer *buffer;
    Batch *batch;
    guint8 *out;

    if (n_taken == 0)
        return NULL;
    offsets = g_new0(guint32, n_taken + 1);
    buffer = g_new0(Buffer, 1);
    buffer->data = out = g_malloc(size);
    buffer->capacity = size;
    for (guint i = 0; i < n_taken; i++) {
        out = write_event(out, &events[i]);
        offsets[i + 1] = (guint32) (out - buffer->data);
    }
    batch = batch_new_from_buffer(buffer, offsets, n_taken);
    if (batch == NULL)
        g_error("no memory for a batch of events");
    return batch;
}
