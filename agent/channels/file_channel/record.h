/* record.h - one record of the log: a put, or what has been consumed; bytes only, no files.
 *
 * Little endian, each record at a multiple of 8 bytes:
 *
 *      0 u32 crc          CRC-32C of the payload followed by bytes 4 to 47
 *      4 u32 length       of the payload as it stands here
 *      8 u8  type         1 events, 2 consumed
 *      9 u8  compression  of the payload: 0 none, 1 zstd
 *     10 u16 0
 *     12 u32 count        events, or ranges
 *     16 u64 seq          events: of the first; consumed: everything below is consumed
 *     24 i64 time         wall clock, microseconds, when it was put
 *     32 u32 raw length   of the payload before compression
 *     36 u32 salt         as in the segment's header: bytes of another file are no record here
 *     40 u32 synced       everything before this offset of the segment, in units of 8 bytes, was
 *                         safe on disk when this record was written
 *     44 u32 0
 *     48 payload, then zeros up to a multiple of 8
 *
 * The payload of events is their canonical encoding (base/event_bytes.h), one behind the other. The
 * payload of consumed is `count` ranges of three u64: first, end (excluded), and the bytes that the
 * range was charged. Eight zero bytes where a record would begin are the end of the log. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/seq_set.h"
#include "base/span.h"

#define RECORD_HEADER_SIZE 48
#define RECORD_ALIGNMENT 8
#define RECORD_RANGE_SIZE 24
/* A larger payload is not compressed, and one that claims to be larger is not expanded. */
#define RECORD_MAX_COMPRESSED_RAW (256u << 20)

typedef enum { RECORD_EVENTS = 1, RECORD_CONSUMED = 2 } RecordType;
typedef enum { RECORD_PLAIN = 0, RECORD_ZSTD = 1 } RecordCompression;
extern const char *const record_compression_names[]; /* in this order, NULL-terminated */

typedef struct {
    guint32 crc;
    guint32 length;
    RecordType type;
    RecordCompression compression;
    guint32 count;
    guint64 seq;
    gint64 time_us;
    guint32 raw_length;
    guint32 salt;
    guint64 synced; /* in bytes */
} RecordHeader;

typedef enum {
    RECORD_GOOD,
    RECORD_NONE,  /* zeros */
    RECORD_SHORT, /* the bytes end before the record does */
    RECORD_BAD,
} RecordState;

/* What a record takes with its header and padding. */
static inline guint64
record_size(guint32 length)
{
    return ((guint64) RECORD_HEADER_SIZE + length + RECORD_ALIGNMENT - 1) &
           ~(guint64) (RECORD_ALIGNMENT - 1);
}

/* The part of the checksum that needs the payload only. */
guint32 record_payload_crc(ByteSpan payload);
/* Sets crc, from record_payload_crc, and writes the header. */
void record_header_write(RecordHeader *self, guint32 payload_crc, guint8 out[RECORD_HEADER_SIZE]);
/* Whether a good record of a segment with this salt stands at data. ret_header is written unless
 * the state is RECORD_NONE or the header itself is cut short; ret_wanted (bytes from data on) when
 * it is RECORD_SHORT. */
RecordState record_read(ByteSpan data, guint32 salt, RecordHeader *ret_header, guint64 *ret_wanted);

/* One range of a consumed record; those of a good record are not empty and end at SEQ_MAX at the
 * most. */
void record_range_write(SeqRange range, guint8 out[RECORD_RANGE_SIZE]);
SeqRange record_range_read(const guint8 *data);
