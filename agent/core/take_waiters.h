/* take_waiters.h - the consumers of one channel that wait for events: linger, deadline, wake-ups.
 *
 * Part of a channel and guarded by the channel's lock. A producer wakes only a consumer whose wish
 * is fulfilled, and each only once, so that under load nobody is woken per event. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"

typedef struct {
    GQueue waiting; /* in order of arrival */
    gint64 last_take_us;
} TakeWaiters;

/* What is there to be taken. */
typedef struct {
    guint64 n_events;
    guint64 n_bytes;
    gboolean puts_wait; /* producers wait until something is taken: lingering would be in vain */
} TakeStock;

void take_waiters_init(TakeWaiters *self);

/* Waits as channel_take says, on the lock that guards stock. Returns when something may be taken
 * (TRUE), or at the deadline or a stop without anything there (FALSE). */
gboolean take_waiters_wait(TakeWaiters *self, GMutex *lock, const TakeStock *stock,
                           const TakeLimits *limits, gint64 deadline_us);
/* After a take that gave a lease. */
void take_waiters_taken(TakeWaiters *self);

/* After the stock has grown, or puts have begun to wait. */
void take_waiters_notify(TakeWaiters *self, const TakeStock *stock);
/* All of them look at their stop flags. */
void take_waiters_wake_all(TakeWaiters *self);
