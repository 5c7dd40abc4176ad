/* time_pattern.h - reads times that people or programs wrote, by a pattern of letters.
 *
 *     yyyy or yy  year (two digits: 1970 to 2069)     HH  hour, 0 to 23
 *     MM          month                               hh  hour, 1 to 12, with a: AM or PM
 *     MMM         month, an English name              mm  minute     ss  second
 *     dd          day of the month                    SSS fraction of the second, any digits
 *     EEE         day of the week, is skipped         Z   offset: +0100, +01:00 or Z
 *
 * One letter or two read the same; numbers that touch have exactly as many digits as letters. Text
 * in 'quotes' and everything that is no letter stands for itself. A time without a year is the
 * latest that is not more than a day ahead. */
#pragma once

#include <glib.h>

#include "base/span.h"

typedef struct TimePattern TimePattern;

/* zone is where times without an offset are: "local", "UTC", "+02:00" or "Europe/Berlin". NULL and
 * a sentence for the user if the pattern or the zone cannot be understood. */
TimePattern *time_pattern_new(const char *pattern, const char *zone, GError **error);
void time_pattern_free(TimePattern *self);

/* Milliseconds since 1970, UTC. FALSE if the text does not fit, to its end. Any thread. */
gboolean time_pattern_read(const TimePattern *self, ByteSpan text, gint64 *ret_ms);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TimePattern, time_pattern_free)
