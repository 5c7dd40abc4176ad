/* take_waiters.c - the consumers of one channel that wait for events: linger, deadline, wake-ups.
 */
#include "agent/core/take_waiters.h"

#include "base/clock.h"

/* A consumer that comes back and finds less than it wants is ahead of the producers. Were it woken
 * by each put that fills a batch, waking and falling asleep would be a good part of all the work.
 * So it rests after its last take, as far as it lingers at all: a put wakes it that comes later
 * than this, or has to wait, or makes so many bytes that they are worth it. */
#define REST_US 200
#define REST_BYTES (512 * 1024)
/* There may be no such put. A timer that is due before all others, as one of 200 us would be, costs
 * more than everything else about a wake-up, many times more on a virtual machine. */
#define LONGEST_REST_US (5 * 1000)

/* On the stack of the thread that waits. */
typedef struct {
    GList link;
    GCond cond;
    guint64 want_events; /* either is enough */
    guint64 want_bytes;
    gint64 rest_end_us;
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

static gboolean
take_waiter_is_served(const TakeWaiter *self, const TakeStock *stock)
{
    if (!stock_reaches(stock, self->want_events, self->want_bytes))
        return FALSE;
    return stock->puts_wait || stock->n_bytes >= REST_BYTES || self->rest_end_us == G_MININT64 ||
           clock_now_us() >= self->rest_end_us;
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
    while (waiter->queued && in_time)
        in_time = clock_cond_wait_until(&waiter->cond, lock, until_us);
    if (waiter->queued)
        g_queue_unlink(&self->waiting, &waiter->link);
}

/* The end of a time that began with the last take; long past if there was none, or no time. */
static gint64
take_waiters_after_last_us(const TakeWaiters *self, gint64 delay_us)
{
    if (self->last_take_us == G_MININT64 || delay_us <= 0)
        return G_MININT64;
    return clock_after_us(self->last_take_us, delay_us);
}

/* What the waiter is to be woken for; TRUE while it lingers: then at least until *ret_wake_us. */
static gboolean
take_waiters_linger(const TakeWaiters *self, const TakeLimits *limits, TakeWaiter *waiter,
                    gint64 now_us, gint64 *ret_wake_us)
{
    gint64 linger_end_us = take_waiters_after_last_us(self, limits->linger_us);

    waiter->rest_end_us = G_MININT64;
    waiter->want_events = waiter->want_bytes = 1;
    *ret_wake_us = CLOCK_NEVER;
    if (now_us >= linger_end_us)
        return FALSE;
    waiter->rest_end_us = take_waiters_after_last_us(self, MIN(limits->linger_us, REST_US));
    waiter->want_events = MAX(limits->max_events, 1);
    waiter->want_bytes = MAX(limits->max_bytes, 1);
    *ret_wake_us = linger_end_us;
    if (now_us < waiter->rest_end_us)
        *ret_wake_us = MIN(linger_end_us, now_us + LONGEST_REST_US);
    return TRUE;
}

gboolean
take_waiters_wait(TakeWaiters *self, GMutex *lock, const TakeStock *stock, const TakeLimits *limits,
                  gint64 deadline_us)
{
    TakeWaiter waiter = { .link = { .data = &waiter } };

    g_cond_init(&waiter.cond);
    while (!stock_reaches(stock, MAX(limits->max_events, 1), MAX(limits->max_bytes, 1))) {
        gint64 now_us = clock_now_us();
        gint64 wake_us;

        if (!take_waiters_linger(self, limits, &waiter, now_us, &wake_us) && stock->n_events > 0)
            break;
        if (now_us >= deadline_us || (limits->stop != NULL && g_atomic_int_get(limits->stop)))
            break;
        take_waiters_sleep(self, lock, &waiter, MIN(wake_us, deadline_us));
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
        if (take_waiter_is_served(waiter, stock)) {
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
