/* backoff.h - how long to wait before the next attempt: doubling, capped, with jitter over the
 * upper half. */
#pragma once

#include <glib.h>

typedef struct {
    gint64 first_us;
    gint64 max_us;
    guint failures; /* in a row */
} Backoff;

void backoff_init(Backoff *self, gint64 first_us, gint64 max_us);
/* min(first * 2^(failures-1), max), of which the upper half is random. Counts one failure. */
gint64 backoff_next_delay_us(Backoff *self);
void backoff_reset(Backoff *self);
