/* memory_queue.h - events in order of sequence numbers, counted and charged; no lock, no waiting.
 *
 * Batches lie in the queue as runs. A run is a node of its list wherever it is, in the queue or in
 * a lease: to take and to put back moves nodes and needs no memory, but for the one run that is cut
 * in two. Small batches are copied together into the tail, so that the queue never consists of many
 * tiny ones. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"
#include "agent/core/take_waiters.h"
#include "base/batch_builder.h"

/* A batch in the channel, shared by its runs. */
typedef struct {
    Batch *batch;
    guint uncommitted; /* events */
    gsize charged;     /* bytes, until uncommitted is 0 */
    gint64 put_us;     /* of the first event */
} MemoryEntry;

/* Events first .. first + count of an entry. */
typedef struct {
    GList link;         /* data is the run */
    MemoryEntry *entry; /* freed with the run that holds the last uncommitted events of it */
    guint first;
    guint count;
    guint64 seq;
} MemoryRun;

typedef struct {
    guint64 capacity;
    guint64 byte_capacity;

    GQueue runs;
    BatchBuilder *tail; /* behind the runs */
    guint64 tail_seq;   /* of the first event in tail */
    gint64 tail_put_us;
    guint64 next_seq;

    guint64 used_events; /* put and not committed */
    guint64 used_bytes;  /* charged, the tail included */
    TakeStock stock;     /* put and not taken */
} MemoryQueue;

void memory_queue_init(MemoryQueue *self, guint64 capacity, guint64 byte_capacity);
void memory_queue_clear(MemoryQueue *self);

/* Whether the batch is copied into the tail. */
gboolean memory_queue_is_small(const Batch *batch);
/* What the batch is charged in an empty queue. */
gsize memory_queue_least_charge(const Batch *batch);

/* For a batch that is not small; references it. Made where no lock is held. */
MemoryRun *memory_run_new(Batch *batch, gint64 put_us);
/* For memory_queue_take. */
MemoryRun *memory_run_new_empty(void);
void memory_run_free(MemoryRun *self);

/* Takes the batch in if there is room, and *run, which is NULL for a small one, with it. */
gboolean memory_queue_admit(MemoryQueue *self, Batch *batch, MemoryRun **run);
/* When the first of what waits came. */
gint64 memory_queue_oldest_us(const MemoryQueue *self);
/* Moves runs from the head into lease and taken until limits are reached. If one is too long it is
 * cut with *spare, which is then NULL. */
void memory_queue_take(MemoryQueue *self, const TakeLimits *limits, Lease *lease, GQueue *taken,
                       MemoryRun **spare);
/* Moves runs, in order, back to where they belong; lease tells how much they are. */
void memory_queue_restore(MemoryQueue *self, const Lease *lease, GQueue *runs);
/* Forgets the first n_events of runs. Runs that are used up go to spent, to be freed where no lock
 * is held. */
void memory_queue_commit(MemoryQueue *self, GQueue *runs, guint n_events, GQueue *spent);
void memory_runs_free(GQueue *spent);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemoryRun, memory_run_free)
