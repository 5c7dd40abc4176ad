/* compression_zstd.c - payloads of records by zstd, each a frame of its own. */
#include <zstd.h>

#include "agent/channels/file_channel/compression.h"

/* Level 1: what is behind by a disk should not be held up by the processor. */
#define LEVEL 1

const char *
record_compression_missing(RecordCompression compression G_GNUC_UNUSED)
{
    return NULL;
}

guint8 *
record_compress(ByteSpan payload, gsize *ret_length)
{
    g_autofree guint8 *out = g_try_malloc(payload.length);
    gsize length;

    if (out == NULL)
        return NULL;
    length = ZSTD_compress(out, payload.length, payload.data, payload.length, LEVEL);
    if (ZSTD_isError(length) || length >= payload.length)
        return NULL;
    *ret_length = length;
    return g_steal_pointer(&out);
}

gboolean
record_expand(ByteSpan payload, guint8 *raw, gsize raw_length)
{
    return ZSTD_decompress(raw, raw_length, payload.data, payload.length) == raw_length;
}
