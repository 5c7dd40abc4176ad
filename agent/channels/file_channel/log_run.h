/* log_run.h - events that stand one behind the other in the log, as a batch in memory: one put, or
 * several small ones that were read together. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/record.h"
#include "agent/channels/file_channel/segment.h"
#include "base/batch.h"

/* A record of the run. One more behind the last says where the run ends. */
typedef struct {
    guint64 offset; /* in the segment */
    guint first;    /* index of its first event */
} LogSpot;

typedef struct {
    gatomicrefcount refs;
    Batch *batch;
    guint64 seq; /* of the first event */
    guint64 segment;
    gint64 time_us; /* wall clock, of the first record */
    guint n_records;
    LogSpot spots[]; /* n_records + 1 */
} LogRun;

/* Where in the log it is, is set by whoever knows. */
LogRun *log_run_new(Batch *batch, guint n_records);
LogRun *log_run_ref(LogRun *self);
void log_run_unref(LogRun *self);

static inline guint64
log_run_end_seq(const LogRun *self)
{
    return self->seq + self->batch->n_events;
}

/* The record that has event index; n_events gives the place behind the run. */
LogPosition log_run_position(const LogRun *self, guint index);
/* What the channel charges for these events: their bytes, and the head of each record that ends
 * among them. */
guint64 log_run_charge(const LogRun *self, guint first, guint count);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogRun, log_run_unref)
