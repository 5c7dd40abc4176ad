/* take_waiters.c - the consumers of one channel that wait for events: linger, deadline, wake-ups.
 */
#include "agent/core/take_waiters.h"

#include "base/clock.h"

/* On the stack of the thread that waits. */
typedef struct {
    GList link;
    GCond cond;
    guint64 want_events; /* either is enough */
    guint64 want_bytes;
    gboolean queued; /* in waiting; whoever wakes it takes it out */
} TakeWaiter;

void
take_waiters_init(TakeWaiters *self)
{
    g_queue_init(&self->waiting);
    self->last_take_us = G_MININT64;
}

static gboolean
stock_reaches(const TakeStock *stock, guint64 n_events, guint64 n_bytes)
{
    return stock->n_events > 0 &&
           (stock->n_events >= n_events || stock->n_bytes >= n_bytes || stock->puts_wait);
}

static void
take_waiters_wake(TakeWaiters *self, TakeWaiter *waiter)
{
    g_queue_unlink(&self->waiting, &waiter->link);
    waiter->queued = FALSE;
    g_cond_signal(&waiter->cond);
}

static void
take_waiters_sleep(TakeWaiters *self, GMutex *lock, TakeWaiter *waiter, gint64 until_us)
{
    gboolean in_time = TRUE;

    g_queue_push_tail_link(&self->waiting, &waiter->link);
    waiter->queued = TRUE;
    while (waiter->queued && in_time) {
        if (until_us == CLOCK_NEVER)
            g_cond_wait(&waiter->cond, lock);
        else
            in_time = g_cond_wait_until(&waiter->cond, lock, until_us);
    }
    if (waiter->queued)
        g_queue_unlink(&self->waiting, &waiter->link);
}

/* When lingering ends; in the past if it is over, or was never asked for. */
static gint64
take_waiters_linger_end_us(const TakeWaiters *self, const TakeLimits *limits)
{
    if (self->last_take_us == G_MININT64 || limits->linger_us <= 0)
        return G_MININT64;
    if (limits->linger_us > CLOCK_NEVER - self->last_take_us)
        return CLOCK_NEVER;
    return self->last_take_us + limits->linger_us;
}

gboolean
take_waiters_wait(TakeWaiters *self, GMutex *lock, const TakeStock *stock, const TakeLimits *limits,
                  gint64 deadline_us)
{
    TakeWaiter waiter = { .link = { .data = &waiter } };

    g_cond_init(&waiter.cond);
    while (!stock_reaches(stock, MAX(limits->max_events, 1), MAX(limits->max_bytes, 1))) {
        gint64 now_us = clock_now_us();
        gint64 linger_end_us = take_waiters_linger_end_us(self, limits);
        gboolean lingers = now_us < linger_end_us;

        if (stock->n_events > 0 && !lingers)
            break;
        if (now_us >= deadline_us || (limits->stop != NULL && g_atomic_int_get(limits->stop)))
            break;
        waiter.want_events = lingers ? MAX(limits->max_events, 1) : 1;
        waiter.want_bytes = lingers ? MAX(limits->max_bytes, 1) : 1;
        take_waiters_sleep(self, lock, &waiter,
                           lingers ? MIN(linger_end_us, deadline_us) : deadline_us);
    }
    g_cond_clear(&waiter.cond);
    return stock->n_events > 0;
}

void
take_waiters_taken(TakeWaiters *self)
{
    self->last_take_us = clock_now_us();
}

void
take_waiters_notify(TakeWaiters *self, const TakeStock *stock)
{
    GList *link = self->waiting.head;

    while (link != NULL) {
        TakeWaiter *waiter = link->data;

        link = link->next;
        if (stock_reaches(stock, waiter->want_events, waiter->want_bytes)) {
            take_waiters_wake(self, waiter);
            break;
        }
    }
}

void
take_waiters_wake_all(TakeWaiters *self)
{
    while (self->waiting.head != NULL)
        take_waiters_wake(self, self->waiting.head->data);
}
