/* log_rate.c - a line of the log now and then, for what may happen as often as it likes. */
#include "base/log_rate.h"

#include "base/clock.h"

gboolean
log_rate_admit(LogRate *self, gint64 interval_us, guint64 *ret_left_out)
{
    gint64 now_us = clock_now_us();

    if (now_us < self->next_line_us) {
        self->left_out++;
        return FALSE;
    }
    self->next_line_us = now_us + interval_us;
    *ret_left_out = self->left_out;
    self->left_out = 0;
    return TRUE;
}
