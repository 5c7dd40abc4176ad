/* segment.h - the head of a segment file, and what segments are called; bytes only, no files.
 *
 * A segment is a head of 4096 bytes and records behind it. The head holds the same 96 bytes twice,
 * at 0 and at 2048, so that damage to one is survived. Little endian:
 *
 *      0 8 bytes "LEATSEG\n"
 *      8 u32 version       1; another one is refused, not repaired
 *     12 u32 crc           CRC-32C of these 96 bytes with zero here
 *     16 u32 head size     4096: where records begin
 *     20 u32 salt          random, in each record too
 *     24 u64 channel       random, the same in all files of one channel
 *     32 u64 number        of the segment, as in its name; they rise
 *     40 u64 size          that was asked for; one large record may make it more
 *     48 i64 time          wall clock, microseconds, when it was created
 *     56 u64 first seq     of the first event that was put behind here
 *     64 u64 consumed      every event below had been consumed when it was created
 *     72 u64 previous      number of the segment before; 0 if it was the first
 *     80 u64 previous end  where that one ends for good: bytes behind never were acknowledged
 *     88 u64 0 */
#pragma once

#include <glib.h>

#include "base/span.h"

#define SEGMENT_VERSION 1
#define SEGMENT_HEAD_SIZE 4096
#define SEGMENT_HEAD_COPY 2048
#define SEGMENT_MIN_SIZE (64 * 1024)
/* Offsets in records are 32 bits of 8 bytes. */
#define SEGMENT_MAX_SIZE ((guint64) 16 << 30)

#define SEGMENT_SUFFIX ".segment"
#define DAMAGED_SUFFIX ".damaged"

typedef struct {
    guint32 version;
    guint32 salt;
    guint64 channel;
    guint64 number;
    guint64 size;
    gint64 time_us;
    guint64 first_seq;
    guint64 consumed;
    guint64 previous;
    guint64 previous_end;
} SegmentHead;

typedef enum {
    SEGMENT_HEAD_GOOD,
    SEGMENT_HEAD_EMPTY,   /* zeros, or a head cut short: it was never used */
    SEGMENT_HEAD_VERSION, /* ret_head->version is not ours */
    SEGMENT_HEAD_BAD,
} SegmentHeadState;

/* A place in the log: the beginning of a record, or where the next one will begin. */
typedef struct {
    guint64 segment;
    guint64 offset;
} LogPosition;

void segment_head_write(const SegmentHead *self, guint8 out[SEGMENT_HEAD_SIZE]);
/* data: the first bytes of the file, SEGMENT_HEAD_SIZE or fewer if it is shorter. */
SegmentHeadState segment_head_read(ByteSpan data, SegmentHead *ret_head);

/* "0000000000000007.segment" */
char *segment_name(guint64 number);
/* FALSE if that is not what a segment is called. */
gboolean segment_name_parse(const char *name, guint64 *ret_number);
