/* loop.h - an epoll loop: descriptors, timers, and jobs handed in by other threads.
 *
 * One thread turns a loop; only loop_post and loop_quit may be called from others. Watches, timers
 * and jobs are embedded in their owners; the loop borrows them until they are removed or have run.
 */
#pragma once

#include <glib.h>

typedef struct Loop Loop;

typedef struct LoopWatch LoopWatch;
struct LoopWatch {
    int fd;
    guint32 events; /* EPOLLIN, EPOLLOUT, ... as last asked for */
    void (*ready)(LoopWatch *self, guint32 events);
};

typedef struct LoopTimer LoopTimer;
struct LoopTimer {
    gint64 due_us;  /* monotonic */
    guint position; /* in the heap, from 1; 0: not set */
    void (*expired)(LoopTimer *self);
};

typedef struct LoopJob LoopJob;
struct LoopJob {
    LoopJob *next;
    void (*run)(LoopJob *self); /* may free the job */
};

Loop *loop_new(GError **error);
void loop_free(Loop *self); /* jobs that were posted and not run are not run */

/* Turns until loop_quit. */
void loop_run(Loop *self);
void loop_quit(Loop *self);               /* any thread */
void loop_post(Loop *self, LoopJob *job); /* any thread; jobs run in order; one wake-up per group */

/* For a GMainContext: poll loop_fd for input, then call loop_turn with timeout 0. */
int loop_fd(const Loop *self);
gint64 loop_next_due_us(const Loop *self); /* CLOCK_NEVER if no timer is set */
void loop_turn(Loop *self, gint64 deadline_us);

gboolean loop_add(Loop *self, LoopWatch *watch, GError **error);
void loop_change(Loop *self, LoopWatch *watch, guint32 events);
/* After this ready is not called again, not even for an event of the same turn. Does not close. */
void loop_remove(Loop *self, LoopWatch *watch);

void loop_timer_set(Loop *self, LoopTimer *timer, gint64 due_us); /* moves it if set */
void loop_timer_clear(Loop *self, LoopTimer *timer);

/* Monotonic time at which this turn woke up: cheap, and exact enough for timeouts. */
gint64 loop_now_us(const Loop *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Loop, loop_free)
