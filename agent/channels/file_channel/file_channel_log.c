/* file_channel_log.c - what the writer does with its log besides writing: syncs, new segments, the
 * checkpoint, the end of segments. */
#include "agent/channels/file_channel/file_channel_log.h"

#include <errno.h>

#include "agent/channels/file_channel/checkpoint.h"
#include "base/clock.h"
#include "base/quantity.h"

gboolean
file_channel_sync(FileChannel *self, GError **error)
{
    gint64 begin_us = clock_now_us();
    MetricSet *metrics = self->base.base.part_metrics;

    if (self->writer.synced == self->writer.offset)
        return TRUE;
    if (!log_writer_sync(&self->writer, error))
        return FALSE;
    self->last_sync_us = clock_now_us();
    self->durable_low = MAX(self->durable_low, self->written_low);
    metric_add(metrics, FILE_CHANNEL_SYNCS, 1);
    metric_observe_us(metrics, FILE_CHANNEL_SYNC_TIME, self->last_sync_us - begin_us, 1);
    return TRUE;
}

static void
file_channel_set_no_space(const FileChannel *self, guint64 free_bytes, guint64 more, GError **error)
{
    guint64 needed = self->options.reserve + more;
    g_autofree char *free_text = quantity_size_to_text_beside(free_bytes, needed);
    g_autofree char *needed_text = quantity_size_to_text_beside(needed, free_bytes);
    g_autofree char *reserve_text = quantity_size_to_text_beside(self->options.reserve, needed);
    g_autofree char *more_text = quantity_size_to_text(more);

    if (more == 0)
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_NO_SPACE,
                    "directory '%s': %s are free, less than the reserve (%s); free space or lower "
                    "the reserve",
                    self->dir.path, free_text, needed_text);
    else
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_NO_SPACE,
                    "directory '%s': %s are free, less than %s: the reserve (%s) and a segment "
                    "(%s); free space or lower the reserve",
                    self->dir.path, free_text, needed_text, reserve_text, more_text);
}

gboolean
file_channel_check_space(FileChannel *self, guint64 more, GError **error)
{
    guint64 free_bytes;

    self->space_checked_us = clock_now_us();
    if (self->options.reserve == 0 || self->ops->free_bytes(self->dir.fd, &free_bytes) != 0 ||
        free_bytes >= self->options.reserve + more)
        return TRUE;
    file_channel_set_no_space(self, free_bytes, more, error);
    return FALSE;
}

gboolean
file_channel_roll(FileChannel *self, guint64 size, guint64 group_size, guint64 low, GError **error)
{
    if (self->options.sync != FILE_SYNC_NEVER && !file_channel_sync(self, error))
        return FALSE;
    if (!log_writer_roll(&self->writer, size, group_size, low, error))
        return FALSE;
    self->written_low = self->durable_low = low;
    return TRUE;
}

/* Whether the first segment is done with. */
static gboolean
file_channel_may_remove(FileChannel *self, guint64 low, SegmentInfo *ret_info)
{
    return segment_list_first(&self->segments, ret_info) && ret_info->end_seq <= low &&
           !(ret_info->number == self->writer.number && self->writer.fd >= 0);
}

void
file_channel_purge(FileChannel *self, guint64 low)
{
    SegmentInfo info;

    if (!file_channel_may_remove(self, low, &info))
        return;
    do {
        segment_list_remove_first(&self->segments);
        if (!segment_dir_delete(&self->dir, info.number))
            component_report(&self->base.base, REPORT_DISK, NULL, "a segment cannot be removed");
    } while (file_channel_may_remove(self, low, &info));
    g_mutex_lock(&self->lock);
    file_channel_measure(self);
    file_channel_admit_pending(self);
    file_channel_show(self);
    g_mutex_unlock(&self->lock);
}

static void
file_channel_describe(FileChannel *self, Checkpoint *checkpoint)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    const LogRange *range = log_ranges_peek(&self->available);
    SegmentInfo last = { 0 };

    segment_list_last(&self->segments, &last);
    checkpoint->channel = self->writer.channel;
    checkpoint->consumed = self->consumption.low;
    if (range != NULL && range->first == self->consumption.low)
        checkpoint->from = range->from;
    checkpoint->end = (LogPosition){ last.number, last.end };
    checkpoint->next_seq = self->writer.next_seq;
    checkpoint->n_bytes = self->stored_bytes - MIN(self->stored_bytes, self->memory.n_bytes);
    seq_set_add_all(&checkpoint->above, &self->consumption.above);
}

void
file_channel_save_checkpoint(FileChannel *self)
{
    g_auto(Checkpoint) checkpoint;
    g_autoptr(GError) error = NULL;

    checkpoint_init(&checkpoint);
    file_channel_describe(self, &checkpoint);
    self->last_checkpoint_us = clock_now_us();
    self->checkpoint_is_stale = FALSE;
    if (checkpoint_save(self->ops, self->dir.fd, &checkpoint, &error)) {
        self->durable_low = MAX(self->durable_low, checkpoint.consumed);
        return;
    }
    metric_add(self->base.base.part_metrics, FILE_CHANNEL_CHECKPOINT_FAILURES, 1);
    g_prefix_error(&error, "directory '%s': ", self->dir.path);
    component_report(&self->base.base, REPORT_DISK, NULL, error->message);
}

static gboolean
segment_is_gone(const SegmentDir *dir, guint64 number)
{
    int fd = segment_dir_open_segment(dir, number);

    if (fd < 0)
        return errno == ENOENT;
    dir->ops->close(fd);
    return FALSE;
}

void
file_channel_report_gone(FileChannel *self)
{
    g_autofree char *detail = NULL;
    guint64 seq = self->consumption.low;
    guint64 n_lost = 0;
    SegmentInfo info;

    for (; segment_list_find_seq(&self->segments, seq, &info); seq = info.end_seq) {
        guint64 first = MAX(seq, info.first_seq);

        if (segment_is_gone(&self->dir, info.number))
            n_lost +=
                info.end_seq - first - consumption_count(&self->consumption, first, info.end_seq);
    }
    if (n_lost == 0)
        return;
    metric_add(self->base.base.part_metrics, FILE_CHANNEL_LOST, n_lost);
    detail = g_strdup_printf("directory '%s': %" G_GUINT64_FORMAT " events that were not delivered "
                             "are lost, the files of their segments have vanished",
                             self->dir.path, n_lost);
    component_report_topic(&self->base.base, REPORT_DAMAGED, "gone", NULL, detail);
}
