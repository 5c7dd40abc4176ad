/* clock.c - poll timeouts from monotonic deadlines, and the thread's clock. */
#include "base/clock.h"

#include <time.h>

gint64
clock_thread_us(void)
{
    struct timespec used;

    /* Cannot fail: the clock is the calling thread's own. */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (gint64) used.tv_sec * G_USEC_PER_SEC + used.tv_nsec / 1000;
}

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
