/* event_bytes.c - the canonical bytes of one event: check, view, build. */
#include "base/event_bytes.h"

#include <glib.h>
#include <string.h>

#include "base/event_keys.h"

#define HEADERS_FIELD 0x1b /* field 1, map */
#define BODY_FIELD 0x18    /* field 2 after field 1, binary */
#define STRING_TO_STRING 0x88
#define STOP 0x00

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

/* NULL unless a minimal varint of at most 31 bits ends before end: longer ones are negative
 * lengths to Thrift. */
static const guint8 *
varint_check_long(const guint8 *at, const guint8 *end, guint32 *ret_value)
{
    guint32 value = 0;

    for (guint shift = 0; shift < 35 && at < end; shift += 7) {
        guint8 byte = *at++;

        value |= (guint32) (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (byte == 0 || (shift == 28 && byte > 7))
            return NULL;
        *ret_value = value;
        return at;
    }
    return NULL;
}

static inline const guint8 *
varint_check(const guint8 *at, const guint8 *end, guint32 *ret_value)
{
    if (G_LIKELY(at < end && *at < 0x80)) {
        *ret_value = *at;
        return at + 1;
    }
    return varint_check_long(at, end, ret_value);
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
span_check(const guint8 *at, const guint8 *end, ByteSpan *ret_span)
{
    guint32 length;

    at = varint_check(at, end, &length);
    if (G_UNLIKELY(!at || length > (gsize) (end - at)))
        return NULL;
    *ret_span = byte_span(at, length);
    return at + length;
}

static inline const guint8 *
span_read(const guint8 *at, ByteSpan *ret_span)
{
    guint32 length;

    at = varint_read(at, &length);
    *ret_span = byte_span(at, length);
    return at + length;
}

/* ---- check ---- */

static inline gboolean
key_is_new(const ByteSpan *keys, guint n_keys, ByteSpan key)
{
    for (guint i = 0; i < n_keys; i++)
        if (G_UNLIKELY(byte_span_equal(keys[i], key)))
            return FALSE;
    return TRUE;
}

/* A few headers: every key is compared with those before it. */
static const guint8 *
few_headers_check(const guint8 *at, const guint8 *end, guint count)
{
    ByteSpan keys[EVENT_KEYS_FEW];
    ByteSpan value;

    for (guint i = 0; i < count; i++) {
        at = span_check(at, end, &keys[i]);
        if (!at || !key_is_new(keys, i, keys[i]))
            return NULL;
        at = span_check(at, end, &value);
        if (!at)
            return NULL;
    }
    return at;
}

/* Many: the bytes first, then the keys, so that a set is made only for headers that are there,
 * whatever the count claims. */
static const guint8 *
many_headers_check(const guint8 *first, const guint8 *end, guint count)
{
    const guint8 *at = first;
    ByteSpan span;

    for (guint i = 0; i < count; i++) {
        at = span_check(at, end, &span);
        if (at)
            at = span_check(at, end, &span);
        if (!at)
            return NULL;
    }
    return event_keys_are_distinct(first, count) ? at : NULL;
}

static inline const guint8 *
headers_check(const guint8 *at, const guint8 *end)
{
    guint32 count;

    at = varint_check(at, end, &count);
    if (!at || count == 0)
        return at;
    if (at == end || *at++ != STRING_TO_STRING)
        return NULL;
    return count <= EVENT_KEYS_FEW ? few_headers_check(at, end, count)
                                   : many_headers_check(at, end, count);
}

gsize
event_bytes_check(const guint8 *data, gsize length)
{
    const guint8 *at = data;
    const guint8 *end = data + MIN(length, G_MAXINT32);
    ByteSpan body;

    if (length == 0 || *at++ != HEADERS_FIELD)
        return 0;
    at = headers_check(at, end);
    if (!at || at == end || *at++ != BODY_FIELD)
        return 0;
    at = span_check(at, end, &body);
    if (!at || at == end || *at++ != STOP)
        return 0;
    return (gsize) (at - data);
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
