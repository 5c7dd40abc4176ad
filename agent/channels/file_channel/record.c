/* record.c - one record of the log: a put, or what has been consumed; bytes only, no files. */
#include "agent/channels/file_channel/record.h"

#include "agent/channels/file_channel/crc32c.h"
#include "agent/channels/file_channel/little_endian.h"

const char *const record_compression_names[] = { "none", "zstd", NULL };

guint32
record_payload_crc(ByteSpan payload)
{
    return crc32c(0, payload.data, payload.length);
}

void
record_header_write(RecordHeader *self, guint32 payload_crc, guint8 out[RECORD_HEADER_SIZE])
{
    memset(out, 0, RECORD_HEADER_SIZE);
    put_u32(out + 4, self->length);
    out[8] = (guint8) self->type;
    out[9] = (guint8) self->compression;
    put_u32(out + 12, self->count);
    put_u64(out + 16, self->seq);
    put_u64(out + 24, (guint64) self->time_us);
    put_u32(out + 32, self->raw_length);
    put_u32(out + 36, self->salt);
    put_u32(out + 40, (guint32) (self->synced / RECORD_ALIGNMENT));
    self->crc = crc32c(payload_crc, out + 4, RECORD_HEADER_SIZE - 4);
    put_u32(out, self->crc);
}

static void
record_header_read(const guint8 *data, RecordHeader *ret_header)
{
    *ret_header = (RecordHeader){
        .crc = get_u32(data),
        .length = get_u32(data + 4),
        .type = data[8],
        .compression = data[9],
        .count = get_u32(data + 12),
        .seq = get_u64(data + 16),
        .time_us = (gint64) get_u64(data + 24),
        .raw_length = get_u32(data + 32),
        .salt = get_u32(data + 36),
        .synced = (guint64) get_u32(data + 40) * RECORD_ALIGNMENT,
    };
}

/* Whether the numbers of a header fit together; a bad one must not make us read far. */
static gboolean
record_header_is_sane(const RecordHeader *self, const guint8 *data, guint32 salt)
{
    if (self->salt != salt || self->count == 0 || data[10] != 0 || data[11] != 0 ||
        get_u32(data + 44) != 0 || self->seq > SEQ_MAX - self->count)
        return FALSE;
    if (self->compression == RECORD_PLAIN && self->length != self->raw_length)
        return FALSE;
    if (self->type == RECORD_CONSUMED)
        return self->compression == RECORD_PLAIN &&
               self->length == (guint64) self->count * RECORD_RANGE_SIZE;
    return self->type == RECORD_EVENTS && self->raw_length >= self->count &&
           (self->compression == RECORD_PLAIN ||
            (self->compression == RECORD_ZSTD && self->raw_length <= RECORD_MAX_COMPRESSED_RAW));
}

/* A checksum is no proof of sense. */
static gboolean
ranges_are_sane(const guint8 *payload, guint32 count)
{
    for (guint32 i = 0; i < count; i++) {
        SeqRange range = record_range_read(payload + (gsize) i * RECORD_RANGE_SIZE);

        if (range.first >= range.end || range.end > SEQ_MAX)
            return FALSE;
    }
    return TRUE;
}

RecordState
record_read(ByteSpan data, guint32 salt, RecordHeader *ret_header, guint64 *ret_wanted)
{
    guint64 size;
    guint32 crc;

    if (data.length >= RECORD_ALIGNMENT && get_u64(data.data) == 0)
        return RECORD_NONE;
    if (data.length < RECORD_HEADER_SIZE) {
        *ret_wanted = RECORD_HEADER_SIZE;
        return RECORD_SHORT;
    }
    record_header_read(data.data, ret_header);
    if (!record_header_is_sane(ret_header, data.data, salt))
        return RECORD_BAD;
    size = record_size(ret_header->length);
    if (data.length < size) {
        *ret_wanted = size;
        return RECORD_SHORT;
    }
    crc = crc32c(0, data.data + RECORD_HEADER_SIZE, ret_header->length);
    crc = crc32c(crc, data.data + 4, RECORD_HEADER_SIZE - 4);
    if (crc != ret_header->crc)
        return RECORD_BAD;
    if (ret_header->type == RECORD_CONSUMED &&
        !ranges_are_sane(data.data + RECORD_HEADER_SIZE, ret_header->count))
        return RECORD_BAD;
    return RECORD_GOOD;
}

void
record_range_write(SeqRange range, guint8 out[RECORD_RANGE_SIZE])
{
    put_u64(out, range.first);
    put_u64(out + 8, range.end);
    put_u64(out + 16, range.bytes);
}

SeqRange
record_range_read(const guint8 *data)
{
    return (SeqRange){ get_u64(data), get_u64(data + 8), get_u64(data + 16) };
}
