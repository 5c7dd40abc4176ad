/* log_rate.h - a line of the log now and then, for what may happen as often as it likes. */
#pragma once

#include <glib.h>

/* Zero to begin with. */
typedef struct {
    gint64 next_line_us; /* monotonic: no line before */
    guint64 left_out;
} LogRate;

/* Whether this time gets a line, and how many before it got none. */
gboolean log_rate_admit(LogRate *self, gint64 interval_us, guint64 *ret_left_out);
