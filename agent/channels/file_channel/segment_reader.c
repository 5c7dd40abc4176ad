/* segment_reader.c - reads the records of one segment in order, through a buffer of its own. */
#include "agent/channels/file_channel/segment_reader.h"

#include <errno.h>

#include "agent/channels/file_channel/little_endian.h"

#define CHUNK ((gsize) 256 * 1024)
#define SALT_OFFSET 36
#define PAGE_BYTES 4096

struct SegmentReader {
    const FileOps *ops;
    int fd;
    guint32 salt;
    guint64 limit;
    guint64 offset; /* of the next record */

    guint8 *buffer;
    gsize capacity;
    guint64 buffer_offset; /* of its first byte in the file */
    gsize filled;
    SegmentReaderPassed passed; /* NULL: nobody wants to know */
    gpointer passed_user;
};

SegmentReader *
segment_reader_new(const FileOps *ops, int fd, guint32 salt, guint64 limit)
{
    SegmentReader *self = g_new0(SegmentReader, 1);

    self->ops = ops;
    self->fd = fd;
    self->salt = salt;
    self->limit = limit;
    self->offset = SEGMENT_HEAD_SIZE;
    return self;
}

void
segment_reader_free(SegmentReader *self)
{
    g_free(self->buffer);
    g_free(self);
}

guint64
segment_reader_offset(const SegmentReader *self)
{
    return self->offset;
}

void
segment_reader_seek(SegmentReader *self, guint64 offset)
{
    self->offset = offset;
}

void
segment_reader_set_limit(SegmentReader *self, guint64 limit)
{
    self->limit = limit; /* what is in the buffer stands before the old one */
}

void
segment_reader_watch(SegmentReader *self, SegmentReaderPassed passed, gpointer user)
{
    self->passed = passed;
    self->passed_user = user;
}

/* ---- the buffer ---- */

/* What stands there from offset on, without reading. */
static ByteSpan
buffered(const SegmentReader *self, guint64 offset)
{
    if (offset < self->buffer_offset || offset >= self->buffer_offset + self->filled)
        return byte_span(NULL, 0);
    return byte_span(self->buffer + (offset - self->buffer_offset),
                     self->buffer_offset + self->filled - offset);
}

/* Memory follows what is in the file, not what a header claims. */
static gboolean
size_to_read(const SegmentReader *self, guint64 offset, guint64 wanted, gsize *ret_size,
             GError **error)
{
    guint64 end = self->limit;
    guint64 file_size;

    if (wanted > CHUNK || end == G_MAXUINT64) {
        if (self->ops->size(self->fd, &file_size) != 0) {
            g_set_error_literal(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_IO,
                                g_strerror(errno));
            return FALSE;
        }
        end = MIN(end, file_size);
    }
    *ret_size = end > offset ? (gsize) MIN(MAX(wanted, CHUNK), end - offset) : 0;
    return TRUE;
}

static gboolean
make_room(SegmentReader *self, gsize wanted, GError **error)
{
    guint8 *larger;

    if (wanted <= self->capacity)
        return TRUE;
    larger = g_try_realloc(self->buffer, wanted);
    if (larger == NULL) {
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_NO_MEMORY,
                    "no memory for a record of %" G_GSIZE_FORMAT " bytes", wanted);
        return FALSE;
    }
    self->buffer = larger;
    self->capacity = wanted;
    return TRUE;
}

/* At least wanted bytes from offset on, fewer only where the file or the limit ends. */
static gboolean
fetch(SegmentReader *self, guint64 offset, guint64 wanted, ByteSpan *ret_bytes, GError **error)
{
    ByteSpan have = buffered(self, offset);
    gsize size;
    gssize got;

    if (have.length >= wanted) {
        *ret_bytes = have;
        return TRUE;
    }
    if (!size_to_read(self, offset, wanted, &size, error))
        return FALSE;
    if (have.length >= size) {
        *ret_bytes = have;
        return TRUE;
    }
    if (self->capacity > 4 * CHUNK && size <= CHUNK) { /* after one large record */
        g_clear_pointer(&self->buffer, g_free);
        self->capacity = 0;
        have = byte_span(NULL, 0);
    }
    if (have.length > 0)
        memmove(self->buffer, have.data, have.length);
    self->buffer_offset = offset;
    self->filled = have.length;
    if (!make_room(self, size, error))
        return FALSE;
    got = file_read_least(self->ops, self->fd, self->buffer + have.length,
                          (gsize) MIN(wanted, size) - have.length, size - have.length,
                          offset + have.length);
    if (got < 0) {
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_IO, "%s", g_strerror(errno));
        self->filled = 0;
        return FALSE;
    }
    self->filled += (gsize) got;
    *ret_bytes = buffered(self, offset);
    return TRUE;
}

/* ---- records ---- */

static ReadResult
read_at(SegmentReader *self, guint64 offset, Record *ret_record, GError **error)
{
    guint64 wanted = RECORD_HEADER_SIZE;
    guint64 asked = 0;
    RecordState state = RECORD_SHORT;
    ByteSpan bytes;

    while (state == RECORD_SHORT && wanted > asked) {
        asked = wanted;
        if (!fetch(self, offset, wanted, &bytes, error))
            return READ_ERROR;
        if (bytes.length == 0)
            return READ_END;
        state = record_read(bytes, self->salt, &ret_record->header, &wanted);
        if (bytes.length < asked)
            break;
    }
    if (state == RECORD_NONE)
        return READ_END;
    if (state != RECORD_GOOD)
        return READ_TORN;
    ret_record->offset = offset;
    ret_record->end = offset + record_size(ret_record->header.length);
    ret_record->payload = byte_span(bytes.data + RECORD_HEADER_SIZE, ret_record->header.length);
    return READ_RECORD;
}

ReadResult
segment_reader_next(SegmentReader *self, Record *ret_record, GError **error)
{
    ReadResult result = read_at(self, self->offset, ret_record, error);

    if (result == READ_RECORD)
        self->offset = ret_record->end;
    return result;
}

/* What can be read from offset on, or from the next page on that can be read. */
static ByteSpan
fetch_readable(SegmentReader *self, guint64 *offset)
{
    ByteSpan bytes = byte_span(NULL, 0);
    guint64 end = self->limit;

    if (self->ops->size(self->fd, &end) != 0)
        return bytes;
    while (*offset < end && !fetch(self, *offset, RECORD_HEADER_SIZE, &bytes, NULL))
        *offset = (*offset / PAGE_BYTES + 1) * PAGE_BYTES;
    return bytes;
}

/* The next offset at or behind this one where a record of this segment might stand. */
static gboolean
find_salt(SegmentReader *self, guint64 *offset)
{
    for (;;) {
        ByteSpan bytes = fetch_readable(self, offset);

        if (bytes.length < RECORD_HEADER_SIZE)
            return FALSE;
        for (gsize at = 0; at + RECORD_HEADER_SIZE <= bytes.length; at += RECORD_ALIGNMENT)
            if (get_u32(bytes.data + at + SALT_OFFSET) == self->salt) {
                *offset += at;
                return TRUE;
            }
        *offset += (bytes.length - RECORD_HEADER_SIZE) / RECORD_ALIGNMENT * RECORD_ALIGNMENT +
                   RECORD_ALIGNMENT;
        if (self->passed != NULL)
            self->passed(*offset, self->passed_user);
    }
}

ReadResult
segment_reader_resume(SegmentReader *self, Record *ret_record)
{
    guint64 offset = self->offset + RECORD_ALIGNMENT;

    while (find_salt(self, &offset)) {
        if (read_at(self, offset, ret_record, NULL) == READ_RECORD) {
            self->offset = ret_record->end;
            return READ_RECORD;
        }
        offset += RECORD_ALIGNMENT;
    }
    return READ_END;
}

gboolean
segment_reader_head(const FileOps *ops, int fd, SegmentHead *ret_head, SegmentHeadState *ret_state)
{
    guint8 bytes[SEGMENT_HEAD_SIZE];
    gssize got = file_read_all(ops, fd, bytes, sizeof(bytes), 0);

    if (got < 0)
        return FALSE;
    *ret_state = segment_head_read(byte_span(bytes, (gsize) got), ret_head);
    return TRUE;
}
