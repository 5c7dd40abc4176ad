/* file_directory.c - steps into folders one at a time, and names that collide with nothing. */
#include "agent/sinks/file_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sinks/file_error.h"

#define NAME_ATTEMPTS 10000

/* ---- folders ---- */

/* A folder may be searched by whom its files may be read by. */
static mode_t
folder_mode(const FileRules *rules)
{
    return rules->mode | ((rules->mode & 0444) >> 2) | 0700;
}

void
file_directory_sync(int directory)
{
    /* Some file systems cannot; a real failure shows at the file's own sync. */
    (void) fsync(directory);
}

/* The new folders and the entries that lead to them. */
static void
sync_parents(const char *path)
{
    g_autofree char *parent = g_path_get_dirname(path);
    int directory;

    directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        file_directory_sync(directory);
        close(directory);
    }
    if (!g_str_equal(parent, path))
        sync_parents(parent);
}

static int
open_base(const FileRules *rules, gboolean create, GError **error)
{
    int directory = open(rules->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int number = directory < 0 ? errno : 0;

    if (number == ENOENT && create) {
        if (g_mkdir_with_parents(rules->base, (int) folder_mode(rules)) != 0) {
            number = errno;
            file_error_set_create(error, number, rules->base);
            errno = number;
            return -1;
        }
        if (rules->sync != FILE_SYNC_NEVER)
            sync_parents(rules->base);
        directory = open(rules->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        number = directory < 0 ? errno : 0;
    }
    if (number != 0)
        file_error_set(error, number, "open the folder", rules->base);
    errno = number;
    return directory;
}

static int
step_into(const FileRules *rules, int parent, const char *name, gboolean create)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int directory = openat(parent, name, flags);

    if (directory >= 0 || errno != ENOENT || !create)
        return directory;
    if (mkdirat(parent, name, folder_mode(rules)) != 0 && errno != EEXIST)
        return -1;
    if (rules->sync != FILE_SYNC_NEVER)
        file_directory_sync(parent);
    return openat(parent, name, flags);
}

static int
walk(const FileRules *rules, const char *relative, gboolean create, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(relative, "/", -1);
    g_autoptr(GString) path = g_string_new(rules->base);
    int directory = open_base(rules, create, error);

    for (guint i = 0; directory >= 0 && parts[i] != NULL; i++) {
        int next = step_into(rules, directory, parts[i], create);
        int number = errno;

        close(directory);
        directory = next;
        g_string_append_printf(path, "/%s", parts[i]);
        if (next < 0) {
            file_error_set(error, number, "open the folder", path->str);
            errno = number;
        }
    }
    return directory;
}

int
file_directory_open(const FileRules *rules, const char *relative, GError **error)
{
    return walk(rules, relative, FALSE, error);
}

int
file_directory_create(const FileRules *rules, const char *relative, GError **error)
{
    return walk(rules, relative, TRUE, error);
}

/* ---- names ---- */

gboolean
file_lock(int fd)
{
    /* A file system without locks has one agent by agreement. */
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

gboolean
file_is_at(int fd, int directory, const char *name)
{
    struct stat file;
    struct stat entry;

    return fstat(fd, &file) == 0 && fstatat(directory, name, &entry, AT_SYMLINK_NOFOLLOW) == 0 &&
           file.st_dev == entry.st_dev && file.st_ino == entry.st_ino;
}

static gboolean
is_taken(int directory, const char *name)
{
    struct stat entry;

    return fstatat(directory, name, &entry, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Names sort in the order of their making, after a quick restart too: hence milliseconds. */
static char *
next_stem(const char *prefix, guint *count)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *stamp = g_date_time_format(now, "%Y%m%dT%H%M%S");
    int milliseconds = g_date_time_get_microsecond(now) / 1000;

    *count = *count == G_MAXUINT ? 1 : *count + 1;
    return g_strdup_printf("%s-%s.%03dZ-%06u", prefix, stamp, milliseconds, *count);
}

/* -1 with errno EEXIST: the name is taken, or a sink that recovers has taken the file for a
 * left-over. */
static int
try_name(int directory, const FileRules *rules, const char *name)
{
    g_autofree char *tmp = g_strconcat(name, FILE_TMP, NULL);
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    int fd;

    errno = EEXIST;
    if (is_taken(directory, name))
        return -1;
    fd = openat(directory, tmp, flags, rules->mode);
    if (fd < 0 || (file_lock(fd) && file_is_at(fd, directory, tmp)))
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

int
file_directory_add(int directory, const FileRules *rules, const char *prefix, guint *count,
                   char **ret_stem)
{
    const char *codec_suffix = rules->codec != NULL ? rules->codec->suffix : "";
    int fd = -1;

    for (guint attempt = 0; fd < 0 && attempt < NAME_ATTEMPTS; attempt++) {
        g_autofree char *stem = next_stem(prefix, count);
        g_autofree char *name = g_strconcat(stem, rules->suffix, codec_suffix, NULL);

        fd = try_name(directory, rules, name);
        if (fd >= 0)
            *ret_stem = g_steal_pointer(&stem);
        else if (errno != EEXIST)
            return -1;
    }
    return fd;
}

/* 0 or an errno; EEXIST: the new name is taken. */
static int
rename_to_free_name(int directory, const char *from, const char *to)
{
    if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    /* A file system that knows no such rename: a link cannot replace anything either. */
    if (linkat(directory, from, directory, to, 0) == 0)
        return unlinkat(directory, from, 0) == 0 ? 0 : errno;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    if (is_taken(directory, to))
        return EEXIST;
    return renameat(directory, from, directory, to) == 0 ? 0 : errno;
}

gboolean
file_directory_publish(int directory, const char *stem, const char *suffix, char **ret_name)
{
    g_autofree char *from = g_strconcat(stem, suffix, FILE_TMP, NULL);
    g_autofree char *name = g_strconcat(stem, suffix, NULL);
    int number = rename_to_free_name(directory, from, name);

    for (guint n = 1; number == EEXIST && n < NAME_ATTEMPTS; n++) {
        g_free(name);
        name = g_strdup_printf("%s-%u%s", stem, n, suffix);
        number = rename_to_free_name(directory, from, name);
    }
    errno = number;
    if (number == 0)
        *ret_name = g_steal_pointer(&name);
    return number == 0;
}
