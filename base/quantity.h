/* quantity.h - numbers as people write them: sizes with KiB, durations with s, and back to text. */
#pragma once

#include <glib.h>

/* All return NULL on success, else a static sentence for the user: "is not a size; write a number
 * with KiB, MiB or GiB". The result is written only on success. */
/* Its sentence has no remedy: the caller knows the range. */
const char *quantity_parse_count(const char *text, guint64 *ret_count);
/* Bytes: plain, or with B, kB MB GB TB (powers of 1000), KiB MiB GiB TiB (powers of 1024; in any
 * case). Fractions are cut to whole bytes. A space may stand before a unit, here and below. */
const char *quantity_parse_size(const char *text, guint64 *ret_bytes);
/* Microseconds, whole or with a fraction: a number with us, ms, s, m, h or d; "0" needs no unit. */
const char *quantity_parse_duration(const char *text, gint64 *ret_us);
/* "0.25" or "25%", from 0 to 1. */
const char *quantity_parse_ratio(const char *text, double *ret_ratio);

char *quantity_size_to_text(guint64 bytes); /* (transfer full) "1.5 GiB" */
char *quantity_duration_to_text(gint64 us); /* (transfer full) "250 ms" */
/* For a size that is compared with another: exact, "16384001 B", where both would be the same text.
 * (transfer full) */
char *quantity_size_to_text_beside(guint64 bytes, guint64 other);

/* Exact, and as it would be written in a file: "4KiB", "16384000B", "10s". (transfer full) */
char *quantity_size_to_option(guint64 bytes);
char *quantity_duration_to_option(gint64 us);
