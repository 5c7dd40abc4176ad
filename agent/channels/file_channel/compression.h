/* compression.h - payloads of records, squeezed and expanded. */
#pragma once

#include <glib.h>

#include "base/span.h"

/* NULL-terminated, indexed by RecordCompression: what is built in. */
extern const char *const record_compression_names[];

/* NULL if it would not become smaller, or there is no memory for it. (transfer full) */
guint8 *record_compress(ByteSpan payload, gsize *ret_length);
/* raw has room for raw_length bytes. FALSE if payload is not what expands to exactly so many. */
gboolean record_expand(ByteSpan payload, guint8 *raw, gsize raw_length);
