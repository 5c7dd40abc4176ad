/* receive_memory.c - counters, and lines of those who wait for them to fall.
 *
 * The counters are atomic, so that a loop takes the lock only when somebody waits. A waiter first
 * counts itself and then looks at the counters; who releases first lowers a counter and then looks
 * for waiters. In sequentially consistent order one of the two sees the other.
 *
 * Small ones may use what large ones leave, as long as no large one waits for it; then they are
 * back in their share as soon as their puts are done. Two that reserve in different accounts at the
 * same moment may exceed the limit by the small one. */
#include "thrift/receive_memory.h"

#include <stdatomic.h>

/* Less is not worth a read of its own; the frame is then read piece by piece. */
#define LEAST_READ_AHEAD 4096

typedef struct {
    atomic_size_t reserved;
    atomic_uint n_waiting;
    ReceiveWaiter *first, *last; /* the line, guarded by the lock of the gate */
} Account;

struct ReceiveMemory {
    gsize limit; /* fixed, like the next */
    gsize small_share;

    Account small;
    Account large;
    atomic_size_t held;

    GMutex lock; /* guards the lines, and the last three members of those in them */
};

ReceiveMemory *
receive_memory_new(gsize limit)
{
    ReceiveMemory *self = g_new0(ReceiveMemory, 1);

    self->limit = limit;
    self->small_share = MIN(MAX(limit / 16, RECEIVE_SMALL), limit - limit / 8);
    g_mutex_init(&self->lock);
    return self;
}

void
receive_memory_free(ReceiveMemory *self)
{
    if (self == NULL)
        return;
    g_assert(self->small.first == NULL && self->large.first == NULL);
    g_mutex_clear(&self->lock);
    g_free(self);
}

static Account *
account_for(ReceiveMemory *self, gsize size)
{
    return size <= RECEIVE_SMALL ? &self->small : &self->large;
}

/* ---- room ---- */

static gboolean
has_room(gsize limit, gsize used, gsize size)
{
    return used <= limit && size <= limit - used;
}

/* reserved: in the account; own: how much of it is the asker's. Likewise below. */
static gboolean
small_fits(const ReceiveMemory *self, gsize reserved, gsize own, gsize size)
{
    if (reserved <= own || has_room(self->small_share, reserved, size))
        return TRUE;
    return atomic_load(&self->large.n_waiting) == 0 &&
           has_room(self->limit,
                    reserved + atomic_load(&self->large.reserved) + atomic_load(&self->held), size);
}

static gboolean
large_fits(const ReceiveMemory *self, gsize reserved, gsize own, gsize size)
{
    gsize small = atomic_load(&self->small.reserved);

    if (reserved <= own && small <= self->small_share)
        return TRUE;
    return has_room(self->limit,
                    reserved + MAX(small, self->small_share) + atomic_load(&self->held), size);
}

static gboolean
try_reserve(ReceiveMemory *self, Account *account, gsize own, gsize size)
{
    gsize reserved = atomic_load(&account->reserved);
    gboolean fits;

    do {
        fits = account == &self->small ? small_fits(self, reserved, own, size)
                                       : large_fits(self, reserved, own, size);
    } while (fits && !atomic_compare_exchange_weak(&account->reserved, &reserved, reserved + size));
    return fits;
}

/* ---- the line; with the lock held ---- */

static void
line_append(Account *self, ReceiveWaiter *waiter)
{
    waiter->queued = TRUE;
    waiter->next = NULL;
    waiter->previous = self->last;
    if (self->last != NULL)
        self->last->next = waiter;
    else
        self->first = waiter;
    self->last = waiter;
    atomic_fetch_add(&self->n_waiting, 1);
}

static void
line_remove(Account *self, ReceiveWaiter *waiter)
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
line_admit_first(ReceiveMemory *self, Account *account)
{
    ReceiveWaiter *first = account->first;

    if (first == NULL || !try_reserve(self, account, 0, first->size))
        return NULL;
    line_remove(account, first);
    return first;
}

/* ---- admitting ---- */

/* The large one before the small one, which may only use what is left when it has gone. */
static ReceiveWaiter *
admit_next(ReceiveMemory *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    ReceiveWaiter *admitted = line_admit_first(self, &self->large);

    return admitted != NULL ? admitted : line_admit_first(self, &self->small);
}

gboolean
receive_memory_has_waiters(const ReceiveMemory *self)
{
    return atomic_load(&self->large.n_waiting) > 0 || atomic_load(&self->small.n_waiting) > 0;
}

static void
admit_waiters(ReceiveMemory *self)
{
    ReceiveWaiter *admitted;

    while (receive_memory_has_waiters(self) && (admitted = admit_next(self)) != NULL)
        loop_post(admitted->loop, &admitted->granted);
}

/* ---- reserving ---- */

gboolean
receive_memory_reserve(ReceiveMemory *self, gsize size, ReceiveWaiter *waiter)
{
    Account *account = account_for(self, size);

    if (atomic_load(&account->n_waiting) == 0 && try_reserve(self, account, 0, size))
        return TRUE;

    g_mutex_lock(&self->lock);
    waiter->size = size;
    line_append(account, waiter);
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
        line_remove(account_for(self, waiter->size), waiter);
    g_mutex_unlock(&self->lock);
    if (cancelled) /* the next in line may be smaller */
        admit_waiters(self);
    return cancelled;
}

static void
account_release(ReceiveMemory *self, Account *account, gsize size)
{
    atomic_fetch_sub(&account->reserved, size);
    admit_waiters(self);
}

void
receive_memory_release(ReceiveMemory *self, gsize size)
{
    account_release(self, account_for(self, size), size);
}

void
receive_memory_adjust(ReceiveMemory *self, gsize from, gsize to)
{
    Account *before = account_for(self, from);
    Account *after = account_for(self, to);

    if (before != after) {
        atomic_fetch_add(&after->reserved, to);
        if (from > 0)
            account_release(self, before, from);
    } else if (to > from) {
        atomic_fetch_add(&after->reserved, to - from);
    } else if (to < from) {
        account_release(self, before, from - to);
    }
}

gboolean
receive_memory_reserve_more(ReceiveMemory *self, gsize own, gsize size)
{
    Account *account = account_for(self, size);

    return try_reserve(self, account, account == account_for(self, own) ? own : 0, size);
}

gboolean
receive_memory_lends(const ReceiveMemory *self, gsize size)
{
    return size <= RECEIVE_SMALL &&
           atomic_load_explicit(&self->small.n_waiting, memory_order_relaxed) == 0 &&
           has_room(self->small_share,
                    atomic_load_explicit(&self->small.reserved, memory_order_relaxed), size);
}

/* ---- reading ahead ---- */

gsize
receive_memory_read_ahead(const ReceiveMemory *self, gsize wanted)
{
    gsize reserved = receive_memory_reserved(self);
    gsize held = receive_memory_held(self);
    gsize most_held = self->limit / 8;
    gsize room;

    if (held >= most_held || reserved + held >= self->limit || receive_memory_has_waiters(self))
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
    return atomic_load(&self->small.reserved) + atomic_load(&self->large.reserved);
}

gsize
receive_memory_held(const ReceiveMemory *self)
{
    return atomic_load(&self->held);
}
