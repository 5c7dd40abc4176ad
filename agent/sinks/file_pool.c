/* file_pool.c - opens, puts aside and takes up files, and ends them when their time has come. */
#include "agent/sinks/file_pool.h"

#include "agent/core/sink.h"
#include "base/clock.h"

#define CHECK_US G_USEC_PER_SEC /* how long a moved file may go unnoticed while it is written */
/* After a file could not be ended: doubled each time. */
#define FIRST_RETRY_US G_USEC_PER_SEC
#define LAST_RETRY_US (60 * G_USEC_PER_SEC)
#define MAX_PARKED 4096 /* files put aside; more would cost memory for little */

struct FilePool {
    const FileRules *rules;
    Component *owner;

    GHashTable *files; /* key -> FileWriter *, owned */
    GQueue open;       /* most recently used first */
    GQueue parked;     /* likewise */
    guint count;       /* of files ever made, for names */

    gint64 now_us;
    gint64 next_tick_us;
    gint64 sync_us; /* CLOCK_NEVER: nothing to sync */
};

static const char *const roll_names[] = {
    "size", "count", "interval", "idle", "moved", "failed", "stop", NULL,
};
G_STATIC_ASSERT(G_N_ELEMENTS(roll_names) == N_FILE_ROLLS + 1);

const MetricSpec file_metrics[N_FILE_METRICS + 1] = {
    [FILE_METRIC_IN_USE] = { .name = "leat_file_sink_files_in_use",
                             .kind = METRIC_GAUGE,
                             .help = "Files that are not ended yet, those put aside included." },
    [FILE_METRIC_FINISHED] = { .name = "leat_file_sink_files_finished_total",
                               .help = "Files ended, by what ended them.",
                               .label = "reason",
                               .values = roll_names },
    [FILE_METRIC_BYTES] = { .name = "leat_file_sink_bytes_total",
                            .help = "Bytes written and kept, as they are in the files." },
    [FILE_METRIC_ROLLBACKS] = { .name = "leat_file_sink_rollbacks_total",
                                .help = "Failed batches that were cut off again." },
    [FILE_METRIC_SYNC_FAILURES] = { .name = "leat_file_sink_sync_failures_total",
                                    .help = "Times the disk did not confirm what it was given." },
    [FILE_METRIC_RECOVERED] = { .name = "leat_file_sink_files_recovered_total",
                                .help = "Left-over files that were ended at the start." },
};

FilePool *
file_pool_new(const FileRules *rules, Component *owner)
{
    FilePool *self = g_new0(FilePool, 1);

    self->rules = rules;
    self->owner = owner;
    self->files =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) file_writer_free);
    self->next_tick_us = CLOCK_NEVER;
    self->sync_us = CLOCK_NEVER;
    return self;
}

void
file_pool_free(FilePool *self)
{
    g_autoptr(GList) files = NULL;

    if (self == NULL)
        return;
    files = g_hash_table_get_values(self->files);
    for (GList *item = files; item != NULL; item = item->next)
        file_pool_roll_or_report(self, item->data, FILE_ROLL_STOP);
    g_hash_table_unref(self->files);
    g_free(self);
}

void
file_pool_set_now_us(FilePool *self, gint64 now_us)
{
    self->now_us = now_us;
}

FileWriter *
file_pool_find(const FilePool *self, const char *key)
{
    return g_hash_table_lookup(self->files, key);
}

/* ---- when a file ends ---- */

static void
schedule(FilePool *self, gint64 at_us)
{
    self->next_tick_us = MIN(self->next_tick_us, at_us);
}

static gint64
after(gint64 from_us, gint64 delay_us)
{
    return delay_us == 0 ? CLOCK_NEVER : clock_after_us(from_us, delay_us);
}

static gint64
interval_end_us(const FilePool *self, const FileWriter *file)
{
    return after(file->opened_us, self->rules->roll_interval_us);
}

static gint64
idle_end_us(const FilePool *self, const FileWriter *file)
{
    return after(file->used_us, self->rules->idle_close_us);
}

/* Before another event may go into it. */
static gboolean
is_due(const FilePool *self, const FileWriter *file, FileRoll *ret_reason)
{
    if (self->rules->roll_count != 0 && file->n_events >= self->rules->roll_count)
        *ret_reason = FILE_ROLL_COUNT;
    else if (self->rules->roll_size != 0 && file->committed >= self->rules->roll_size)
        *ret_reason = FILE_ROLL_SIZE;
    else if (self->now_us >= interval_end_us(self, file))
        *ret_reason = FILE_ROLL_INTERVAL;
    else if (file->broken)
        *ret_reason = FILE_ROLL_FAILED;
    else
        return FALSE;
    return TRUE;
}

void
file_pool_note_commit(FilePool *self, FileWriter *file)
{
    FileRoll reason;

    file->used_us = self->now_us;
    if (is_due(self, file, &reason))
        schedule(self, self->now_us);
    if (self->rules->sync != FILE_SYNC_INTERVAL || self->sync_us != CLOCK_NEVER)
        return;
    self->sync_us = after(self->now_us, self->rules->sync_interval_us);
    schedule(self, self->sync_us);
}

/* ---- ending ---- */

static void
forget(FilePool *self, FileWriter *file)
{
    g_queue_unlink(file->fd >= 0 ? &self->open : &self->parked, &file->link);
    g_hash_table_remove(self->files, file->key);
    metric_subtract(self->owner->part_metrics, FILE_METRIC_IN_USE, 1);
    metric_add(self->owner->metrics, SINK_CONNECTIONS_CLOSED, 1);
}

static void
end_as(FilePool *self, FileWriter *file, FileRoll reason)
{
    metric_add_value(self->owner->part_metrics, FILE_METRIC_FINISHED, reason, 1);
    forget(self, file);
}

/* With an interval the events are acknowledged already: all that can be done is to say so, and to
 * start afresh. */
static void
sync_or_report(FilePool *self, FileWriter *file)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *detail = NULL;

    if (file_writer_sync(file, &error))
        return;
    metric_add(self->owner->part_metrics, FILE_METRIC_SYNC_FAILURES, 1);
    detail = g_strconcat(error->message,
                         self->rules->sync == FILE_SYNC_INTERVAL
                             ? "; events written since the last sync may be lost"
                             : NULL,
                         NULL);
    component_report(self->owner, REPORT_DESTINATION, file->path, detail);
}

static gboolean
finish_and_publish(FilePool *self, FileWriter *file, GError **error)
{
    if (!file_writer_finish(file, error))
        return FALSE;
    if (self->rules->sync != FILE_SYNC_NEVER)
        sync_or_report(self, file);
    return file_writer_publish(file, error);
}

gboolean
file_pool_roll(FilePool *self, FileWriter *file, FileRoll reason, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (finish_and_publish(self, file, &failure)) {
        end_as(self, file, reason);
        return TRUE;
    }
    if (file->broken) {
        /* It takes nothing any more, and events must not wait for it: the next start ends it. */
        component_report(self->owner, REPORT_DESTINATION, file->path, failure->message);
        file_pool_give_up(self, file);
        return TRUE;
    }
    file->retry_delay_us = CLAMP(2 * file->retry_delay_us, FIRST_RETRY_US, LAST_RETRY_US);
    file->retry_us = self->now_us + file->retry_delay_us;
    schedule(self, file->retry_us);
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

void
file_pool_roll_or_report(FilePool *self, FileWriter *file, FileRoll reason)
{
    g_autoptr(GError) error = NULL;

    if (!file_pool_roll(self, file, reason, &error))
        component_report(self->owner, REPORT_DESTINATION, file->path, error->message);
}

void
file_pool_give_up(FilePool *self, FileWriter *file)
{
    end_as(self, file, FILE_ROLL_FAILED);
}

void
file_pool_remove(FilePool *self, FileWriter *file)
{
    file_writer_remove(file);
    end_as(self, file, FILE_ROLL_FAILED);
}

/* ---- opening ---- */

static void
move_to_front(GQueue *queue, FileWriter *file)
{
    if (queue->head == &file->link)
        return;
    g_queue_unlink(queue, &file->link);
    g_queue_push_head_link(queue, &file->link);
}

gboolean
file_pool_is_crowded(const FilePool *self)
{
    return self->open.length >= self->rules->max_open_files &&
           ((FileWriter *) self->open.tail->data)->touched;
}

static gboolean
make_room(FilePool *self, GError **error)
{
    while (self->open.length >= self->rules->max_open_files) {
        FileWriter *file = self->open.tail->data;

        g_queue_unlink(&self->open, &file->link);
        if (!file_writer_park(file, error)) {
            g_queue_push_tail_link(&self->open, &file->link);
            return FALSE;
        }
        g_queue_push_head_link(&self->parked, &file->link);
    }
    return TRUE;
}

static void
limit_parked(FilePool *self)
{
    if (self->parked.length > MAX_PARKED)
        file_pool_roll_or_report(self, self->parked.tail->data, FILE_ROLL_IDLE);
}

static FileWriter *
open_new(FilePool *self, const char *key, GError **error)
{
    FileWriter *file;

    if (!make_room(self, error))
        return NULL;
    limit_parked(self);
    file = file_writer_new(self->rules, key, &self->count, error);
    if (file == NULL) {
        metric_add(self->owner->metrics, SINK_CONNECTIONS_FAILED, 1);
        return NULL;
    }
    file->opened_us = file->used_us = file->checked_us = self->now_us;
    g_hash_table_insert(self->files, file->key, file);
    g_queue_push_head_link(&self->open, &file->link);
    metric_add(self->owner->part_metrics, FILE_METRIC_IN_USE, 1);
    metric_add(self->owner->metrics, SINK_CONNECTIONS_CREATED, 1);
    schedule(self, interval_end_us(self, file));
    schedule(self, idle_end_us(self, file));
    return file;
}

/* FALSE without an error: the file is not ours any more. */
static gboolean
take_up(FilePool *self, FileWriter *file, GError **error)
{
    move_to_front(&self->parked, file);
    if (!make_room(self, error))
        return FALSE;
    g_queue_unlink(&self->parked, &file->link);
    if (!file_writer_unpark(file, error)) {
        g_queue_push_head_link(&self->parked, &file->link);
        return FALSE;
    }
    g_queue_push_head_link(&self->open, &file->link);
    file->checked_us = self->now_us;
    return TRUE;
}

static gboolean
is_usable(FilePool *self, FileWriter *file, GError **error)
{
    if (file->fd < 0)
        return take_up(self, file, error);
    if (file_writer_is_removed(file))
        return FALSE;
    if (self->now_us - file->checked_us < CHECK_US)
        return TRUE;
    file->checked_us = self->now_us;
    return file_writer_in_place(file);
}

FileWriter *
file_pool_get(FilePool *self, const char *key, GError **error)
{
    FileWriter *file = g_hash_table_lookup(self->files, key);
    g_autoptr(GError) failure = NULL;
    FileRoll reason = FILE_ROLL_MOVED;

    if (file == NULL)
        return open_new(self, key, error);
    if (file->touched || (!is_due(self, file, &reason) && is_usable(self, file, &failure))) {
        move_to_front(&self->open, file);
        return file;
    }
    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    return file_pool_roll(self, file, reason, error) ? open_new(self, key, error) : NULL;
}

/* ---- what is due ---- */

static void
sync_what_is_dirty(FilePool *self)
{
    GHashTableIter iter;
    gpointer file;

    self->sync_us = CLOCK_NEVER;
    g_hash_table_iter_init(&iter, self->files);
    while (g_hash_table_iter_next(&iter, NULL, &file))
        sync_or_report(self, file);
}

static void
end_if_due(FilePool *self, FileWriter *file)
{
    FileRoll reason = FILE_ROLL_IDLE;

    if (self->now_us >= file->retry_us &&
        (is_due(self, file, &reason) || self->now_us >= idle_end_us(self, file)))
        file_pool_roll_or_report(self, file, reason);
}

static gint64
due_us(const FilePool *self, const FileWriter *file)
{
    return MAX(file->retry_us, MIN(interval_end_us(self, file), idle_end_us(self, file)));
}

void
file_pool_tick(FilePool *self)
{
    g_autoptr(GList) files = g_hash_table_get_values(self->files);
    GHashTableIter iter;
    gpointer file;

    if (self->now_us >= self->sync_us)
        sync_what_is_dirty(self);
    for (GList *item = files; item != NULL; item = item->next)
        end_if_due(self, item->data);
    self->next_tick_us = self->sync_us;
    g_hash_table_iter_init(&iter, self->files);
    while (g_hash_table_iter_next(&iter, NULL, &file))
        schedule(self, due_us(self, file));
}

gint64
file_pool_next_tick_us(const FilePool *self)
{
    return self->next_tick_us;
}
