/* log_writer.h - appends groups of records to the newest segment; one thread at a time.
 *
 * A segment in which a write or a sync has failed is closed for ever: what stood behind its last
 * good group counts as never written, and the next segment says so. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/log_run.h"
#include "agent/channels/file_channel/segment_dir.h"
#include "agent/channels/file_channel/segment_list.h"
#include "agent/channels/file_channel/seq_set.h"

/* A put on its way to the disk: made by the thread that puts, written by the writer. */
typedef struct {
    GList link;
    gpointer owner; /* of the caller */
    LogRun *run;
    RecordHeader header;
    guint32 payload_crc;
    ByteSpan payload; /* what is written: the batch's bytes, or squeezed */
    guint8 *squeezed; /* NULL if they are the batch's */
    guint8 header_bytes[RECORD_HEADER_SIZE];
} LogPut;

LogPut *log_put_new(Batch *batch);
/* What a record of it needs, which takes time: before it is written, by whichever thread. */
void log_put_prepare(LogPut *self, RecordCompression compression);
void log_put_free(LogPut *self);

typedef struct {
    const SegmentDir *dir;
    SegmentList *segments;
    guint64 channel; /* id of the channel */

    int fd; /* -1: no segment is open */
    guint32 salt;
    guint64 number;      /* of the newest segment, open or not; 0: none */
    guint64 size;        /* of the open segment: what may be filled */
    guint64 offset;      /* where the next group begins */
    guint64 synced;      /* what stands before is safe */
    guint64 last_number; /* no file has a higher one */
    guint64 next_seq;

    GArray *parts; /* struct iovec, of the group at hand */
} LogWriter;

void log_writer_init(LogWriter *self, const SegmentDir *dir, SegmentList *segments);
void log_writer_clear(LogWriter *self); /* cuts the open segment to what it holds */

/* Whether a group of this size fits into the open segment. Its last part is kept for consumption,
 * so that a full disk does not stop that. */
gboolean log_writer_has_room(const LogWriter *self, guint64 size, gboolean is_consumption);
/* A new segment of this size, or more if it needs that for a group of group_size; consumed as in
 * its head. The old one stays open when that fails. */
gboolean log_writer_roll(LogWriter *self, guint64 size, guint64 group_size, guint64 consumed,
                         GError **error);

/* Writes puts (GList of LogPut *) and, unless it is empty, consumed; sets sequence
 * numbers, if those of the runs are not higher already, and places of the runs. They count once
 * log_writer_accept is called. FALSE: the segment is closed. */
gboolean log_writer_append(LogWriter *self, GList *puts, const SeqSet *consumed, guint64 low,
                           GError **error);
gboolean log_writer_sync(LogWriter *self, GError **error);
/* What was appended counts, and readers may find it. */
void log_writer_accept(LogWriter *self);

/* Bytes that a record of so many ranges takes. */
guint64 log_writer_consumed_size(guint n_ranges);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogPut, log_put_free)
