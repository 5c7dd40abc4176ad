/* clock.c - poll timeouts from monotonic deadlines. */
#include "base/clock.h"

int
clock_poll_timeout_ms(gint64 deadline_us)
{
    gint64 left_us;

    if (deadline_us == CLOCK_NEVER)
        return -1;
    left_us = deadline_us - clock_now_us();
    if (left_us <= 0)
        return 0;
    return (int) MIN((left_us + 999) / 1000, G_MAXINT);
}
