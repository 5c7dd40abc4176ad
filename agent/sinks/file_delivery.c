/* file_delivery.c - staged in every file, then committed in all or cut off from all. */
#include "agent/sinks/file_delivery.h"

struct FileDelivery {
    const FileRules *rules;
    FilePool *pool;
    Component *owner;

    GPtrArray *touched;  /* files with staged events */
    FileWriter *current; /* that the last event went to */
    guint n_staged;
    guint n_done;
};

FileDelivery *
file_delivery_new(const FileRules *rules, FilePool *pool, Component *owner)
{
    FileDelivery *self = g_new0(FileDelivery, 1);

    self->rules = rules;
    self->pool = pool;
    self->owner = owner;
    self->touched = g_ptr_array_new();
    return self;
}

void
file_delivery_free(FileDelivery *self)
{
    if (self == NULL)
        return;
    g_ptr_array_unref(self->touched);
    g_free(self);
}

void
file_delivery_begin(FileDelivery *self)
{
    self->current = NULL;
    self->n_staged = 0;
    self->n_done = 0;
}

guint
file_delivery_done(const FileDelivery *self)
{
    return self->n_done;
}

/* ---- commit and rollback ---- */

/* The kernel has it all, the disk too if that is what delivered means. */
static gboolean
make_certain(FileDelivery *self, GError **error)
{
    for (guint i = 0; i < self->touched->len; i++)
        if (!file_writer_flush(g_ptr_array_index(self->touched, i), error))
            return FALSE;
    if (self->rules->sync != FILE_SYNC_BATCH)
        return TRUE;
    for (guint i = 0; i < self->touched->len; i++)
        if (!file_writer_sync(g_ptr_array_index(self->touched, i), error)) {
            metric_add(self->owner->part_metrics, FILE_METRIC_SYNC_FAILURES, 1);
            return FALSE;
        }
    return TRUE;
}

gboolean
file_delivery_commit(FileDelivery *self, GError **error)
{
    if (!make_certain(self, error))
        return FALSE;
    for (guint i = 0; i < self->touched->len; i++) {
        FileWriter *file = g_ptr_array_index(self->touched, i);

        metric_add(self->owner->part_metrics, FILE_METRIC_BYTES, file->size - file->committed);
        file_writer_commit(file);
        file->touched = FALSE;
        file_pool_note_commit(self->pool, file);
    }
    g_ptr_array_set_size(self->touched, 0);
    self->current = NULL;
    self->n_done += self->n_staged;
    self->n_staged = 0;
    return TRUE;
}

static void
roll_back(FileDelivery *self, FileWriter *file)
{
    g_autoptr(GError) error = NULL;

    file->touched = FALSE;
    if (!file_writer_rollback(file, &error)) {
        component_report(self->owner, REPORT_DESTINATION, file->path, error->message);
        file_pool_give_up(self->pool, file);
    } else if (file->committed == 0) {
        file_pool_remove(self->pool, file);
    } else if (file->broken) {
        file_pool_roll_or_report(self->pool, file, FILE_ROLL_FAILED);
    }
}

void
file_delivery_rollback(FileDelivery *self)
{
    if (self->touched->len > 0)
        metric_add(self->owner->part_metrics, FILE_METRIC_ROLLBACKS, 1);
    for (guint i = 0; i < self->touched->len; i++)
        roll_back(self, g_ptr_array_index(self->touched, i));
    g_ptr_array_set_size(self->touched, 0);
    self->current = NULL;
    self->n_staged = 0;
}

/* ---- the file of an event ---- */

static FileWriter *
file_for(FileDelivery *self, const char *key, GError **error)
{
    FileWriter *file = self->current;

    if (file != NULL && g_str_equal(file->key, key))
        return file;
    file = file_pool_find(self->pool, key);
    if ((file == NULL || file->fd < 0) && file_pool_is_crowded(self->pool) &&
        !file_delivery_commit(self, error))
        return NULL;
    self->current = file_pool_get(self->pool, key, error);
    return self->current;
}

/* One record more would be too many. */
static gboolean
is_full(const FileDelivery *self, const FileWriter *file, FileRoll *ret_reason)
{
    guint64 n_events = file->n_events + file->n_staged;

    *ret_reason = FILE_ROLL_SIZE;
    if (self->rules->roll_size != 0 && n_events > 0 &&
        file_writer_size(file) >= self->rules->roll_size)
        return TRUE;
    *ret_reason = FILE_ROLL_COUNT;
    return self->rules->roll_count != 0 && n_events >= self->rules->roll_count;
}

/* The record just collected, which is not the first, makes the file larger than it may be. */
static gboolean
overflows(const FileDelivery *self, const FileWriter *file)
{
    return self->rules->roll_size != 0 && file->n_events + file->n_staged > 0 &&
           file_writer_size(file) > self->rules->roll_size;
}

/* What stands so far is committed, the file ended, and the next one begun. */
static FileWriter *
turn_over(FileDelivery *self, FileWriter *file, FileRoll reason, GError **error)
{
    g_autofree char *key = g_strdup(file->key);

    if (!file_delivery_commit(self, error) || !file_pool_roll(self->pool, file, reason, error))
        return NULL;
    return file_for(self, key, error);
}

static void
stage(FileDelivery *self, FileWriter *file)
{
    if (!file->touched)
        g_ptr_array_add(self->touched, file);
    file->touched = TRUE;
    file->n_staged++;
    self->n_staged++;
}

gboolean
file_delivery_add(FileDelivery *self, const char *key, const EventView *event, GError **error)
{
    FileWriter *file = file_for(self, key, error);
    FileRoll reason;
    gsize before;

    if (file != NULL && is_full(self, file, &reason))
        file = turn_over(self, file, reason, error);
    if (file == NULL)
        return FALSE;
    before = file->records->len;
    event_format_append(self->rules->format, event, file->records);
    if (overflows(self, file)) {
        g_string_truncate(file->records, before);
        file = turn_over(self, file, FILE_ROLL_SIZE, error);
        if (file == NULL)
            return FALSE;
        event_format_append(self->rules->format, event, file->records);
    }
    stage(self, file);
    return file_writer_spill(file, error);
}
