/* receive_memory.c - two counters, and a line of those who wait for the first to fall.
 *
 * The counters are atomic, so that a loop takes the lock only when somebody waits. A waiter first
 * counts itself and then looks at the counters; who releases first lowers a counter and then looks
 * for waiters. In sequentially consistent order one of the two sees the other. */
#include "thrift/receive_memory.h"

#include <stdatomic.h>

/* Less is not worth a read of its own; the frame is then read piece by piece. */
#define LEAST_READ_AHEAD 4096

struct ReceiveMemory {
    gsize limit; /* fixed */

    atomic_size_t reserved;
    atomic_size_t held;
    atomic_uint n_waiting;

    GMutex lock; /* guards the line, and the last three members of those in it */
    ReceiveWaiter *first, *last;
};

ReceiveMemory *
receive_memory_new(gsize limit)
{
    ReceiveMemory *self = g_new0(ReceiveMemory, 1);

    self->limit = limit;
    g_mutex_init(&self->lock);
    return self;
}

void
receive_memory_free(ReceiveMemory *self)
{
    if (self == NULL)
        return;
    g_assert(self->first == NULL);
    g_mutex_clear(&self->lock);
    g_free(self);
}

/* own: what is reserved already for the one who asks. */
static gboolean
try_reserve(ReceiveMemory *self, gsize own, gsize size)
{
    gsize reserved = atomic_load(&self->reserved);

    do {
        gsize used = reserved + atomic_load(&self->held);

        if (reserved > own && (used > self->limit || size > self->limit - used))
            return FALSE;
    } while (!atomic_compare_exchange_weak(&self->reserved, &reserved, reserved + size));
    return TRUE;
}

/* ---- the line; with the lock held ---- */

static void
line_append(ReceiveMemory *self, ReceiveWaiter *waiter)
{
    waiter->queued = TRUE;
    waiter->next = NULL;
    waiter->previous = self->last;
    if (self->last != NULL)
        self->last->next = waiter;
    else
        self->first = waiter;
    self->last = waiter;
}

static void
line_remove(ReceiveMemory *self, ReceiveWaiter *waiter)
{
    if (waiter->previous != NULL)
        waiter->previous->next = waiter->next;
    else
        self->first = waiter->next;
    if (waiter->next != NULL)
        waiter->next->previous = waiter->previous;
    else
        self->last = waiter->previous;
    waiter->queued = FALSE;
    atomic_fetch_sub(&self->n_waiting, 1);
}

/* The first in line, if there is room for it now; it belongs to nobody's line any more. */
static ReceiveWaiter *
line_admit_first(ReceiveMemory *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    ReceiveWaiter *first = self->first;

    if (first == NULL || !try_reserve(self, 0, first->size))
        return NULL;
    line_remove(self, first);
    return first;
}

static void
admit_waiters(ReceiveMemory *self)
{
    ReceiveWaiter *admitted;

    while (atomic_load(&self->n_waiting) > 0 && (admitted = line_admit_first(self)) != NULL)
        loop_post(admitted->loop, &admitted->granted);
}

/* ---- reserving ---- */

gboolean
receive_memory_reserve(ReceiveMemory *self, gsize size, ReceiveWaiter *waiter)
{
    if (atomic_load(&self->n_waiting) == 0 && try_reserve(self, 0, size))
        return TRUE;

    g_mutex_lock(&self->lock);
    waiter->size = size;
    atomic_fetch_add(&self->n_waiting, 1);
    line_append(self, waiter);
    g_mutex_unlock(&self->lock);
    /* What was released before we were counted has not been offered to us. */
    admit_waiters(self);
    return FALSE;
}

gboolean
receive_memory_cancel(ReceiveMemory *self, ReceiveWaiter *waiter)
{
    gboolean cancelled;

    g_mutex_lock(&self->lock);
    cancelled = waiter->queued;
    if (cancelled)
        line_remove(self, waiter);
    g_mutex_unlock(&self->lock);
    if (cancelled) /* the next in line may be smaller */
        admit_waiters(self);
    return cancelled;
}

void
receive_memory_release(ReceiveMemory *self, gsize size)
{
    atomic_fetch_sub(&self->reserved, size);
    admit_waiters(self);
}

void
receive_memory_adjust(ReceiveMemory *self, gsize from, gsize to)
{
    if (to > from)
        atomic_fetch_add(&self->reserved, to - from);
    else if (to < from)
        receive_memory_release(self, from - to);
}

gboolean
receive_memory_enlarge(ReceiveMemory *self, gsize reserved, gsize size)
{
    return size == 0 || try_reserve(self, reserved, size);
}

/* ---- reading ahead ---- */

gsize
receive_memory_read_ahead(const ReceiveMemory *self, gsize wanted)
{
    gsize reserved = atomic_load_explicit(&self->reserved, memory_order_relaxed);
    gsize held = atomic_load_explicit(&self->held, memory_order_relaxed);
    gsize most_held = self->limit / 8;
    gsize room;

    if (held >= most_held || reserved + held >= self->limit ||
        atomic_load_explicit(&self->n_waiting, memory_order_relaxed) > 0)
        return 0;
    room = MIN(most_held - held, self->limit - reserved - held);
    return room >= LEAST_READ_AHEAD ? MIN(room, wanted) : 0;
}

void
receive_memory_hold(ReceiveMemory *self, gsize size)
{
    atomic_fetch_add(&self->held, size);
}

void
receive_memory_release_held(ReceiveMemory *self, gsize size)
{
    atomic_fetch_sub(&self->held, size);
    admit_waiters(self);
}

gsize
receive_memory_reserved(const ReceiveMemory *self)
{
    return atomic_load(&self->reserved);
}

gsize
receive_memory_held(const ReceiveMemory *self)
{
    return atomic_load(&self->held);
}
