/* log_maker.h - the directory of a file channel, written byte by byte, and damaged at will.
 *
 * Events have their sequence numbers for bodies. Every record says that all before it is safe on
 * disk, unless it is put in one group with them. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/record.h"
#include "agent/channels/file_channel/segment.h"

typedef struct {
    char *path;
    guint64 channel;
    guint64 next_seq;
    guint64 consumed; /* low, as the next head and the next consumed record say */
    GArray *records;  /* LogPosition of each, in order */
    SegmentHead head; /* of the newest segment */
    guint64 synced;
    GByteArray *bytes; /* of the newest segment */
} LogMaker;

LogMaker *log_maker_new(void);
void log_maker_free(LogMaker *self); /* and its directory */

/* A new segment. */
void log_maker_roll(LogMaker *self);
/* A record of count events, alone and synced. */
void log_maker_put(LogMaker *self, guint count);
/* The same, in one group with the record that comes next: nothing is synced between them. */
void log_maker_put_in_group(LogMaker *self, guint count);
/* The same, compressed by zstd; where that is not built in it only says so. */
void log_maker_put_compressed(LogMaker *self, guint count);
/* A record that says to hold count events, whatever the bytes are. */
void log_maker_put_bytes(LogMaker *self, guint count, ByteSpan bytes);
/* One range is consumed. */
void log_maker_consume(LogMaker *self, guint64 first, guint64 end);
/* Everything so far. */
void log_maker_checkpoint(LogMaker *self);

/* Three segments of four records of five events, 0 to 59, of which 0 to 6 are consumed: records 0
 * to 3; 4, consumed, 6 to 8; 9 to 12. */
LogMaker *log_maker_new_standard(void);

/* Where a record begins. */
LogPosition log_maker_record(const LogMaker *self, guint index);
char *log_maker_file(const LogMaker *self, const char *name); /* (transfer full) */
char *log_maker_segment(const LogMaker *self, guint64 number);

/* ---- damage to the file of a segment ---- */

void log_maker_flip(LogMaker *self, guint64 segment, guint64 offset);
void log_maker_overwrite(LogMaker *self, guint64 segment, guint64 offset, const void *bytes,
                         gsize length);
void log_maker_zero(LogMaker *self, guint64 segment, guint64 offset, gsize length);
void log_maker_cut(LogMaker *self, guint64 segment, guint64 length);
void log_maker_remove(LogMaker *self, guint64 segment);
void log_maker_copy(LogMaker *self, guint64 segment, guint64 to);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogMaker, log_maker_free)
