/* file_gzip.c - gzip files: raw deflate in members whose header and trailer are written here.
 *
 * By hand, because a member that a rollback left open must be closed with the sum and length of
 * what was committed, which zlib's own gzip mode does not give away. */
#include "agent/sinks/file_codec.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/core/sink.h"

#define OUT_CHUNK 65536
#define IN_CHUNK 65536
#define MEMORY_LEVEL 8

/* An empty last block, then CRC and length. */
#define CLOSING_LENGTH 10

typedef struct {
    gboolean open;  /* a member has begun and not ended */
    guint32 sum;    /* of its content */
    guint32 length; /* likewise, modulo 2^32 */
} Member;

typedef struct {
    FileCodec base;
    z_stream stream;
    Member now;
    Member committed;
    gboolean stale; /* rolled back: what stream knows is not in the file */
} GzipCodec;

/* zlib's memory as all other memory of the agent: there, or the end. */
static voidpf
allocate(voidpf opaque G_GNUC_UNUSED, uInt items, uInt size)
{
    return g_malloc_n(items, size);
}

static void
release(voidpf opaque G_GNUC_UNUSED, voidpf memory)
{
    g_free(memory);
}

static FileCodec *
gzip_new(void)
{
    GzipCodec *self = g_new0(GzipCodec, 1);
    int result;

    self->base.type = &file_gzip;
    self->stream.zalloc = allocate;
    self->stream.zfree = release;
    result = deflateInit2(&self->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
                          MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    g_assert(result == Z_OK);
    return &self->base;
}

static void
gzip_free(FileCodec *codec)
{
    GzipCodec *self = (GzipCodec *) codec;

    deflateEnd(&self->stream);
    g_free(self);
}

static guint8 *
put_le32(guint8 *out, guint32 number)
{
    guint32 little = GUINT32_TO_LE(number);

    memcpy(out, &little, sizeof(little));
    return out + sizeof(little);
}

/* For a member that stops at a flush. */
static void
write_closing(guint8 *out, const Member *member)
{
    *out++ = 0x03;
    *out++ = 0x00;
    out = put_le32(out, member->sum);
    put_le32(out, member->length);
}

static void
append_trailer(GString *out, const Member *member)
{
    guint8 closing[CLOSING_LENGTH];

    write_closing(closing, member);
    g_string_append_len(out, (const char *) closing + 2, CLOSING_LENGTH - 2);
}

static void
start_anew(GzipCodec *self, GString *out)
{
    guint8 closing[CLOSING_LENGTH];

    if (self->now.open) {
        write_closing(closing, &self->now);
        g_string_append_len(out, (const char *) closing, CLOSING_LENGTH);
    }
    deflateReset(&self->stream);
    self->now.open = FALSE;
    self->stale = FALSE;
}

static void
begin_member(GzipCodec *self, GString *out)
{
    /* Magic, deflate, no flags, no time, no hint, Unix. */
    static const guint8 header[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };

    g_string_append_len(out, (const char *) header, sizeof(header));
    self->now = (Member){ .open = TRUE, .sum = (guint32) crc32(0, NULL, 0) };
}

static gboolean
squeeze(GzipCodec *self, int flush, GString *out, GError **error)
{
    g_autofree guint8 *chunk = g_malloc(OUT_CHUNK);
    int result;

    do {
        self->stream.next_out = chunk;
        self->stream.avail_out = OUT_CHUNK;
        result = deflate(&self->stream, flush);
        /* Z_BUF_ERROR: nothing was left to do. */
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            g_set_error(error, SINK_ERROR, SINK_ERROR_IO, "gzip fails: %s", zError(result));
            return FALSE;
        }
        g_string_append_len(out, (const char *) chunk, OUT_CHUNK - self->stream.avail_out);
    } while (self->stream.avail_out == 0);
    return TRUE;
}

static gboolean
gzip_pack(FileCodec *codec, ByteSpan records, FileCodecStep step, GString *out, GError **error)
{
    static const int flushes[] = {
        [FILE_CODEC_MORE] = Z_NO_FLUSH,
        [FILE_CODEC_FLUSH] = Z_SYNC_FLUSH,
        [FILE_CODEC_FINISH] = Z_FINISH,
    };
    GzipCodec *self = (GzipCodec *) codec;

    if (self->stale)
        start_anew(self, out);
    if (!self->now.open && records.length == 0)
        return TRUE;
    if (!self->now.open)
        begin_member(self, out);
    self->now.sum = (guint32) crc32_z(self->now.sum, records.data, records.length);
    self->now.length += (guint32) records.length;
    while (records.length > 0) {
        gsize part = MIN(records.length, (gsize) 1 << 30);

        self->stream.next_in = (guint8 *) records.data;
        self->stream.avail_in = (uInt) part;
        if (!squeeze(self, Z_NO_FLUSH, out, error))
            return FALSE;
        records = byte_span(records.data + part, records.length - part);
    }
    if (step == FILE_CODEC_MORE)
        return TRUE;
    if (!squeeze(self, flushes[step], out, error))
        return FALSE;
    if (step == FILE_CODEC_FINISH) {
        append_trailer(out, &self->now);
        deflateReset(&self->stream);
        self->now.open = FALSE;
    }
    return TRUE;
}

static void
gzip_commit(FileCodec *codec)
{
    GzipCodec *self = (GzipCodec *) codec;

    self->committed = self->now;
}

static void
gzip_rollback(FileCodec *codec)
{
    GzipCodec *self = (GzipCodec *) codec;

    self->now = self->committed;
    self->stale = TRUE;
}

/* ---- a file that was left behind ---- */

typedef struct {
    z_stream stream;
    guint8 in[IN_CHUNK];
    guint8 out[OUT_CHUNK];
    int fd;
    guint64 consumed; /* of the file, in members before this one */
    Member member;
    guint8 last; /* byte of content */
} GzipScan;

static void
note_end(GzipScan *self, FileEnd *end, guint64 length, gboolean whole)
{
    end->length = length;
    end->n_closing = whole ? 0 : CLOSING_LENGTH;
    write_closing(end->closing, &self->member);
}

/* What inflate gave; TRUE if it may go on. */
static gboolean
scan_step(GzipScan *self, int result, FileEnd *end)
{
    gsize given = sizeof(self->out) - self->stream.avail_out;
    guint64 at;

    self->member.sum = (guint32) crc32_z(self->member.sum, self->out, given);
    self->member.length += (guint32) given;
    if (given > 0)
        self->last = self->out[given - 1];
    at = self->consumed + self->stream.total_in;
    if (result == Z_STREAM_END) {
        note_end(self, end, at, TRUE);
        self->consumed = at;
        self->member = (Member){ .sum = (guint32) crc32(0, NULL, 0) };
        return inflateReset(&self->stream) == Z_OK;
    }
    if (result != Z_OK && result != Z_BUF_ERROR)
        return FALSE;
    /* Between two blocks, on a whole byte, behind a record. */
    if ((self->stream.data_type & (128 | 64 | 7)) == 128 && self->member.length > 0 &&
        self->last == '\n' && self->stream.avail_out > 0)
        note_end(self, end, at, FALSE);
    return TRUE;
}

static gboolean
scan(GzipScan *self, FileEnd *end)
{
    int result;

    for (;;) {
        if (self->stream.avail_in == 0) {
            ssize_t got = read(self->fd, self->in, sizeof(self->in));

            if (got < 0)
                return FALSE;
            if (got == 0)
                return TRUE;
            self->stream.next_in = self->in;
            self->stream.avail_in = (uInt) got;
        }
        self->stream.next_out = self->out;
        self->stream.avail_out = sizeof(self->out);
        result = inflate(&self->stream, Z_BLOCK);
        if (!scan_step(self, result, end))
            return TRUE;
    }
}

static gboolean
gzip_find_end(int fd, FileEnd *ret_end)
{
    g_autofree GzipScan *self = g_new0(GzipScan, 1);
    gboolean read_all;
    int number;

    memset(ret_end, 0, sizeof(*ret_end));
    self->fd = fd;
    self->member.sum = (guint32) crc32(0, NULL, 0);
    self->stream.zalloc = allocate;
    self->stream.zfree = release;
    number = inflateInit2(&self->stream, 16 + MAX_WBITS);
    g_assert(number == Z_OK);
    read_all = scan(self, ret_end);
    number = errno;
    inflateEnd(&self->stream);
    errno = number;
    return read_all;
}

const FileCodecType file_gzip = {
    .suffix = ".gz",
    .create = gzip_new,
    .free = gzip_free,
    .pack = gzip_pack,
    .commit = gzip_commit,
    .rollback = gzip_rollback,
    .find_end = gzip_find_end,
};
