/* compression_zstd.c - payloads of records by zstd, each a frame of its own. */
#include <zstd.h>

#include "agent/channels/file_channel/compression.h"

/* Level 1: what is behind by a disk should not be held up by the processor. */
#define LEVEL 1

const char *const record_compression_names[] = { "none", "zstd", NULL };

guint8 *
record_compress(ByteSpan payload, gsize *ret_length)
{
    g_autofree guint8 *out = g_malloc(payload.length);
    gsize length = ZSTD_compress(out, payload.length, payload.data, payload.length, LEVEL);

    if (ZSTD_isError(length) || length >= payload.length)
        return NULL;
    *ret_length = length;
    return g_realloc(g_steal_pointer(&out), length);
}

guint8 *
record_expand(ByteSpan payload, gsize raw_length)
{
    g_autofree guint8 *out = NULL;

    /* Memory is for what the frame holds, not for what a header claims. */
    if (ZSTD_getFrameContentSize(payload.data, payload.length) != raw_length)
        return NULL;
    out = g_malloc(raw_length);
    if (ZSTD_decompress(out, raw_length, payload.data, payload.length) != raw_length)
        return NULL;
    return g_steal_pointer(&out);
}
