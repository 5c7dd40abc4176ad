/* intercept_watch.c - the processor time that interceptors may take for a batch, and for an event.
 */
#include "agent/core/intercept_watch.h"

#include "base/clock.h"

/* Between two readings of the processor's clock, which costs ten times as much as the other. */
#define LOOK_US 1000

void
intercept_watch_begin(InterceptWatch *self, const InterceptTime *time)
{
    *self = (InterceptWatch){ .time = time, .begin_us = clock_now_us() };
    self->next_look_us = self->begin_us + LOOK_US;
    if (time != NULL &&
        self->begin_us >= atomic_load_explicit(&time->refuse_from, memory_order_relaxed))
        self->verdict = INTERCEPT_STOPPING;
}

void
intercept_watch_begin_event(InterceptWatch *self)
{
    self->event_used_us = self->used_us;
    self->event_is_over = FALSE;
}

static void
read_processor_clock(InterceptWatch *self, gint64 now_us)
{
    gint64 cpu_us = clock_thread_us();

    /* So far no more can have been used than went by. */
    if (self->cpu_begin_us == 0)
        self->cpu_begin_us = cpu_us - (now_us - self->begin_us);
    self->used_us = cpu_us - self->cpu_begin_us;
}

/* An event counts for half of the batch's time at most, however late this was noticed: alone, it
 * always gets through. */
static void
end_event(InterceptWatch *self, gint64 share_us)
{
    gint64 excess_us = self->used_us - self->event_used_us - share_us;

    if (excess_us <= 0)
        return;
    self->event_is_over = TRUE;
    self->cpu_begin_us += excess_us;
    self->used_us -= excess_us;
}

gboolean
intercept_watch_look(InterceptWatch *self)
{
    gint64 now_us;

    if (self->time == NULL)
        return TRUE;
    if (self->verdict != INTERCEPT_GOES_ON || self->event_is_over)
        return FALSE;
    now_us = clock_now_us();
    if (now_us < self->next_look_us)
        return TRUE;
    self->next_look_us = now_us + LOOK_US;
    read_processor_clock(self, now_us);
    end_event(self, self->time->timeout_us / 2);
    if (now_us >= atomic_load_explicit(&self->time->refuse_from, memory_order_relaxed))
        self->verdict = INTERCEPT_STOPPING;
    else if (self->used_us > self->time->timeout_us)
        self->verdict = INTERCEPT_TOO_SLOW;
    return self->verdict == INTERCEPT_GOES_ON && !self->event_is_over;
}
