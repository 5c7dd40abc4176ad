/* span.h - a borrowed run of bytes; the bytes may hold NUL and need not be UTF-8. */
#pragma once

#include <glib.h>
#include <string.h>

typedef struct {
    const guint8 *data;
    gsize length;
} ByteSpan;

static inline ByteSpan
byte_span(const void *data, gsize length)
{
    return (ByteSpan){ .data = data, .length = length };
}

static inline ByteSpan
byte_span_of_text(const char *text)
{
    return byte_span(text, strlen(text));
}

static inline gboolean
byte_span_equal(ByteSpan a, ByteSpan b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* How many bytes from the front are ASCII, at eight a step. */
static inline gsize
byte_span_ascii_length(ByteSpan span)
{
    gsize at = 0;

    for (; span.length - at >= sizeof(guint64); at += sizeof(guint64)) {
        guint64 word;

        memcpy(&word, span.data + at, sizeof(word));
        if ((word & G_GUINT64_CONSTANT(0x8080808080808080)) != 0)
            break;
    }
    while (at < span.length && span.data[at] < 0x80)
        at++;
    return at;
}
