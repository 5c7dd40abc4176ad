/* compression.h - payloads of records, squeezed and expanded. */
#pragma once

#include <glib.h>

#include "base/span.h"

/* NULL-terminated, indexed by RecordCompression: what is built in. */
extern const char *const record_compression_names[];

/* NULL if it would not become smaller. (transfer full) */
guint8 *record_compress(ByteSpan payload, gsize *ret_length);
/* NULL if payload is not what expands to exactly raw_length bytes. (transfer full) */
guint8 *record_expand(ByteSpan payload, gsize raw_length);
