/* compression_none.c - what takes the place of zstd where leat is built without it. */
#include "agent/channels/file_channel/compression.h"

const char *
record_compression_missing(RecordCompression compression)
{
    return compression == RECORD_ZSTD ? "zstd" : NULL;
}

guint8 *
record_compress(ByteSpan payload G_GNUC_UNUSED, gsize *ret_length G_GNUC_UNUSED)
{
    return NULL;
}

gboolean
record_expand(ByteSpan payload G_GNUC_UNUSED, guint8 *raw G_GNUC_UNUSED,
              gsize raw_length G_GNUC_UNUSED)
{
    return FALSE;
}
