/* segment_dir.c - the directory of one channel: its lock, its segments, what is made and removed.
 */
#include "agent/channels/file_channel/segment_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_MODE 0700
#define FILE_MODE 0600

/* ---- open and lock ---- */

/* Who wrote it last; 0 if nobody can tell. */
static int
read_pid(int lock_fd)
{
    char text[16] = "";

    if (pread(lock_fd, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    return (int) g_ascii_strtoll(text, NULL, 10);
}

static void
write_pid(int lock_fd)
{
    g_autofree char *text = g_strdup_printf("%d\n", (int) getpid());

    /* Only to tell people; without it the lock holds all the same. */
    if (ftruncate(lock_fd, 0) != 0 || pwrite(lock_fd, text, strlen(text), 0) < 0)
        return;
}

static gboolean
segment_dir_lock(SegmentDir *self, GError **error)
{
    self->lock_fd = openat(self->fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (self->lock_fd < 0) {
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_IO, "cannot write in '%s': %s",
                    self->path, g_strerror(errno));
        return FALSE;
    }
    if (flock(self->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        write_pid(self->lock_fd);
        return TRUE;
    }
    if (errno == EWOULDBLOCK)
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_LOCKED,
                    "the directory '%s' is in use by process %d; each channel needs a directory "
                    "of its own",
                    self->path, read_pid(self->lock_fd));
    else
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_IO, "cannot lock '%s': %s",
                    self->path, g_strerror(errno));
    return FALSE;
}

/* A new directory is lost in a power cut, with all that is in it, until its parent is synced. */
static gboolean
sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean synced = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    return synced;
}

/* The directory and those above it that are not there either. */
static gboolean
make_folder(const char *path)
{
    g_autofree char *parent = g_path_get_dirname(path);

    if (mkdir(path, FOLDER_MODE) == 0)
        return sync_folder(parent);
    if (errno == EEXIST)
        return TRUE;
    return errno == ENOENT && strcmp(parent, path) != 0 && make_folder(parent) &&
           (mkdir(path, FOLDER_MODE) == 0 || errno == EEXIST) && sync_folder(parent);
}

gboolean
segment_dir_open(SegmentDir *self, const FileOps *ops, const char *path, gboolean for_writing,
                 GError **error)
{
    *self = (SegmentDir){ .ops = ops, .path = g_strdup(path), .fd = -1, .lock_fd = -1 };
    if (for_writing && !make_folder(path)) {
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_IO,
                    "cannot create the directory '%s': %s", path, g_strerror(errno));
        return FALSE;
    }
    self->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->fd < 0) {
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_IO,
                    "cannot open the directory '%s': %s", path, g_strerror(errno));
        return FALSE;
    }
    return !for_writing || segment_dir_lock(self, error);
}

void
segment_dir_close(SegmentDir *self)
{
    if (self->lock_fd >= 0)
        close(self->lock_fd);
    if (self->fd >= 0)
        close(self->fd);
    self->lock_fd = self->fd = -1;
    g_clear_pointer(&self->path, g_free);
}

/* ---- what is there ---- */

static int
compare_numbers(gconstpointer a, gconstpointer b)
{
    guint64 left = *(const guint64 *) a;
    guint64 right = *(const guint64 *) b;

    return left < right ? -1 : left > right;
}

GArray *
segment_dir_list(const SegmentDir *self, GError **error)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GDir) folder = g_dir_open(self->path, 0, error);
    const char *name;
    guint64 number;

    if (folder == NULL)
        return NULL;
    while ((name = g_dir_read_name(folder)) != NULL)
        if (segment_name_parse(name, &number))
            g_array_append_val(numbers, number);
    g_array_sort(numbers, compare_numbers);
    return g_steal_pointer(&numbers);
}

int
segment_dir_open_segment(const SegmentDir *self, guint64 number)
{
    g_autofree char *name = segment_name(number);

    return self->ops->open(self->fd, name, O_RDONLY, 0);
}

/* ---- make ---- */

/* Without promised room a full disk is met later, by a write. */
static gboolean
preallocate(const FileOps *ops, int fd, guint64 size)
{
    int result;

    do
        result = ops->preallocate(fd, (off_t) size);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
}

static gboolean
prepare(const SegmentDir *self, int fd, const SegmentHead *head)
{
    guint8 bytes[SEGMENT_HEAD_SIZE];
    struct iovec part = { .iov_base = bytes, .iov_len = sizeof(bytes) };

    segment_head_write(head, bytes);
    return preallocate(self->ops, fd, head->size) && file_write_all(self->ops, fd, &part, 1, 0) &&
           file_sync(self->ops, fd) && self->ops->fsync(self->fd) == 0;
}

int
segment_dir_create(const SegmentDir *self, const SegmentHead *head, GError **error)
{
    g_autofree char *name = segment_name(head->number);
    int fd = self->ops->open(self->fd, name, O_RDWR | O_CREAT | O_EXCL, FILE_MODE);
    int number;

    if (fd >= 0 && prepare(self, fd, head))
        return fd;
    number = errno;
    if (fd >= 0) {
        self->ops->close(fd);
        self->ops->unlink(self->fd, name);
    }
    file_ops_set_error(error, number, "create", name);
    g_prefix_error(error, "directory '%s': ", self->path);
    return -1;
}

/* ---- remove and mend ---- */

gboolean
segment_dir_delete(const SegmentDir *self, guint64 number)
{
    g_autofree char *name = segment_name(number);

    return self->ops->unlink(self->fd, name) == 0 || errno == ENOENT;
}

gboolean
segment_dir_cut(const SegmentDir *self, guint64 number, guint64 end, GError **error)
{
    g_autofree char *name = segment_name(number);
    int fd = self->ops->open(self->fd, name, O_RDWR, 0);
    gboolean cut;

    if (fd < 0) {
        file_ops_set_error(error, errno, "open", name);
        return FALSE;
    }
    cut = self->ops->truncate(fd, (off_t) end) == 0 && file_sync(self->ops, fd);
    if (!cut)
        file_ops_set_error(error, errno, "cut", name);
    self->ops->close(fd);
    return cut;
}

gboolean
segment_dir_keep_damaged(const SegmentDir *self, guint64 number, GError **error)
{
    g_autofree char *name = segment_name(number);
    g_autofree char *kept = g_strconcat(name, DAMAGED_SUFFIX, NULL);

    if (self->ops->link(self->fd, name, kept) == 0 || errno == EEXIST)
        return TRUE;
    file_ops_set_error(error, errno, "keep the damaged", name);
    return FALSE;
}

gboolean
segment_dir_set_aside(const SegmentDir *self, guint64 number, GError **error)
{
    g_autofree char *name = segment_name(number);
    g_autofree char *kept = g_strconcat(name, DAMAGED_SUFFIX, NULL);

    if (self->ops->rename(self->fd, name, kept) == 0)
        return TRUE;
    file_ops_set_error(error, errno, "set aside", name);
    return FALSE;
}
