/* event_bytes.c - the canonical bytes of one event: view and build. */
#include "base/event_bytes.h"

#include <glib.h>
#include <string.h>

#include "base/event_encoding.h"
#include "base/event_keys.h"

/* ---- varints ---- */

static inline gsize
varint_size(guint32 value)
{
    gsize size = 1;

    while (value >= 0x80) {
        value >>= 7;
        size++;
    }
    return size;
}

static inline guint8 *
varint_write(guint8 *out, guint32 value)
{
    while (value >= 0x80) {
        *out++ = (guint8) (value | 0x80);
        value >>= 7;
    }
    *out++ = (guint8) value;
    return out;
}

/* For bytes that have been checked. */
static inline const guint8 *
varint_read(const guint8 *at, guint32 *ret_value)
{
    guint32 value = *at & 0x7f;

    for (guint shift = 7; *at++ & 0x80; shift += 7)
        value |= (guint32) (*at & 0x7f) << shift;
    *ret_value = value;
    return at;
}

static inline const guint8 *
span_read(const guint8 *at, ByteSpan *ret_span)
{
    guint32 length;

    at = varint_read(at, &length);
    *ret_span = byte_span(at, length);
    return at + length;
}

/* ---- view ---- */

void
event_view_init(EventView *self, const guint8 *data, gsize length)
{
    const guint8 *at = varint_read(data + 1, &self->n_headers);
    ByteSpan skipped;

    self->bytes = byte_span(data, length);
    if (self->n_headers > 0)
        at++;
    self->headers = at;
    for (guint i = 0; i < self->n_headers; i++) {
        at = span_read(at, &skipped);
        at = span_read(at, &skipped);
    }
    span_read(at + 1, &self->body);
}

gboolean
event_view_find_header(const EventView *self, ByteSpan key, ByteSpan *ret_value)
{
    EventHeaderIter iter;
    EventHeader header;

    event_header_iter_init(&iter, self);
    while (event_header_iter_next(&iter, &header)) {
        if (!byte_span_equal(header.key, key))
            continue;
        *ret_value = header.value;
        return TRUE;
    }
    return FALSE;
}

void
event_header_iter_init(EventHeaderIter *self, const EventView *view)
{
    self->cursor = view->headers;
    self->left = view->n_headers;
}

gboolean
event_header_iter_next(EventHeaderIter *self, EventHeader *ret_header)
{
    if (self->left == 0)
        return FALSE;
    self->left--;
    self->cursor = span_read(self->cursor, &ret_header->key);
    self->cursor = span_read(self->cursor, &ret_header->value);
    return TRUE;
}

/* ---- build ---- */

static inline gsize
span_size(ByteSpan span)
{
    return varint_size((guint32) span.length) + span.length;
}

static inline guint8 *
span_write(guint8 *out, ByteSpan span)
{
    out = varint_write(out, (guint32) span.length);
    if (span.length > 0)
        memcpy(out, span.data, span.length);
    return out + span.length;
}

gsize
event_bytes_size(const EventHeader *headers, guint n_headers, ByteSpan body)
{
    gsize size = 1 + varint_size(n_headers) + (n_headers > 0) + 1 + span_size(body) + 1;

    for (guint i = 0; i < n_headers; i++)
        size += span_size(headers[i].key) + span_size(headers[i].value);
    return size;
}

guint8 *
event_bytes_begin(guint8 *out, guint n_headers)
{
    *out++ = HEADERS_FIELD;
    out = varint_write(out, n_headers);
    if (n_headers > 0)
        *out++ = STRING_TO_STRING;
    return out;
}

guint8 *
event_bytes_put_header(guint8 *out, ByteSpan key, ByteSpan value)
{
    return span_write(span_write(out, key), value);
}

guint8 *
event_bytes_keep_last_headers(guint8 *event, guint8 *out)
{
    guint n_headers;
    guint8 *headers;
    guint8 *kept;

    headers = event + (varint_read(event + 1, &n_headers) - event);
    if (n_headers < 2)
        return out;
    headers++;
    if (event_keys_are_distinct(headers, n_headers))
        return out;

    n_headers = event_keys_keep_last(headers, n_headers, &out);
    if (n_headers == 0)
        return NULL;
    kept = event_bytes_begin(event, n_headers);
    memmove(kept, headers, (gsize) (out - headers));
    return kept + (out - headers);
}

guint8 *
event_bytes_end(guint8 *out, ByteSpan body)
{
    *out++ = BODY_FIELD;
    out = span_write(out, body);
    *out++ = STOP;
    return out;
}

guint8 *
event_bytes_write(guint8 *out, const EventHeader *headers, guint n_headers, ByteSpan body)
{
    out = event_bytes_begin(out, n_headers);
    for (guint i = 0; i < n_headers; i++)
        out = event_bytes_put_header(out, headers[i].key, headers[i].value);
    return event_bytes_end(out, body);
}
