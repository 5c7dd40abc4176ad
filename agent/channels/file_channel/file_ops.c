/* file_ops.c - the channel's file calls, and the loops that short ones need. */
#include "agent/channels/file_channel/file_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *
file_open_strerror(int number)
{
    return number == FILE_NOT_REGULAR ? "it is no regular file" : g_strerror(number);
}

G_DEFINE_QUARK(leat_file_channel_error, file_channel_error)

/* Never waits for the other end of a pipe; what is no regular file is not for the channel. */
static int
system_open(int folder, const char *name, int flags, mode_t mode)
{
    int fd = openat(folder, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0 || S_ISREG(status.st_mode))
        return fd;
    close(fd);
    errno = FILE_NOT_REGULAR;
    return -1;
}

static int
system_preallocate(int fd, off_t length)
{
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length);
}

static int
system_size(int fd, guint64 *ret_bytes)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return -1;
    *ret_bytes = (guint64) status.st_size;
    return 0;
}

static int
system_rename(int folder, const char *from, const char *to)
{
    return renameat(folder, from, folder, to);
}

static int
system_link(int folder, const char *from, const char *to)
{
    return linkat(folder, from, folder, to, 0);
}

static int
system_unlink(int folder, const char *name)
{
    return unlinkat(folder, name, 0);
}

static int
system_free_bytes(int folder, guint64 *ret_bytes)
{
    struct statvfs status;

    if (fstatvfs(folder, &status) != 0)
        return -1;
    *ret_bytes = (guint64) status.f_bavail * status.f_frsize;
    return 0;
}

const FileOps file_ops_system = {
    .open = system_open,
    .close = close,
    .pread = pread,
    .pwritev = pwritev,
    .fdatasync = fdatasync,
    .fsync = fsync,
    .preallocate = system_preallocate,
    .truncate = ftruncate,
    .size = system_size,
    .rename = system_rename,
    .link = system_link,
    .unlink = system_unlink,
    .free_bytes = system_free_bytes,
};

/* What the operator can do about it, with what goes before; "" where the text of errno says all. */
static const char *
remedy_for(int number)
{
    switch (number) {
    case ENOSPC:
        return "; free space or inodes on its file system";
    case EDQUOT:
        return "; raise the quota of the agent's user or remove files";
    case EMFILE:
        return "; raise the limit of open files (LimitNOFILE=, ulimit -n)";
    case ENFILE:
        return "; raise the system's limit of open files (fs.file-max)";
    case EFBIG:
        return "; lower segment-size or raise the limit of the file size (LimitFSIZE=, ulimit -f)";
    case EIO:
        return "; look at the disk (dmesg)";
    case EROFS:
        return "; mount its file system for writing";
    case EACCES:
        return "; give the agent's user the right to read, write and search its folder";
    default:
        return "";
    }
}

void
file_ops_set_error(GError **error, int number, const char *what, const char *name)
{
    FileChannelError code = FILE_CHANNEL_ERROR_IO;

    if (number == ENOSPC || number == EDQUOT)
        code = FILE_CHANNEL_ERROR_NO_SPACE;
    else if (number == ENOENT || number == FILE_NOT_REGULAR)
        code = FILE_CHANNEL_ERROR_GONE;
    g_set_error(error, FILE_CHANNEL_ERROR, code, "cannot %s %s: %s%s", what, name,
                g_strerror(number), remedy_for(number));
}

gboolean
file_write_all(const FileOps *ops, int fd, struct iovec *parts, guint n_parts, guint64 offset)
{
    while (n_parts > 0) {
        ssize_t written = ops->pwritev(fd, parts, (int) MIN(n_parts, IOV_MAX), (off_t) offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written == 0 ? EIO : errno;
            return FALSE;
        }
        offset += (guint64) written;
        for (; n_parts > 0 && (gsize) written >= parts->iov_len; parts++, n_parts--)
            written -= (ssize_t) parts->iov_len;
        if (n_parts > 0) {
            parts->iov_base = (char *) parts->iov_base + written;
            parts->iov_len -= (gsize) written;
        }
    }
    return TRUE;
}

gssize
file_read_all(const FileOps *ops, int fd, void *bytes, gsize length, guint64 offset)
{
    return file_read_least(ops, fd, bytes, length, length, offset);
}

gssize
file_read_least(const FileOps *ops, int fd, void *bytes, gsize least, gsize length, guint64 offset)
{
    gsize done = 0;

    while (done < least) {
        ssize_t got = ops->pread(fd, (char *) bytes + done, length - done, (off_t) (offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (gsize) got;
    }
    return (gssize) done;
}

static gboolean
has_name(int fd)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return FALSE;
    if (info.st_nlink > 0)
        return TRUE;
    errno = ENOENT;
    return FALSE;
}

gboolean
file_sync(const FileOps *ops, int fd)
{
    int result;

    do
        result = ops->fdatasync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 && has_name(fd);
}
