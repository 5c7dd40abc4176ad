/* decoder.h - whole gzip and zstd files back into what went in, by the libraries' own readers. */
#pragma once

#include <glib.h>

#include "agent/sinks/file_codec.h"

/* NULL for what is not built in, and unless the bytes are complete members or frames from the first
 * byte to the last. */
GString *decoder_read(FileCompression compression, const GString *bytes);
