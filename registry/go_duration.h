/* go_duration.h - durations as Go's programs take them: "1h30m", "1.5s", "300ms". */
#pragma once

#include <glib.h>

/* Microseconds. FALSE: it is none, or is negative or beyond all measure. */
gboolean go_duration_parse(const char *text, gint64 *ret_us);
