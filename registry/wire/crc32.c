/* crc32.c - CRC-32 by a table of bytes; a build without zlib has it too. */
#include "registry/wire/crc32.h"

#define POLYNOMIAL 0xedb88320u /* bits reversed */

static guint32 table[256];

static void
fill_table(void)
{
    for (guint b = 0; b < 256; b++) {
        guint32 crc = b;

        for (guint bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? POLYNOMIAL : 0);
        table[b] = crc;
    }
}

guint32
crc32_of(ByteSpan bytes)
{
    static gsize filled;
    guint32 crc = 0xffffffffu;

    if (g_once_init_enter(&filled)) {
        fill_table();
        g_once_init_leave(&filled, 1);
    }
    for (gsize i = 0; i < bytes.length; i++)
        crc = (crc >> 8) ^ table[(crc ^ bytes.data[i]) & 0xff];
    return crc ^ 0xffffffffu;
}
