/* sink_worker.h - what the thread of a sink does: takes leases, delivers, commits, rejects, and
 * says when to try again. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

#include "agent/core/dead_letter.h"
#include "agent/core/sink.h"
#include "agent/core/sink_leases.h"
#include "agent/core/sink_search.h"
#include "base/backoff.h"

/* Back-off while the agent stops is no longer than that. */
#define SINK_DRAIN_BACKOFF_US (100 * 1000)

typedef struct {
    Sink *sink;
    DeadLetter *dead_letter; /* NULL: none */

    /* Any thread. */
    gint hurry;       /* the agent stops: what is there now is all that is taken */
    gint interrupted; /* what is under way is given up */
    _Atomic gint64 undelivered_since_us; /* monotonic, 0: all that was taken has been delivered */

    /* The thread's own. */
    SinkLeases leases;
    SinkSearch search;
    Backoff backoff;
    gboolean settles; /* something failed: what else is under way is collected, and not judged */
    gint64 retry_us;  /* monotonic: no attempt before; 0: now */
    gint64 alone_until_us;   /* monotonic: a suspect waits for others to compare it with; 0: none */
    gint64 failing_since_us; /* monotonic, 0: healthy */
    guint failed_attempts;
} SinkWorker;

void sink_worker_init(SinkWorker *self, Sink *sink);
void sink_worker_clear(SinkWorker *self);

/* Takes what there is room for, waiting for the first until deadline_us or *stop, and ends the
 * oldest delivery, or all of them if that fails; retry_us says when to try again. */
void sink_worker_step(SinkWorker *self, const gint *stop, gint64 deadline_us);
/* Ends everything; nothing is leased afterwards. */
void sink_worker_end(SinkWorker *self);

/* Any thread: the agent stops. */
void sink_worker_hurry(SinkWorker *self);
/* Any thread: what waits for the destination fails, soon. */
void sink_worker_interrupt(SinkWorker *self);
/* Any thread: what no destination has answered since then fails, if another sink or another
 * destination may take it. */
void sink_worker_reroute(SinkWorker *self, gint64 since_us);
gint64 sink_worker_undelivered_since_us(const SinkWorker *self);
