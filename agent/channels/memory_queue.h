/* memory_queue.h - runs of events in order of sequence numbers; no locks, no limits.
 *
 * A run is a node of its list wherever it is, in the queue or in a lease: to take and to put back
 * moves nodes and needs no memory, but for the one run that is cut in two. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"
#include "agent/core/take_waiters.h"

/* A batch in the channel, shared by its runs. */
typedef struct {
    Batch *batch;
    guint uncommitted; /* events */
    gsize charged;     /* bytes, until uncommitted is 0 */
    gint64 put_us;
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
    GQueue runs;
} MemoryQueue;

/* The whole batch, which is referenced. */
MemoryRun *memory_run_new(Batch *batch, gint64 put_us);
/* For memory_queue_take. */
MemoryRun *memory_run_new_empty(void);
void memory_run_free(MemoryRun *self);

void memory_queue_push(MemoryQueue *self, MemoryRun *run /* (transfer full) */);
/* Moves runs from the head into lease and taken until limits are reached. A run that is too long is
 * cut with *spare, which is then NULL. FALSE: there is no more to move. */
gboolean memory_queue_take(MemoryQueue *self, const TakeLimits *limits, Lease *lease, GQueue *taken,
                           MemoryRun **spare);
/* Moves runs, in order, back to where they belong. */
void memory_queue_restore(MemoryQueue *self, GQueue *runs);
void memory_queue_clear(MemoryQueue *self);

/* Drops the first n_events of runs. Runs that are used up go to spent, with their entry if it has
 * no event left. Returns the bytes that are not charged any more. */
gsize memory_runs_commit(GQueue *runs, guint n_events, GQueue *spent);
void memory_runs_free(GQueue *runs); /* those that memory_runs_commit has spent */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemoryRun, memory_run_free)
