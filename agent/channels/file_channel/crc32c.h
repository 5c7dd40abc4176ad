/* crc32c.h - CRC-32C (Castagnoli), by the processor's own instruction where it has one. */
#pragma once

#include <glib.h>

/* crc is 0, or what the call for the bytes before these returned. */
guint32 crc32c(guint32 crc, const void *data, gsize length);
/* The same, never with the instruction. */
guint32 crc32c_by_table(guint32 crc, const void *data, gsize length);
