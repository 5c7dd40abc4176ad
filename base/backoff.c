/* backoff.c - exponential back-off with jitter. */
#include "base/backoff.h"

void
backoff_init(Backoff *self, gint64 first_us, gint64 max_us)
{
    self->first_us = first_us;
    self->max_us = MAX(first_us, max_us);
    self->failures = 0;
}

gint64
backoff_next_delay_us(Backoff *self)
{
    gint64 delay_us = self->first_us;
    gint64 half_us;

    for (guint i = 0; i < self->failures && delay_us < self->max_us; i++)
        delay_us = delay_us > self->max_us / 2 ? self->max_us : delay_us * 2;
    self->failures = MIN(self->failures + 1, G_MAXUINT - 1);
    half_us = delay_us / 2;
    return half_us + (gint64) (g_random_double() * (double) (delay_us - half_us));
}

void
backoff_reset(Backoff *self)
{
    self->failures = 0;
}
