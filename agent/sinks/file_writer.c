/* file_writer.c - appends to one file, and remembers how far it is certain. */
#include "agent/sinks/file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sinks/file_directory.h"
#include "agent/sinks/file_error.h"

#define CHUNK (128 * 1024)
/* Collected records beyond this are given back after a commit. */
#define KEPT (2 * CHUNK)

static const char *
codec_suffix(const FileRules *rules)
{
    return rules->codec != NULL ? rules->codec->suffix : "";
}

/* Of the name, compression included. */
static char *
suffix_of(const FileWriter *self)
{
    return g_strconcat(self->rules->suffix, codec_suffix(self->rules), NULL);
}

static char *
tmp_name(const FileWriter *self)
{
    return g_strconcat(self->stem, self->rules->suffix, codec_suffix(self->rules), FILE_TMP, NULL);
}

static void
set_path(FileWriter *self)
{
    g_autofree char *name = tmp_name(self);

    self->path = g_build_filename(self->rules->base, self->folder, name, NULL);
}

static void
remember_identity(FileWriter *self)
{
    struct stat file;

    if (fstat(self->fd, &file) == 0) {
        self->device = file.st_dev;
        self->inode = file.st_ino;
    }
}

static void
start_codec(FileWriter *self)
{
    if (self->rules->codec != NULL)
        self->codec = self->rules->codec->create();
}

static void
end_codec(FileWriter *self)
{
    if (self->codec != NULL)
        self->codec->type->free(g_steal_pointer(&self->codec));
}

static FileWriter *
writer_alloc(const FileRules *rules, const char *key)
{
    FileWriter *self = g_new0(FileWriter, 1);
    const char *slash = strrchr(key, '/');

    self->rules = rules;
    self->key = g_strdup(key);
    self->folder = slash != NULL ? g_strndup(key, (gsize) (slash - key)) : g_strdup("");
    self->records = g_string_new(NULL);
    self->link.data = self;
    self->fd = -1;
    return self;
}

FileWriter *
file_writer_new(const FileRules *rules, const char *key, guint *count, GError **error)
{
    g_autoptr(FileWriter) self = writer_alloc(rules, key);
    g_autofree char *path = g_build_filename(rules->base, key, NULL);
    const char *prefix = strrchr(key, '/');
    int directory = file_directory_create(rules, self->folder, error);
    int number;

    if (directory < 0)
        return NULL;
    self->fd =
        file_directory_add(directory, rules, prefix != NULL ? prefix + 1 : key, count, &self->stem);
    number = errno;
    self->unlisted = TRUE;
    close(directory);
    if (self->fd < 0) {
        file_error_set(error, number, "create a file for", path);
        return NULL;
    }
    set_path(self);
    remember_identity(self);
    start_codec(self);
    return g_steal_pointer(&self);
}

void
file_writer_free(FileWriter *self)
{
    if (self == NULL)
        return;
    end_codec(self);
    if (self->fd >= 0)
        close(self->fd);
    g_string_free(self->records, TRUE);
    g_free(self->key);
    g_free(self->folder);
    g_free(self->stem);
    g_free(self->path);
    g_free(self);
}

guint64
file_writer_size(const FileWriter *self)
{
    return self->size + (self->codec == NULL ? self->records->len : 0);
}

/* ---- writing ---- */

static gboolean
write_all(FileWriter *self, const GString *bytes, GError **error)
{
    for (gsize done = 0; done < bytes->len;) {
        ssize_t wrote = write(self->fd, bytes->str + done, bytes->len - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            int number = wrote < 0 ? errno : EIO;

            self->broken |= number == EFBIG;
            file_error_set(error, number, "write", self->path);
            return FALSE;
        }
        done += (gsize) wrote;
        self->size += (guint64) wrote;
        self->dirty = TRUE;
    }
    return TRUE;
}

static gboolean
write_records(FileWriter *self, FileCodecStep step, GError **error)
{
    gboolean written;

    if (self->codec == NULL) {
        written = write_all(self, self->records, error);
    } else {
        g_autoptr(GString) packed = g_string_new(NULL);
        ByteSpan records = byte_span(self->records->str, self->records->len);

        written = self->codec->type->pack(self->codec, records, step, packed, error) &&
                  write_all(self, packed, error);
    }
    g_string_truncate(self->records, 0);
    return written;
}

gboolean
file_writer_spill(FileWriter *self, GError **error)
{
    return self->records->len < CHUNK || write_records(self, FILE_CODEC_MORE, error);
}

gboolean
file_writer_flush(FileWriter *self, GError **error)
{
    return write_records(self, FILE_CODEC_FLUSH, error);
}

void
file_writer_commit(FileWriter *self)
{
    if (self->codec != NULL)
        self->codec->type->commit(self->codec);
    self->committed = self->size;
    self->n_events += self->n_staged;
    self->n_staged = 0;
    if (self->records->allocated_len > KEPT) {
        g_string_free(self->records, TRUE);
        self->records = g_string_new(NULL);
    }
}

gboolean
file_writer_rollback(FileWriter *self, GError **error)
{
    struct stat file;

    g_string_truncate(self->records, 0);
    self->n_staged = 0;
    if (self->codec != NULL)
        self->codec->type->rollback(self->codec);
    if (self->size == self->committed)
        return TRUE;
    /* Somebody else may have made it shorter: never longer with zeros. */
    if (fstat(self->fd, &file) == 0 && ((guint64) file.st_size < self->committed ||
                                        ftruncate(self->fd, (off_t) self->committed) == 0)) {
        self->size = self->committed;
        return TRUE;
    }
    self->broken = TRUE;
    file_error_set(error, errno, "cut the failed batch from", self->path);
    return FALSE;
}

/* ---- its place ---- */

/* What stands under our name is our file, and *ret_size its size. A folder that cannot be searched
 * now proves nothing. */
static gboolean
entry_is_ours(const FileWriter *self, int directory, guint64 *ret_size)
{
    g_autofree char *name = tmp_name(self);
    struct stat entry;

    *ret_size = self->size;
    if (fstatat(directory, name, &entry, AT_SYMLINK_NOFOLLOW) != 0)
        return errno != ENOENT;
    *ret_size = (guint64) entry.st_size;
    return entry.st_dev == self->device && entry.st_ino == self->inode;
}

static gboolean
entry_is_untouched(const FileWriter *self, int directory)
{
    guint64 size;

    return entry_is_ours(self, directory, &size) && size == self->size;
}

/* Our folder; -1 without an error if it is gone. */
static int
open_folder(const FileWriter *self, GError **error)
{
    g_autoptr(GError) failure = NULL;
    int directory = file_directory_open(self->rules, self->folder, &failure);

    if (directory < 0 && errno != ENOENT && errno != ENOTDIR)
        g_propagate_error(error, g_steal_pointer(&failure));
    return directory;
}

gboolean
file_writer_is_removed(const FileWriter *self)
{
    struct stat file;

    return fstat(self->fd, &file) == 0 && file.st_nlink == 0;
}

gboolean
file_writer_in_place(const FileWriter *self)
{
    g_autoptr(GError) failure = NULL;
    int directory = open_folder(self, &failure);
    gboolean in_place;

    if (directory < 0)
        return failure != NULL;
    in_place = entry_is_untouched(self, directory);
    close(directory);
    return in_place;
}

/* Ends what the codec has open, so that the file is complete as it stands. */
static gboolean
complete(FileWriter *self, GError **error)
{
    if (self->codec == NULL)
        return TRUE;
    if (!write_records(self, FILE_CODEC_FINISH, error)) {
        file_writer_rollback(self, NULL);
        return FALSE;
    }
    file_writer_commit(self);
    return TRUE;
}

gboolean
file_writer_park(FileWriter *self, GError **error)
{
    g_assert(self->n_staged == 0 && self->records->len == 0);
    if (!complete(self, error))
        return FALSE;
    end_codec(self);
    close(self->fd);
    self->fd = -1;
    g_string_free(self->records, TRUE);
    self->records = g_string_new(NULL);
    return TRUE;
}

/* A descriptor of the parked file, locked; -1 without an error if it is not ours any more. */
static int
open_again(const FileWriter *self, GError **error)
{
    g_autofree char *name = tmp_name(self);
    int directory = open_folder(self, error);
    int fd;

    if (directory < 0)
        return -1;
    fd = openat(directory, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        file_error_set(error, errno, "open", self->path);
    if (fd >= 0 && !(file_lock(fd) && file_is_at(fd, directory, name) &&
                     entry_is_untouched(self, directory))) {
        close(fd);
        fd = -1;
    }
    close(directory);
    return fd;
}

gboolean
file_writer_unpark(FileWriter *self, GError **error)
{
    self->fd = open_again(self, error);
    if (self->fd < 0)
        return FALSE;
    start_codec(self);
    return TRUE;
}

static void
sync_folder(FileWriter *self)
{
    int directory = open_folder(self, NULL);

    if (directory < 0)
        return;
    file_directory_sync(directory);
    close(directory);
    self->unlisted = FALSE;
}

gboolean
file_writer_sync(FileWriter *self, GError **error)
{
    g_autoptr(GError) failure = NULL;
    int fd = self->fd;

    if (!self->dirty)
        return TRUE;
    self->dirty = FALSE;
    if (fd < 0)
        fd = open_again(self, &failure);
    if (fd >= 0 && fdatasync(fd) != 0)
        file_error_set(&failure, errno, "sync", self->path);
    if (fd >= 0 && fd != self->fd)
        close(fd);
    if (failure == NULL && self->unlisted)
        sync_folder(self);
    if (failure == NULL)
        return TRUE;
    self->broken = TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

/* ---- the end ---- */

static gboolean
rename_in(FileWriter *self, int directory, GError **error)
{
    g_autofree char *suffix = suffix_of(self);
    g_autofree char *name = NULL;

    if (!file_directory_publish(directory, self->stem, suffix, &name)) {
        file_error_set(error, errno, "rename", self->path);
        return FALSE;
    }
    /* A new name that does not last leaves FILE_TMP, and the next start ends that. */
    if (self->rules->sync == FILE_SYNC_BATCH)
        file_directory_sync(directory);
    return TRUE;
}

gboolean
file_writer_finish(FileWriter *self, GError **error)
{
    g_assert(self->n_staged == 0 && self->records->len == 0);
    return self->fd < 0 || complete(self, error);
}

gboolean
file_writer_publish(FileWriter *self, GError **error)
{
    g_autoptr(GError) failure = NULL;
    int directory = open_folder(self, &failure);
    gboolean renamed;
    guint64 size;

    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    if (directory < 0)
        return TRUE;
    renamed = !entry_is_ours(self, directory, &size) || rename_in(self, directory, error);
    close(directory);
    return renamed;
}

void
file_writer_remove(FileWriter *self)
{
    g_autofree char *name = tmp_name(self);
    int directory = file_directory_open(self->rules, self->folder, NULL);

    if (directory < 0)
        return;
    if (file_is_at(self->fd, directory, name))
        unlinkat(directory, name, 0);
    close(directory);
}
