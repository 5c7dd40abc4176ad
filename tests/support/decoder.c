/* decoder.c - zlib and zstd, as a reader of files would use them. */
#include "config.h"

#include "tests/support/decoder.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define CHUNK 65536 /* of output */

#ifdef HAVE_ZLIB
static gboolean
read_gzip(const GString *bytes, GString *out)
{
    g_autofree guint8 *chunk = g_malloc(CHUNK);
    z_stream stream = { .next_in = (Bytef *) bytes->str, .avail_in = (uInt) bytes->len };
    int result = inflateInit2(&stream, 16 + MAX_WBITS);

    while (result == Z_OK) {
        stream.next_out = chunk;
        stream.avail_out = CHUNK;
        result = inflate(&stream, Z_NO_FLUSH);
        g_string_append_len(out, (char *) chunk, CHUNK - stream.avail_out);
        if (result == Z_STREAM_END && stream.avail_in > 0)
            result = inflateReset(&stream);
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END;
}
#endif

#ifdef HAVE_ZSTD
static gboolean
read_zstd(const GString *bytes, GString *out)
{
    g_autofree char *chunk = g_malloc(CHUNK);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer input = { .src = bytes->str, .size = bytes->len };
    ZSTD_outBuffer output = { .dst = chunk, .size = CHUNK };
    size_t left = 1;

    while (input.pos < input.size || output.pos == output.size) {
        output.pos = 0;
        left = ZSTD_decompressStream(context, &output, &input);
        if (ZSTD_isError(left))
            break;
        g_string_append_len(out, chunk, (gssize) output.pos);
    }
    ZSTD_freeDCtx(context);
    return left == 0;
}
#endif

static gboolean
read_with(FileCompression compression, const GString *bytes, GString *out)
{
    switch (compression) {
#ifdef HAVE_ZLIB
    case FILE_COMPRESSION_GZIP:
        return read_gzip(bytes, out);
#endif
#ifdef HAVE_ZSTD
    case FILE_COMPRESSION_ZSTD:
        return read_zstd(bytes, out);
#endif
    default:
        g_string_append_len(out, bytes->str, (gssize) bytes->len);
        return compression == FILE_COMPRESSION_NONE;
    }
}

GString *
decoder_read(FileCompression compression, const GString *bytes)
{
    g_autoptr(GString) out = g_string_new(NULL);

    return read_with(compression, bytes, out) ? g_steal_pointer(&out) : NULL;
}
