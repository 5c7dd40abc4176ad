/* compression.h - payloads of records, squeezed and expanded. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/record.h"

/* The library that this kind needs and this leat was built without; NULL if there is none. */
const char *record_compression_missing(RecordCompression compression);

/* NULL if it would not become smaller, or there is no memory for it. (transfer full) */
guint8 *record_compress(ByteSpan payload, gsize *ret_length);
/* raw has room for raw_length bytes. FALSE if payload is not what expands to exactly so many. */
gboolean record_expand(ByteSpan payload, guint8 *raw, gsize raw_length);
