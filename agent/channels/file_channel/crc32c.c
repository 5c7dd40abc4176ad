/* crc32c.c - CRC-32C (Castagnoli), by the processor's own instruction where it has one. */
#include "agent/channels/file_channel/crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* bits reversed */

/* table[k][b]: the checksum of byte b with k zero bytes behind it. */
static guint32 table[8][256];

static void
fill_table(void)
{
    for (guint b = 0; b < 256; b++) {
        guint32 crc = b;

        for (guint bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? POLYNOMIAL : 0);
        table[0][b] = crc;
    }
    for (guint k = 1; k < 8; k++)
        for (guint b = 0; b < 256; b++)
            table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xff];
}

static guint32
step_eight(guint32 crc, const guint8 *at)
{
    guint32 low;
    guint32 high;

    memcpy(&low, at, 4);
    memcpy(&high, at + 4, 4);
    low = GUINT32_FROM_LE(low) ^ crc;
    high = GUINT32_FROM_LE(high);
    return table[7][low & 0xff] ^ table[6][(low >> 8) & 0xff] ^ table[5][(low >> 16) & 0xff] ^
           table[4][low >> 24] ^ table[3][high & 0xff] ^ table[2][(high >> 8) & 0xff] ^
           table[1][(high >> 16) & 0xff] ^ table[0][high >> 24];
}

guint32
crc32c_by_table(guint32 crc, const void *data, gsize length)
{
    static gsize is_filled = 0;
    const guint8 *at = data;

    if (g_once_init_enter(&is_filled)) {
        fill_table();
        g_once_init_leave(&is_filled, 1);
    }
    crc = ~crc;
    for (; length >= 8; at += 8, length -= 8)
        crc = step_eight(crc, at);
    for (; length > 0; at++, length--)
        crc = (crc >> 8) ^ table[0][(crc ^ *at) & 0xff];
    return ~crc;
}

#ifdef __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static guint32
crc32c_by_instruction(guint32 crc, const void *data, gsize length)
{
    const guint8 *at = data;
    guint64 wide = (guint32) ~crc;

    for (; length >= 8; at += 8, length -= 8) {
        guint64 word;

        memcpy(&word, at, sizeof(word));
        wide = _mm_crc32_u64(wide, word);
    }
    for (; length > 0; at++, length--)
        wide = _mm_crc32_u8((guint32) wide, *at);
    return ~(guint32) wide;
}

guint32
crc32c(guint32 crc, const void *data, gsize length)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_by_instruction(crc, data, length)
                                            : crc32c_by_table(crc, data, length);
}
#else
guint32
crc32c(guint32 crc, const void *data, gsize length)
{
    return crc32c_by_table(crc, data, length);
}
#endif
