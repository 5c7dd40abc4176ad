/* file_channel_spill.h - what makes a file channel a spillable one: the newest events are in memory
 * only, and the oldest of them are written when they become too many, or the channel closes.
 *
 * So the log is that of a file channel whose puts are late. An event that is consumed while it is
 * in memory is never written; the log is told that its number is consumed before it gets a higher
 * one. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/file_channel.h"

/* What is written from memory at once. */
typedef struct {
    GPtrArray *runs; /* LogRun * */
    guint64 n_events;
    guint64 end; /* events below are written, or consumed; 0: nothing was looked at */
} Spill;

void spill_init(Spill *self);
void spill_clear(Spill *self);
/* Puts for the log, with no owner. */
void spill_prepare(const Spill *self, RecordCompression compression, GQueue *puts);

/* ---- with the lock held ---- */

gboolean file_channel_memory_has_room(const FileChannel *self, const Batch *batch);
/* The run's events may be taken from now on. */
void file_channel_remember(FileChannel *self, LogRun *run);
/* There is a quarter of memory to spare, so that puts need not wait for the disk. */
gboolean file_channel_should_spill(const FileChannel *self);
/* The oldest half of what is in memory, or as much as fits into a group that has group_bytes
 * already. Returns the bytes that it adds. */
guint64 file_channel_begin_spill(const FileChannel *self, guint64 group_bytes, Spill *ret_spill);
/* It is in the log. */
void file_channel_end_spill(FileChannel *self, const Spill *spill, const GQueue *puts);

/* ---- without ---- */

/* At the end: what the disk did not take is lost. */
void file_channel_report_unwritten(FileChannel *self);
