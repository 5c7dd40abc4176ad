/* event_check.c - whether bytes from anywhere are a canonical event, or many of them. */
#include "base/event_bytes.h"

#include <glib.h>
#include <string.h>

#include "base/event_encoding.h"
#include "base/event_keys.h"

/* ---- varints ---- */

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
    if (G_LIKELY(end - at >= 2 && at[1] < 0x80 && at[1] > 0)) {
        *ret_value = (*at & 0x7fu) | (guint32) at[1] << 7;
        return at + 2;
    }
    return varint_check_long(at, end, ret_value);
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

/* ---- one event ---- */

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

/* From the field header of the body to the end of the event. */
static inline const guint8 *
rest_check(const guint8 *at, const guint8 *end)
{
    ByteSpan body;

    if (at == end || *at++ != BODY_FIELD)
        return NULL;
    at = span_check(at, end, &body);
    return at && at < end && *at == STOP ? at + 1 : NULL;
}

gsize
event_bytes_check(const guint8 *data, gsize length)
{
    const guint8 *at = data;
    const guint8 *end;

    if (length == 0 || *at++ != HEADERS_FIELD)
        return 0;
    end = data + MIN(length, G_MAXINT32);
    at = headers_check(at, end);
    if (at)
        at = rest_check(at, end);
    return at ? (gsize) (at - data) : 0;
}

/* ---- many events ----
 *
 * Where a length stands is known only when the one before it has been read: a chain of loads, and
 * most of what a check costs. Events of one client mostly have the same keys, and values of the
 * same lengths. So the places of the event before are looked at all at once; only if a length
 * differs is the chain followed. */

#define SHAPE_HEADERS 8

/* Where the lengths in an event's headers stood, and what they were. */
typedef struct {
    guint n_headers; /* 0: nothing is known yet */
    guint size;      /* bytes before the body field */
    guint8 lengths[2 * SHAPE_HEADERS];
    guint16 places[2 * SHAPE_HEADERS];
    guint n_alike; /* pairs of keys of one length */
    guint8 alike[SHAPE_HEADERS * (SHAPE_HEADERS - 1) / 2][2];
    guint n_misses; /* in a row */
} EventShape;

/* An event of another shape now and then is no reason to forget the common one. */
#define SHAPE_MISSES 3

static gboolean
shape_keys_are_distinct(const EventShape *self, const guint8 *data)
{
    for (guint i = 0; i < self->n_alike; i++) {
        guint one = self->alike[i][0];
        guint other = self->alike[i][1];

        if (memcmp(data + self->places[one] + 1, data + self->places[other] + 1,
                   self->lengths[one]) == 0)
            return FALSE;
    }
    return TRUE;
}

static inline gboolean
shape_fits(const EventShape *self, const guint8 *data, gsize length)
{
    if (self->n_headers == 0 || length < self->size || data[0] != HEADERS_FIELD ||
        data[1] != self->n_headers || data[2] != STRING_TO_STRING)
        return FALSE;
    for (guint i = 0; i < 2 * self->n_headers; i++)
        if (data[self->places[i]] != self->lengths[i])
            return FALSE;
    return shape_keys_are_distinct(self, data);
}

static void
shape_note_alike(EventShape *self, guint key)
{
    for (guint other = 0; other < key; other += 2) {
        if (self->lengths[other] != self->lengths[key])
            continue;
        self->alike[self->n_alike][0] = (guint8) other;
        self->alike[self->n_alike++][1] = (guint8) key;
    }
}

/* Nothing is remembered unless there are few headers, all of one-byte lengths. */
static void
shape_learn(EventShape *self, const guint8 *data)
{
    guint n_headers = data[1];
    guint at = 3;

    self->n_headers = self->n_misses = self->n_alike = 0;
    if (n_headers > SHAPE_HEADERS)
        return;
    for (guint i = 0; i < 2 * n_headers; i++) {
        if (data[at] >= 0x80)
            return;
        self->lengths[i] = data[at];
        self->places[i] = (guint16) at;
        at += 1 + data[at];
        if (i % 2 == 0)
            shape_note_alike(self, i);
    }
    self->size = at;
    self->n_headers = n_headers;
}

static inline gsize
shape_check_next(EventShape *self, const guint8 *data, const guint8 *end)
{
    gsize length = (gsize) (end - data);
    gsize checked;

    if (G_LIKELY(shape_fits(self, data, length))) {
        const guint8 *at = rest_check(data + self->size, end);

        self->n_misses = 0;
        return at ? (gsize) (at - data) : 0;
    }
    checked = event_bytes_check(data, length);
    if (checked > 0 && ++self->n_misses >= SHAPE_MISSES)
        shape_learn(self, data);
    return checked;
}

/* How far ahead of the event that is checked memory is asked for: a chain of loads is as slow as
 * the cache that it finds the bytes in, and a frame is larger than the fastest. The events between
 * are taken to be as long as this one. Wrong costs nothing but what was to be gained. */
#define EVENTS_AHEAD 12
#define CACHE_LINE 64

static inline void
ask_for_event_ahead(const guint8 *at, gsize event_length, gsize left)
{
    gsize distance = EVENTS_AHEAD * event_length;

    if (G_UNLIKELY(distance + CACHE_LINE >= left))
        return;
    __builtin_prefetch(at + distance);
    __builtin_prefetch(at + distance + CACHE_LINE);
}

guint
event_bytes_check_many(const guint8 *data, gsize length, guint max_events, guint32 origin,
                       guint32 *ret_ends)
{
    const guint8 *at = data;
    EventShape shape = { 0 };
    guint n_events = 0;

    while (n_events < max_events) {
        gsize checked = shape_check_next(&shape, at, data + length);

        if (checked == 0)
            break;
        ask_for_event_ahead(at, checked, length - (gsize) (at - data));
        at += checked;
        ret_ends[n_events++] = origin + (guint32) (at - data);
    }
    return n_events;
}
