/* file_text.c - reads a small file whole, and never more of it than it may have. */
#include "base/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/quantity.h"

#define CHUNK_BYTES 65536

static gboolean
read_all(int fd, gsize max_bytes, GString *content, GError **error)
{
    for (;;) {
        gsize before = content->len;
        gssize n;

        g_string_set_size(content, before + CHUNK_BYTES);
        n = read(fd, content->str + before, CHUNK_BYTES);
        g_string_set_size(content, before + (gsize) MAX(n, 0));
        if (n == 0)
            return TRUE;
        if (n < 0 && errno != EINTR) {
            g_set_error_literal(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                                g_strerror(errno));
            return FALSE;
        }
        if (content->len > max_bytes) {
            g_autofree char *limit = quantity_size_to_text(max_bytes);

            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "is larger than %s", limit);
            return FALSE;
        }
    }
}

char *
file_text_read_fd(int fd, gsize max_bytes, gsize *ret_length, GError **error)
{
    g_autoptr(GString) content = g_string_new(NULL);

    if (!read_all(fd, max_bytes, content, error))
        return NULL;
    *ret_length = content->len;
    return g_string_free(g_steal_pointer(&content), FALSE);
}

char *
file_text_read(const char *path, gsize max_bytes, gsize *ret_length, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text;

    if (fd < 0) {
        g_set_error_literal(error, G_FILE_ERROR, g_file_error_from_errno(errno), g_strerror(errno));
        return NULL;
    }
    text = file_text_read_fd(fd, max_bytes, ret_length, error);
    close(fd);
    return text;
}
