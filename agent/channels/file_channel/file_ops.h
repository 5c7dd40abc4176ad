/* file_ops.h - every call that the channel makes to its files: one table, so that tests can record,
 * fail and lose them. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <glib.h>
#include <sys/types.h>
#include <sys/uio.h>

/* errno of an open that meets a folder, pipe, socket or device; of a socket it always was. */
#define FILE_NOT_REGULAR ENXIO
const char *file_open_strerror(int number);

/* As the system calls of the same name: -1 and errno. folder is a descriptor. */
typedef struct {
    int (*open)(int folder, const char *name, int flags, mode_t mode);
    int (*close)(int fd);
    ssize_t (*pread)(int fd, void *bytes, size_t length, off_t offset);
    ssize_t (*pwritev)(int fd, const struct iovec *parts, int n_parts, off_t offset);
    int (*fdatasync)(int fd);
    int (*fsync)(int fd);                     /* of folders too */
    int (*preallocate)(int fd, off_t length); /* the file keeps its size */
    int (*truncate)(int fd, off_t length);
    int (*size)(int fd, guint64 *ret_bytes);
    int (*rename)(int folder, const char *from, const char *to);
    int (*link)(int folder, const char *from, const char *to);
    int (*unlink)(int folder, const char *name);
    int (*free_bytes)(int folder, guint64 *ret_bytes); /* for those who are not root */
} FileOps;

extern const FileOps file_ops_system;

#define FILE_CHANNEL_ERROR (file_channel_error_quark())
GQuark file_channel_error_quark(void);
typedef enum {
    FILE_CHANNEL_ERROR_IO,
    FILE_CHANNEL_ERROR_NO_SPACE,  /* or below the reserve: may be over by itself */
    FILE_CHANNEL_ERROR_NO_MEMORY, /* to read a large record into */
    FILE_CHANNEL_ERROR_LOCKED,
    FILE_CHANNEL_ERROR_FORMAT, /* another version; not damage */
    FILE_CHANNEL_ERROR_GONE,   /* no such file, or no regular one; waiting brings none back */
} FileChannelError;

/* Error with errno's text: "cannot WHAT NAME: ...", and what can be done about it. */
void file_ops_set_error(GError **error, int number, const char *what, const char *name);

/* All of it, over interruptions and short writes; parts are changed. FALSE with errno. */
gboolean file_write_all(const FileOps *ops, int fd, struct iovec *parts, guint n_parts,
                        guint64 offset);
/* As much as there is, up to length; -1 with errno. */
gssize file_read_all(const FileOps *ops, int fd, void *bytes, gsize length, guint64 offset);
/* The same, but may end once it has least: then what stands before a place that cannot be read is
 * had without it. */
gssize file_read_least(const FileOps *ops, int fd, void *bytes, gsize least, gsize length,
                       guint64 offset);
/* fdatasync, over interruptions. Fails with ENOENT for a file whose name has been removed: what is
 * in it will never be found. */
gboolean file_sync(const FileOps *ops, int fd);
