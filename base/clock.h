/* clock.h - the clocks: monotonic for every wait and timer, wall for what people read, the thread's
 * for what work costs. */
#pragma once

#include <glib.h>

/* Microseconds. Deadlines are absolute and monotonic; CLOCK_NEVER is a deadline that does not come.
 */
#define CLOCK_NEVER G_MAXINT64

static inline gint64
clock_now_us(void)
{
    return g_get_monotonic_time();
}

static inline gint64
clock_wall_us(void)
{
    return g_get_real_time();
}

/* Processor time that the calling thread has used. */
gint64 clock_thread_us(void);

/* from + delay, CLOCK_NEVER if that overflows; neither is negative. */
static inline gint64
clock_after_us(gint64 from_us, gint64 delay_us)
{
    return delay_us > CLOCK_NEVER - from_us ? CLOCK_NEVER : from_us + delay_us;
}

static inline gint64
clock_deadline_us(gint64 delay_us)
{
    return clock_after_us(clock_now_us(), delay_us);
}

/* g_cond_wait_until, without a timer for CLOCK_NEVER. */
static inline gboolean
clock_cond_wait_until(GCond *cond, GMutex *lock, gint64 deadline_us)
{
    if (deadline_us != CLOCK_NEVER)
        return g_cond_wait_until(cond, lock, deadline_us);
    g_cond_wait(cond, lock);
    return TRUE;
}

/* For poll and epoll_wait: milliseconds until the deadline, rounded up, -1 for CLOCK_NEVER. */
int clock_poll_timeout_ms(gint64 deadline_us);
