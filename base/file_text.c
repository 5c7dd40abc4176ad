/* file_text.c - reads a small file whole, and never more of it than it may have. */
#include "base/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"

#define CHUNK_BYTES 65536

/* Files are always ready; of pipes, only those with something in them, or whose writer is gone. */
static gboolean
wait_for_more(int fd, gint64 deadline_us, GError **error)
{
    struct pollfd waiting = { .fd = fd, .events = POLLIN };
    int n_ready;

    do
        n_ready = poll(&waiting, 1, clock_poll_timeout_ms(deadline_us));
    while (n_ready < 0 && errno == EINTR);
    if (n_ready != 0)
        return TRUE;
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
                        "a pipe whose writer does not come to an end");
    return FALSE;
}

static gboolean
read_all(int fd, gsize max_bytes, gint64 deadline_us, GString *content, GError **error)
{
    for (;;) {
        gsize before = content->len;
        gssize n;

        if (!wait_for_more(fd, deadline_us, error))
            return FALSE;
        g_string_set_size(content, before + CHUNK_BYTES);
        n = read(fd, content->str + before, CHUNK_BYTES);
        g_string_set_size(content, before + (gsize) MAX(n, 0));
        if (n == 0)
            return TRUE;
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
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

static char *
read_until(int fd, gsize max_bytes, gint64 deadline_us, gsize *ret_length, GError **error)
{
    g_autoptr(GString) content = g_string_new(NULL);

    if (!read_all(fd, max_bytes, deadline_us, content, error))
        return NULL;
    *ret_length = content->len;
    return g_string_free(g_steal_pointer(&content), FALSE);
}

char *
file_text_read_fd(int fd, gsize max_bytes, gsize *ret_length, GError **error)
{
    return read_until(fd, max_bytes, CLOCK_NEVER, ret_length, error);
}

char *
file_text_read(const char *path, gsize max_bytes, gint64 deadline_us, gsize *ret_length,
               GError **error)
{
    /* Of a pipe, the writer may still be on its way: opening does not wait, reading does. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text;

    if (fd < 0) {
        g_set_error_literal(error, G_FILE_ERROR, g_file_error_from_errno(errno), g_strerror(errno));
        return NULL;
    }
    text = read_until(fd, max_bytes, deadline_us, ret_length, error);
    close(fd);
    return text;
}
