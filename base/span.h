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
