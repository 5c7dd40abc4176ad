/* inflate_zlib.c - what a broker has compressed, by zlib. */
#include "registry/wire/inflate.h"

#include <gio/gio.h>
#include <zlib.h>

#define CHUNK 65536

static gboolean
refuse(GError **error, const char *what)
{
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, what);
    return FALSE;
}

static gboolean
inflate_into(z_stream *stream, GByteArray *out, gsize max, GError **error)
{
    g_autofree guint8 *chunk = g_malloc(CHUNK);
    int result;

    do {
        stream->next_out = chunk;
        stream->avail_out = CHUNK;
        result = inflate(stream, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END)
            return refuse(error, "a compressed body is damaged");
        if (out->len + (CHUNK - stream->avail_out) > max)
            return refuse(error, "a compressed body holds too much");
        g_byte_array_append(out, chunk, CHUNK - stream->avail_out);
    } while (result != Z_STREAM_END);
    return stream->avail_in == 0 || refuse(error, "something follows a compressed body");
}

GByteArray *
inflate_all(ByteSpan compressed, gsize max, GError **error)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    z_stream stream = { .next_in = (Bytef *) compressed.data,
                        .avail_in = (uInt) compressed.length };
    gboolean done;

    if (inflateInit(&stream) != Z_OK) {
        refuse(error, "there is no memory to inflate a body");
        return NULL;
    }
    done = inflate_into(&stream, out, max, error);
    inflateEnd(&stream);
    return done ? g_steal_pointer(&out) : NULL;
}
