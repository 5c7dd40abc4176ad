/* receive_memory.h - the gate before all receive buffers of a server: first come, first served.
 *
 * Three accounts. Reserved small and reserved large are for frames that are being received and for
 * batches whose put is not done; both end by themselves in bounded time. Which of the two a piece
 * of memory belongs to is told by its size, so it must be released in the piece in which it was
 * reserved. Small ones have a share that large ones leave free, and a line of their own. Held is
 * for bytes that were read together with earlier ones and cannot be taken yet; it never exceeds an
 * eighth of the limit, give or take one read of each loop. Any thread may call; nothing waits. */
#pragma once

#include <glib.h>

#include "base/loop.h"

/* The largest that is small. */
#define RECEIVE_SMALL ((gsize) 32 * 1024)

typedef struct ReceiveMemory ReceiveMemory;

/* Embedded in its owner, with granted.run and loop set. */
typedef struct ReceiveWaiter ReceiveWaiter;
struct ReceiveWaiter {
    LoopJob granted; /* posted to loop when size has been reserved for the waiter */
    Loop *loop;
    gsize size;
    ReceiveWaiter *previous, *next; /* the gate's own, like queued */
    gboolean queued;
};

ReceiveMemory *receive_memory_new(gsize limit);
void receive_memory_free(ReceiveMemory *self);

/* TRUE: size is reserved. FALSE: the waiter stands in line. A reservation is never refused while
 * nothing else of its account is reserved, whatever its size; a large one waits, if it must, until
 * the small ones are back in their share. */
gboolean receive_memory_reserve(ReceiveMemory *self, gsize size, ReceiveWaiter *waiter);
/* FALSE: it has been granted already, its job comes or has come. */
gboolean receive_memory_cancel(ReceiveMemory *self, ReceiveWaiter *waiter);
void receive_memory_release(ReceiveMemory *self, gsize size);
/* Makes a reservation of one size one of another size; it may exceed the limit by that. */
void receive_memory_adjust(ReceiveMemory *self, gsize from, gsize to);
/* Reserves another piece for one who has own already. FALSE: there is no room, and somebody else
 * has some. Waits in no line. */
gboolean receive_memory_reserve_more(ReceiveMemory *self, gsize own, gsize size);
/* TRUE: there is so much room for small ones that size, if it is small, need not be reserved by one
 * who is done with it at once, or then adjusts from 0. */
gboolean receive_memory_lends(const ReceiveMemory *self, gsize size);
gboolean receive_memory_has_waiters(const ReceiveMemory *self);

/* How much may be read that is not reserved: at the most wanted, 0 when memory is short. */
gsize receive_memory_read_ahead(const ReceiveMemory *self, gsize wanted);
void receive_memory_hold(ReceiveMemory *self, gsize size);
void receive_memory_release_held(ReceiveMemory *self, gsize size);

gsize receive_memory_reserved(const ReceiveMemory *self);
gsize receive_memory_held(const ReceiveMemory *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReceiveMemory, receive_memory_free)
