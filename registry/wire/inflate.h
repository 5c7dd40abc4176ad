/* inflate.h - what a broker has compressed. */
#pragma once

#include <glib.h>

#include "base/span.h"

/* (transfer full) One zlib stream and nothing behind it. NULL with G_IO_ERROR_INVALID_DATA, also if
 * it holds more than max bytes, or G_IO_ERROR_NOT_SUPPORTED in a build without zlib. */
GByteArray *inflate_all(ByteSpan compressed, gsize max, GError **error);
