/* little_endian.h - numbers in the channel's files: little endian, at any address. */
#pragma once

#include <glib.h>
#include <string.h>

static inline void
put_u32(guint8 *out, guint32 value)
{
    value = GUINT32_TO_LE(value);
    memcpy(out, &value, sizeof(value));
}

static inline void
put_u64(guint8 *out, guint64 value)
{
    value = GUINT64_TO_LE(value);
    memcpy(out, &value, sizeof(value));
}

static inline guint32
get_u32(const guint8 *data)
{
    guint32 value;

    memcpy(&value, data, sizeof(value));
    return GUINT32_FROM_LE(value);
}

static inline guint64
get_u64(const guint8 *data)
{
    guint64 value;

    memcpy(&value, data, sizeof(value));
    return GUINT64_FROM_LE(value);
}
