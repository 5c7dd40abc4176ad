/* inflate_none.c - a build without zlib says so. */
#include <gio/gio.h>

#include "registry/wire/inflate.h"

GByteArray *
inflate_all(ByteSpan compressed G_GNUC_UNUSED, gsize max G_GNUC_UNUSED, GError **error)
{
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                        "the body is compressed, and this leat was built without zlib");
    return NULL;
}
