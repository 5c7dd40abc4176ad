/* crc32.h - the checksum of zlib and gzip, by which brokers check their bodies. */
#pragma once

#include <glib.h>

#include "base/span.h"

guint32 crc32_of(ByteSpan bytes);
