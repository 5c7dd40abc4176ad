/* file_zstd.c - zstd files: frames whose blocks end with each flush. */
#include "agent/sinks/file_codec.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "agent/core/sink.h"

#define OUT_CHUNK 65536
/* A window of 512 KiB keeps an open file at 2 MiB of memory; level 3 gains little from more. */
#define WINDOW_LOG 19

/* A last block that is raw and empty; frames have no checksum, so nothing else is needed. */
#define CLOSING_LENGTH 3
static const guint8 closing[CLOSING_LENGTH] = { 0x01, 0x00, 0x00 };

typedef struct {
    FileCodec base;
    ZSTD_CCtx *context;
    gboolean open; /* a frame has begun and not ended */
    gboolean committed_open;
    gboolean stale; /* rolled back: what context knows is not in the file */
} ZstdCodec;

static FileCodec *
zstd_new(void)
{
    ZstdCodec *self = g_new0(ZstdCodec, 1);

    self->base.type = &file_zstd;
    self->context = ZSTD_createCCtx();
    g_assert(self->context != NULL);
    ZSTD_CCtx_setParameter(self->context, ZSTD_c_windowLog, WINDOW_LOG);
    return &self->base;
}

static void
zstd_free(FileCodec *codec)
{
    ZstdCodec *self = (ZstdCodec *) codec;

    ZSTD_freeCCtx(self->context);
    g_free(self);
}

static void
start_anew(ZstdCodec *self, GString *out)
{
    if (self->open)
        g_string_append_len(out, (const char *) closing, CLOSING_LENGTH);
    ZSTD_CCtx_reset(self->context, ZSTD_reset_session_only);
    self->open = FALSE;
    self->stale = FALSE;
}

static gboolean
squeeze(ZstdCodec *self, ByteSpan records, ZSTD_EndDirective step, GString *out, GError **error)
{
    g_autofree char *chunk = g_malloc(OUT_CHUNK);
    ZSTD_inBuffer input = { .src = records.data, .size = records.length };
    size_t left;

    do {
        ZSTD_outBuffer output = { .dst = chunk, .size = OUT_CHUNK };

        left = ZSTD_compressStream2(self->context, &output, &input, step);
        if (ZSTD_isError(left)) {
            g_set_error(error, SINK_ERROR, SINK_ERROR_IO, "zstd fails: %s",
                        ZSTD_getErrorName(left));
            return FALSE;
        }
        g_string_append_len(out, chunk, (gssize) output.pos);
    } while (step == ZSTD_e_continue ? input.pos < input.size : left > 0);
    return TRUE;
}

static gboolean
zstd_pack(FileCodec *codec, ByteSpan records, FileCodecStep step, GString *out, GError **error)
{
    static const ZSTD_EndDirective steps[] = {
        [FILE_CODEC_MORE] = ZSTD_e_continue,
        [FILE_CODEC_FLUSH] = ZSTD_e_flush,
        [FILE_CODEC_FINISH] = ZSTD_e_end,
    };
    ZstdCodec *self = (ZstdCodec *) codec;

    if (self->stale)
        start_anew(self, out);
    if (!self->open && records.length == 0)
        return TRUE;
    if (!squeeze(self, records, steps[step], out, error))
        return FALSE;
    self->open = step != FILE_CODEC_FINISH;
    return TRUE;
}

static void
zstd_commit(FileCodec *codec)
{
    ZstdCodec *self = (ZstdCodec *) codec;

    self->committed_open = self->open;
}

static void
zstd_rollback(FileCodec *codec)
{
    ZstdCodec *self = (ZstdCodec *) codec;

    self->open = self->committed_open;
    self->stale = TRUE;
}

/* ---- a file that was left behind ---- */

#define MAGIC 0xfd2fb528u
#define BLOCK_MAX 131072
#define BLOCK_HEADER 3

typedef enum { BLOCK_RAW, BLOCK_RLE, BLOCK_COMPRESSED } BlockType;

typedef struct {
    ZSTD_DCtx *context;
    int fd;
    guint64 at; /* of the file */
    guint8 in[BLOCK_MAX];
    guint8 out[BLOCK_MAX];
    guint8 last; /* byte of content */
} ZstdScan;

/* FALSE at the end of the file, errno 0, or at an error. */
static gboolean
read_exactly(ZstdScan *self, guint8 *to, gsize length)
{
    for (gsize done = 0; done < length;) {
        ssize_t got = read(self->fd, to + done, length - done);

        errno = got == 0 ? 0 : errno;
        if (got <= 0)
            return FALSE;
        done += (gsize) got;
    }
    self->at += length;
    return TRUE;
}

/* FALSE where the decoder finds that this is no zstd; errno 0. */
static gboolean
decode(ZstdScan *self, const guint8 *data, gsize length)
{
    ZSTD_inBuffer input = { .src = data, .size = length };
    ZSTD_outBuffer output;

    do {
        output = (ZSTD_outBuffer){ .dst = self->out, .size = sizeof(self->out) };
        errno = 0;
        if (ZSTD_isError(ZSTD_decompressStream(self->context, &output, &input)))
            return FALSE;
        if (output.pos > 0)
            self->last = self->out[output.pos - 1];
    } while (input.pos < input.size || output.pos == output.size);
    return TRUE;
}

static gsize
frame_header_rest(guint8 descriptor)
{
    static const gsize dictionary_lengths[] = { 0, 1, 2, 4 };
    static const gsize content_lengths[] = { 0, 2, 4, 8 };
    gboolean single_segment = (descriptor & 0x20) != 0;
    gsize content = content_lengths[descriptor >> 6];

    if (single_segment && content == 0)
        content = 1;
    return (single_segment ? 0 : 1) + dictionary_lengths[descriptor & 3] + content;
}

static gboolean
scan_frame_header(ZstdScan *self)
{
    guint8 header[5 + 14];
    guint32 magic;
    gsize rest;

    if (!read_exactly(self, header, 5))
        return FALSE;
    memcpy(&magic, header, sizeof(magic));
    errno = 0;
    if (GUINT32_FROM_LE(magic) != MAGIC || (header[4] & 0x04) != 0)
        return FALSE; /* not ours: a frame of this sink has no checksum */
    rest = frame_header_rest(header[4]);
    if (!read_exactly(self, header + 5, rest))
        return FALSE;
    ZSTD_DCtx_reset(self->context, ZSTD_reset_session_only);
    return decode(self, header, 5 + rest);
}

static gboolean
scan_block(ZstdScan *self, gboolean *ret_last)
{
    guint8 header[BLOCK_HEADER];
    guint32 bits;
    gsize size;

    if (!read_exactly(self, header, sizeof(header)))
        return FALSE;
    bits = header[0] | (guint32) header[1] << 8 | (guint32) header[2] << 16;
    size = ((bits >> 1) & 3) == BLOCK_RLE ? 1 : bits >> 3;
    errno = 0;
    if (((bits >> 1) & 3) > BLOCK_COMPRESSED || size > sizeof(self->in))
        return FALSE;
    if (!read_exactly(self, self->in, size))
        return FALSE;
    *ret_last = bits & 1;
    return decode(self, header, sizeof(header)) && decode(self, self->in, size);
}

static void
scan(ZstdScan *self, FileEnd *end)
{
    gboolean last;

    while (scan_frame_header(self)) {
        do {
            if (!scan_block(self, &last))
                return;
            if (!last && self->last != '\n')
                continue;
            end->length = self->at;
            end->n_closing = last ? 0 : CLOSING_LENGTH;
        } while (!last);
    }
}

static gboolean
zstd_find_end(int fd, FileEnd *ret_end)
{
    g_autofree ZstdScan *self = g_new0(ZstdScan, 1);
    int number;

    memset(ret_end, 0, sizeof(*ret_end));
    memcpy(ret_end->closing, closing, CLOSING_LENGTH);
    self->fd = fd;
    self->context = ZSTD_createDCtx();
    g_assert(self->context != NULL);
    scan(self, ret_end);
    number = errno;
    ZSTD_freeDCtx(self->context);
    errno = number;
    return number == 0;
}

const FileCodecType file_zstd = {
    .suffix = ".zst",
    .create = zstd_new,
    .free = zstd_free,
    .pack = zstd_pack,
    .commit = zstd_commit,
    .rollback = zstd_rollback,
    .find_end = zstd_find_end,
};
