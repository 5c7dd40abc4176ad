/* segment_reader.h - reads the records of one segment in order, through a buffer of its own.
 *
 * Not thread-safe. Never believes a byte that no checksum covers; any file may be given. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/file_ops.h"
#include "agent/channels/file_channel/record.h"
#include "agent/channels/file_channel/segment.h"

typedef struct SegmentReader SegmentReader;

typedef struct {
    RecordHeader header;
    guint64 offset;   /* where it begins */
    guint64 end;      /* where the next one begins */
    ByteSpan payload; /* as it stands in the file; valid until the next call */
} Record;

typedef enum {
    READ_RECORD,
    READ_END,   /* zeros, or nothing more */
    READ_TORN,  /* the record at the offset is not whole or wrong; segment_reader_resume may help */
    READ_ERROR, /* the file cannot be read; error is set */
} ReadResult;

/* The descriptor is borrowed. Nothing from limit on is read (G_MAXUINT64: to the end of the file).
 */
SegmentReader *segment_reader_new(const FileOps *ops, int fd, guint32 salt, guint64 limit);
void segment_reader_free(SegmentReader *self);

/* Where the next record is expected; at first SEGMENT_HEAD_SIZE. */
guint64 segment_reader_offset(const SegmentReader *self);
void segment_reader_seek(SegmentReader *self, guint64 offset);
void segment_reader_set_limit(SegmentReader *self, guint64 limit);

/* Is told again and again, while segment_reader_resume looks for a record, how far that is. */
typedef void (*SegmentReaderPassed)(guint64 offset, gpointer user);
void segment_reader_watch(SegmentReader *self, SegmentReaderPassed passed, gpointer user);

ReadResult segment_reader_next(SegmentReader *self, Record *ret_record, GError **error);
/* After anything but READ_RECORD: goes on at the next good record behind the offset, if there is
 * one: READ_RECORD, else READ_END. What cannot be read is passed over. */
ReadResult segment_reader_resume(SegmentReader *self, Record *ret_record);

/* The head, from a file that is open for reading; the state is of segment_head_read. FALSE with
 * errno if it cannot be read. */
gboolean segment_reader_head(const FileOps *ops, int fd, SegmentHead *ret_head,
                             SegmentHeadState *ret_state);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SegmentReader, segment_reader_free)
