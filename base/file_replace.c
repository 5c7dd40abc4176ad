/* file_replace.c - writes a small file so that, whatever happens, the old or the new one is there.
 */
#include "base/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static gboolean
fail(const char *what, GError **error)
{
    int code = errno;

    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(code), "%s: %s", what,
                g_strerror(code));
    return FALSE;
}

static gboolean
write_all(int fd, const char *data, gsize length)
{
    while (length > 0) {
        ssize_t written = write(fd, data, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return FALSE;
        data += written;
        length -= (gsize) written;
    }
    return TRUE;
}

static gboolean
write_whole(const char *path, const void *data, gsize length, GError **error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    gboolean ok;

    if (fd < 0)
        return fail("cannot be created", error);
    ok = write_all(fd, data, length) && fsync(fd) == 0;
    if (!ok)
        fail("cannot be written", error);
    if (close(fd) != 0 && ok)
        ok = fail("cannot be written", error);
    return ok;
}

/* The new name is not there for good before its folder is. */
static gboolean
sync_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        fail("its folder cannot be synced", error);
    if (fd >= 0)
        close(fd);
    return ok;
}

gboolean
file_replace(const char *path, const void *data, gsize length, GError **error)
{
    g_autofree char *temporary = g_strconcat(path, ".new", NULL);

    if (!write_whole(temporary, data, length, error)) {
        unlink(temporary);
        return FALSE;
    }
    if (rename(temporary, path) != 0) {
        fail("cannot be renamed", error);
        unlink(temporary);
        return FALSE;
    }
    return sync_folder(path, error);
}
