/* lookup_schedule.c - polls with jitter, watches, rechecks, and patience with a registry that
 * fails. */
#include "client/discovery/lookup_schedule.h"

#include "base/clock.h"

#define FIRST_BACKOFF_US G_USEC_PER_SEC
#define MAX_BACKOFF_US (30 * G_USEC_PER_SEC)

void
lookup_schedule_init(LookupSchedule *self, gint64 interval_us, double jitter, gint64 now_us)
{
    *self = (LookupSchedule){
        .interval_us = interval_us,
        .jitter = jitter,
        .due_us = now_us,
        .asked_us = now_us - RECHECK_SPACING_US,
    };
    backoff_init(&self->backoff, MIN(FIRST_BACKOFF_US, interval_us),
                 MIN(MAX_BACKOFF_US, interval_us));
}

void
lookup_schedule_begin(LookupSchedule *self, gint64 now_us)
{
    self->due_us = CLOCK_NEVER;
    self->asked_us = now_us;
    self->wants_recheck = FALSE;
}

static gint64
schedule_poll_delay_us(const LookupSchedule *self)
{
    return self->interval_us -
           (gint64) ((double) self->interval_us * self->jitter * g_random_double());
}

static gint64
schedule_recheck_us(const LookupSchedule *self, gint64 now_us)
{
    return MAX(now_us, self->asked_us + RECHECK_SPACING_US);
}

void
lookup_schedule_end(LookupSchedule *self, LookupOutcome outcome, gint64 now_us)
{
    self->may_watch = outcome == LOOKUP_MAY_WATCH;
    if (outcome != LOOKUP_FAILED)
        backoff_reset(&self->backoff);
    if (outcome == LOOKUP_MAY_WATCH)
        self->due_us = MAX(now_us, self->asked_us + WATCH_SPACING_US);
    else if (outcome == LOOKUP_ANSWERED)
        self->due_us = now_us + schedule_poll_delay_us(self);
    else
        self->due_us = now_us + backoff_next_delay_us(&self->backoff);
    if (self->wants_recheck)
        lookup_schedule_recheck(self, now_us);
}

void
lookup_schedule_recheck(LookupSchedule *self, gint64 now_us)
{
    if (self->due_us == CLOCK_NEVER)
        self->wants_recheck = !self->may_watch;
    else
        self->due_us = MIN(self->due_us, schedule_recheck_us(self, now_us));
}
