/* file_writer.h - one file in use: records collected, written, made certain or taken back.
 *
 * What is staged counts only after file_writer_commit; file_writer_rollback cuts the file back to
 * where the last commit left it. One thread. */
#pragma once

#include <glib.h>

#include "agent/sinks/file_rules.h"

typedef struct {
    const FileRules *rules;
    char *key;    /* prefix with its folder, below the base: "web/2024-01-31/apps" */
    char *folder; /* "web/2024-01-31", "" */
    char *stem;   /* name without suffix */
    char *path;   /* of the file as it is now, for people */
    int fd;       /* -1: parked */
    dev_t device;
    ino_t inode;
    FileCodec *codec; /* NULL: none, or parked */

    GString *records; /* formatted, not yet given to the kernel */
    guint64 size;     /* bytes in the file */
    guint64 committed;
    guint64 n_events; /* committed */
    guint64 n_staged;
    gboolean dirty;    /* written since the last sync */
    gboolean unlisted; /* its folder was not synced since it was made */
    gboolean broken;   /* no more bytes into this file */

    gint64 opened_us; /* for the pool: monotonic times, and its lists */
    gint64 used_us;
    gint64 checked_us; /* that the file is still in its place */
    gint64 retry_us;   /* by a tick, after it could not be ended */
    gint64 retry_delay_us;
    gboolean touched;
    GList link;
} FileWriter;

/* Makes folder and file. count numbers the files of the sink. */
FileWriter *file_writer_new(const FileRules *rules, const char *key, guint *count, GError **error);
/* Closes the descriptor; the file stays as it is. */
void file_writer_free(FileWriter *self);

/* Bytes the file would have with what is collected; compressed ones as far as they are known. */
guint64 file_writer_size(const FileWriter *self);
/* Gives the collected records to the kernel if they are many. */
gboolean file_writer_spill(FileWriter *self, GError **error);
/* Gives it everything, readable from then on whatever happens to this process. */
gboolean file_writer_flush(FileWriter *self, GError **error);
/* To the disk, the name too. After a failure the file is broken: a second sync would lie. */
gboolean file_writer_sync(FileWriter *self, GError **error);
void file_writer_commit(FileWriter *self);
/* FALSE: the file could not be cut; it is broken, and holds events that will come again. */
gboolean file_writer_rollback(FileWriter *self, GError **error);

/* No name leads to it any more: what is written now is gone when it is closed. */
gboolean file_writer_is_removed(const FileWriter *self);
/* Its name still leads to it, and nobody else changed its size. */
gboolean file_writer_in_place(const FileWriter *self);
/* Gives the descriptor and the codec's memory back. Nothing may be staged. */
gboolean file_writer_park(FileWriter *self, GError **error);
/* FALSE without an error if somebody else has taken or changed the file. */
gboolean file_writer_unpark(FileWriter *self, GError **error);

/* Completes the file as it stands; then gives it its final name, unless it is not in its place.
 * Each may be tried again. Nothing may be staged. */
gboolean file_writer_finish(FileWriter *self, GError **error);
gboolean file_writer_publish(FileWriter *self, GError **error);
/* Removes a file that never got a byte to keep. */
void file_writer_remove(FileWriter *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileWriter, file_writer_free)
