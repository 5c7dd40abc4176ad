/* intercept_watch.h - the processor time that interceptors may take for a batch, and for an event.
 *
 * Interceptors whose work depends on what a client sends, such as a regular expression's, look at
 * the watch again and again. Time of the thread, not of the clock: a busy machine refuses nothing.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

typedef struct {
    gint64 timeout_us;           /* for one batch, and half of it for one event */
    _Atomic(gint64) refuse_from; /* monotonic; every batch is refused from then on */
} InterceptTime;

typedef enum {
    INTERCEPT_GOES_ON,
    INTERCEPT_TOO_SLOW, /* the batch has had its time */
    INTERCEPT_STOPPING, /* the agent stops, and this is no longer waited for */
} InterceptVerdict;

/* Of one batch, on the thread that works on it. */
typedef struct {
    const InterceptTime *time; /* NULL: as long as it takes */
    InterceptVerdict verdict;
    gint64 begin_us;      /* monotonic */
    gint64 next_look_us;  /* monotonic: nothing can be over before */
    gint64 cpu_begin_us;  /* of the thread; 0 until it is needed */
    gint64 used_us;       /* when last looked at */
    gint64 event_used_us; /* before this event */
    gboolean event_is_over;
} InterceptWatch;

void intercept_watch_begin(InterceptWatch *self, const InterceptTime *time);
void intercept_watch_begin_event(InterceptWatch *self);
/* FALSE if the event has had its time, or the batch: then the event is left as it is. */
gboolean intercept_watch_look(InterceptWatch *self);
