/* file_pool.h - the files in use of one sink, by key; what ends them and when.
 *
 * At most max-open-files are open. The least recently used is put aside, its descriptor closed and
 * its name kept, and taken up again when it is asked for. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"
#include "agent/sinks/file_rules.h"
#include "agent/sinks/file_writer.h"

typedef enum {
    FILE_ROLL_SIZE,
    FILE_ROLL_COUNT,
    FILE_ROLL_INTERVAL,
    FILE_ROLL_IDLE,
    FILE_ROLL_MOVED,
    FILE_ROLL_FAILED,
    FILE_ROLL_STOP,
    N_FILE_ROLLS,
} FileRoll;

typedef enum {
    FILE_METRIC_IN_USE,
    FILE_METRIC_FINISHED,
    FILE_METRIC_BYTES,
    FILE_METRIC_ROLLBACKS,
    FILE_METRIC_SYNC_FAILURES,
    FILE_METRIC_RECOVERED,
    N_FILE_METRICS,
} FileMetric;
extern const MetricSpec file_metrics[N_FILE_METRICS + 1];

typedef struct FilePool FilePool;

/* Both borrowed. owner counts, and reports what goes wrong where nobody waits for an answer. */
FilePool *file_pool_new(const FileRules *rules, Component *owner);
/* Gives every file its final name and reports those that refuse: they stay for the next start. */
void file_pool_free(FilePool *self);

/* The monotonic time of everything until it is set again. */
void file_pool_set_now_us(FilePool *self, gint64 now_us);

/* In use, open or put aside; NULL. */
FileWriter *file_pool_find(const FilePool *self, const char *key);
/* Opening one more would put a file aside that has staged events. */
gboolean file_pool_is_crowded(const FilePool *self);
/* The open file of this key, after one that is due or was moved away has been ended. Not while the
 * pool is crowded, unless the file is open. */
FileWriter *file_pool_get(FilePool *self, const char *key, GError **error);

/* These end a file without staged events; it is freed. A roll that fails leaves it in use, to be
 * tried again. */
gboolean file_pool_roll(FilePool *self, FileWriter *file, FileRoll reason, GError **error);
void file_pool_roll_or_report(FilePool *self, FileWriter *file, FileRoll reason);
void file_pool_give_up(FilePool *self, FileWriter *file); /* the file stays as it is */
void file_pool_remove(FilePool *self, FileWriter *file);  /* nothing in it counts */

/* Tells the pool that something was committed to the file: it may be due, or to be synced. */
void file_pool_note_commit(FilePool *self, FileWriter *file);

/* Rolls, closes and syncs what is due. */
void file_pool_tick(FilePool *self);
gint64 file_pool_next_tick_us(const FilePool *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FilePool, file_pool_free)
