/* memory_rest.h - who puts much into a deep queue that is drained quickly comes again no sooner
 * than as much has gone.
 *
 * More bytes than processors have at hand cost about twice as much to send, and where processors
 * are short it is the work for the next put that keeps the sinks from sending: a queue once deep
 * would stay so. The batch is in the channel; only the word of it is kept back, until sinks have
 * committed as many bytes, or for MEMORY_REST_US. Part of a channel and guarded by its lock. */
#pragma once

#include <glib.h>

#include "agent/channels/memory_queue.h"

/* Deep: what the last cache of a processor and two of the largest leases still hold. */
#define MEMORY_REST_DEEP_BYTES ((guint64) 8 * 1024 * 1024)
/* The longest rest; and if what is first in the queue is older, no sink is quick. */
#define MEMORY_REST_US (50 * 1000)

typedef struct {
    GQueue tickets; /* in order of their puts */
    gsize credit;   /* bytes committed since the last was released */
} MemoryRest;

/* Whether who has just put something should rest. */
gboolean memory_rest_is_due(const MemoryQueue *queue, gint64 now_us);
/* The ticket has its batch. Sets its rest_until_us. */
void memory_rest_begin(MemoryRest *self, Ticket *ticket, gint64 now_us);
void memory_rest_end(MemoryRest *self, Ticket *ticket); /* its completion is under way */
/* Moves the tickets whose time has come to released. */
void memory_rest_note_committed(MemoryRest *self, gsize n_bytes, GQueue *released);
