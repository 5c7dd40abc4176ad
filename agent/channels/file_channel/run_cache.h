/* run_cache.h - the latest puts, and what was read last, kept in memory up to a limit; no lock. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/log_run.h"

/* What was read from disk is kept apart: a reader far behind must not push out what comes in. */
#define RUN_CACHE_READ_SLOTS 8
#define RUN_CACHE_READ_BYTES ((gsize) 8 << 20) /* of all of them, but one run may be larger */

typedef struct {
    guint64 max_bytes;
    guint64 n_bytes;
    guint64 n_events;
    GPtrArray *runs; /* LogRun *, rising, from head on */
    guint head;
    LogRun *read[RUN_CACHE_READ_SLOTS];
    guint next_slot;
} RunCache;

void run_cache_init(RunCache *self, guint64 max_bytes);
void run_cache_clear(RunCache *self);

/* A put, behind those that are there. The oldest go when there is no room. */
void run_cache_add(RunCache *self, LogRun *run);
void run_cache_add_read(RunCache *self, LogRun *run);
/* How many there are but for those that were read, and each of them, from the oldest on. */
guint run_cache_length(const RunCache *self);
LogRun *run_cache_at(const RunCache *self, guint index);
/* The run that has this event; borrowed, NULL if it is not there. */
LogRun *run_cache_find(const RunCache *self, guint64 seq);
/* Events below are consumed. */
void run_cache_forget_below(RunCache *self, guint64 seq);
