/* lookup_schedule.h - when one registry is asked next.
 *
 * Pure: the clock is passed in. One question is under way at a time. Those who may watch ask again
 * at once and are answered when there is news; others poll, and ask sooner when a connection to a
 * host has broken. */
#pragma once

#include <glib.h>

#include "base/backoff.h"

/* Rechecks come no closer than this, however many connections break. */
#define RECHECK_SPACING_US G_USEC_PER_SEC
/* Nor do watches, whatever answers them. */
#define WATCH_SPACING_US (50 * 1000)

typedef enum {
    LOOKUP_FAILED,
    LOOKUP_ANSWERED,  /* poll */
    LOOKUP_MAY_WATCH, /* the next question may wait for news */
} LookupOutcome;

typedef struct {
    gint64 interval_us;
    double jitter; /* at most so much of the interval is left out, at random */
    Backoff backoff;
    gint64 due_us;   /* CLOCK_NEVER while a question is under way */
    gint64 asked_us; /* when the last one went out */
    gboolean may_watch;
    gboolean wants_recheck; /* since the one that is under way went out */
} LookupSchedule;

/* The first question is due at once. */
void lookup_schedule_init(LookupSchedule *self, gint64 interval_us, double jitter, gint64 now_us);
void lookup_schedule_begin(LookupSchedule *self, gint64 now_us);
void lookup_schedule_end(LookupSchedule *self, LookupOutcome outcome, gint64 now_us);
/* A connection has broken. Who watches is told of what changed anyway. */
void lookup_schedule_recheck(LookupSchedule *self, gint64 now_us);
