/* file_channel_writer.c - the thread that writes: all waiting puts at once, one sync, then answers.
 *
 * It also tells the log what has been consumed, and tries again when the disk has failed. */
#include "agent/channels/file_channel/file_channel.h"
#include "agent/channels/file_channel/file_channel_log.h"
#include "agent/channels/file_channel/file_channel_spill.h"
#include "base/clock.h"

#define GROUP_RANGES 1024
/* How long the log is not told of what has been consumed when nothing is put. */
#define UNLOGGED_US ((gint64) 100 * 1000)
#define CHECKPOINT_US ((gint64) 5 * G_USEC_PER_SEC)
#define SPACE_CHECK_US G_USEC_PER_SEC
/* At the end of a spillable channel in trouble. */
#define LAST_TRIES 3

static const char trouble_disk[] = "the disk fails, so events are refused";
static const char trouble_space[] = "the disk is full or below the reserve, so events are refused";

/* What is written at once. */
typedef struct {
    GQueue puts; /* LogPut * */
    guint64 n_events;
    guint64 n_charged;
    guint64 n_bytes; /* of records */
    SeqSet consumed;
    guint64 low;
    Spill spill; /* puts are made of it, or they are those that wait */
} Group;

static void
group_init(Group *self)
{
    *self = (Group){ 0 };
    seq_set_init(&self->consumed);
    spill_init(&self->spill);
}

static void
group_clear(Group *self)
{
    seq_set_clear(&self->consumed);
    spill_clear(&self->spill);
}

static gboolean
group_is_empty(const Group *self)
{
    return self->puts.head == NULL && seq_set_n_ranges(&self->consumed) == 0;
}

/* ---- with the lock held ---- */

static gint64
writer_next_due_us(const FileChannel *self)
{
    gint64 due_us = CLOCK_NEVER;

    if (self->trouble != NULL)
        return self->retry_us;
    if (self->unlogged_since_us != CLOCK_NEVER)
        due_us = self->unlogged_since_us + UNLOGGED_US;
    if (self->writer.synced < self->writer.offset && self->options.sync == FILE_SYNC_INTERVAL)
        due_us = MIN(due_us, clock_after_us(self->last_sync_us, self->options.sync_interval_us));
    if (self->checkpoint_is_stale)
        due_us = MIN(due_us, self->last_checkpoint_us + CHECKPOINT_US);
    return due_us;
}

static gboolean
writer_has_work(const FileChannel *self)
{
    return self->answered.head != NULL ||
           (self->trouble == NULL && (self->puts.head != NULL || file_channel_should_spill(self)));
}

/* Until there is something to do. FALSE: the channel closes, and nothing is left. */
static gboolean
writer_wait(FileChannel *self)
{
    while (!self->closing && !writer_has_work(self)) {
        gint64 due_us = writer_next_due_us(self);

        if (clock_now_us() >= due_us)
            return TRUE;
        clock_cond_wait_until(&self->work, &self->lock, due_us);
    }
    return writer_has_work(self) || !self->closing;
}

static void
writer_take_puts(FileChannel *self, Group *group)
{
    while (self->puts.head != NULL && group->puts.length < GROUP_PUTS) {
        LogPut *put = self->puts.head->data;
        guint64 size = record_size(put->header.length);

        if (group->puts.head != NULL &&
            (group->n_bytes + size > GROUP_BYTES ||
             !log_writer_has_room(&self->writer, group->n_bytes + size, FALSE)))
            return;
        g_queue_unlink(&self->puts, &put->link);
        g_queue_push_tail_link(&group->puts, &put->link);
        group->n_bytes += size;
        group->n_events += put->header.count;
        group->n_charged += log_run_charge(put->run, 0, put->header.count);
    }
}

static void
writer_take_consumed(FileChannel *self, Group *group)
{
    group->low = self->consumption.low;
    if (self->unlogged_since_us == CLOCK_NEVER)
        return;
    consumption_take_unlogged(&self->consumption, GROUP_RANGES, &group->consumed);
    group->n_bytes += log_writer_consumed_size(seq_set_n_ranges(&group->consumed));
    self->unlogged_since_us = CLOCK_NEVER;
    if (seq_set_n_ranges(&self->consumption.unlogged) > 0)
        self->unlogged_since_us = clock_now_us();
}

static void
writer_publish_run(FileChannel *self, LogRun *run)
{
    self->stock.n_events += run->batch->n_events;
    self->stock.n_bytes += batch_n_bytes(run->batch);
    log_ranges_add(&self->available,
                   (LogRange){ run->seq, log_run_end_seq(run), log_run_position(run, 0) });
    run_cache_add(&self->cache, run);
}

static void
writer_publish(FileChannel *self, const Group *group)
{
    if (group->spill.end > 0)
        file_channel_end_spill(self, &group->spill, &group->puts);
    else
        for (const GList *link = group->puts.head; link != NULL; link = link->next)
            writer_publish_run(self, ((const LogPut *) link->data)->run);
    file_channel_measure(self);
    self->reserved_events -= group->n_events;
    self->reserved_bytes -= group->n_charged;
    self->stored_events += group->n_events;
    metric_add(self->base.base.part_metrics, FILE_CHANNEL_WRITTEN, group->n_events);
    self->stored_bytes += group->n_charged;
    file_channel_show(self);
}

/* Nothing of the group counts. */
static void
writer_take_back(FileChannel *self, const Group *group)
{
    self->reserved_events -= group->n_events;
    self->reserved_bytes -= group->n_charged;
    consumption_return_unlogged(&self->consumption, &group->consumed);
    if (seq_set_n_ranges(&group->consumed) > 0)
        self->unlogged_since_us = clock_now_us();
    file_channel_admit_pending(self);
    file_channel_show(self);
}

/* ---- with no lock held ---- */

/* Answers, in order. */
static void
writer_complete(FileChannel *self, Group *group, const GError *error)
{
    GList *link;

    while ((link = g_queue_pop_head_link(&group->puts)) != NULL) {
        g_autoptr(LogPut) put = link->data;
        GError *why = NULL;

        if (put->owner == NULL) /* it was in memory, and still is if this is a failure */
            continue;
        if (error != NULL) {
            why = g_error_new(CHANNEL_ERROR, CHANNEL_ERROR_IO, "channel '%s': %s",
                              self->base.base.name, error->message);
            metric_add(self->base.base.part_metrics, FILE_CHANNEL_REFUSED, put->header.count);
        }
        channel_complete_put(&self->base, put->owner, why);
    }
}

/* A new segment with room for group_size, if that leaves the reserve. */
static gboolean
writer_roll(FileChannel *self, guint64 group_size, guint64 low, GError **error)
{
    return file_channel_check_space(self, self->options.segment_size, error) &&
           file_channel_roll(self, self->options.segment_size, group_size, low, error);
}

/* A segment with room for the group. */
static gboolean
writer_make_room(FileChannel *self, const Group *group, GError **error)
{
    gboolean has_puts = group->puts.head != NULL;

    if (log_writer_has_room(&self->writer, group->n_bytes, !has_puts))
        return !has_puts || clock_now_us() < self->space_checked_us + SPACE_CHECK_US ||
               file_channel_check_space(self, 0, error);
    return writer_roll(self, group->n_bytes, group->low, error);
}

static gboolean
writer_write(FileChannel *self, const Group *group, GError **error)
{
    if (!writer_make_room(self, group, error) ||
        !log_writer_append(&self->writer, group->puts.head, &group->consumed, group->low, error))
        return FALSE;
    if (seq_set_n_ranges(&group->consumed) > 0)
        self->written_low = group->low;
    if (self->options.sync == FILE_SYNC_ALWAYS && !file_channel_sync(self, error))
        return FALSE;
    if (self->options.sync == FILE_SYNC_NEVER)
        self->durable_low = self->written_low;
    log_writer_accept(&self->writer);
    self->checkpoint_is_stale = TRUE;
    return TRUE;
}

/* ---- trouble ---- */

static void
writer_end_trouble(FileChannel *self)
{
    g_mutex_lock(&self->lock);
    self->trouble = NULL;
    metric_set(self->base.base.part_metrics, FILE_CHANNEL_UNHEALTHY, 0);
    g_clear_pointer(&self->trouble_detail, g_free);
    file_channel_admit_pending(self);
    file_channel_show(self);
    g_mutex_unlock(&self->lock);
    backoff_reset(&self->retry);
    component_report(&self->base.base, REPORT_RECOVERED, NULL, "the disk takes events again");
}

/* From now on puts are refused. Those that have come meanwhile fail with the same error. */
static void
writer_begin_trouble(FileChannel *self, Group *group, const GError *error)
{
    gboolean is_full = g_error_matches(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_NO_SPACE);
    GList *link;

    g_mutex_lock(&self->lock);
    self->trouble = is_full ? trouble_space : trouble_disk;
    metric_set(self->base.base.part_metrics, FILE_CHANNEL_UNHEALTHY, 1);
    g_free(self->trouble_detail);
    self->trouble_detail = g_strdup(error->message);
    self->retry_us = clock_now_us() + backoff_next_delay_us(&self->retry);
    while ((link = g_queue_pop_head_link(&self->puts)) != NULL) {
        const LogPut *put = link->data;

        self->reserved_events -= put->header.count;
        self->reserved_bytes -= log_run_charge(put->run, 0, put->header.count);
        g_queue_push_tail_link(&group->puts, link);
    }
    file_channel_show(self);
    g_mutex_unlock(&self->lock);
}

/* A write, a sync or the making of a segment has failed. */
static void
writer_fail(FileChannel *self, Group *group, const GError *error)
{
    g_autoptr(GError) second = NULL;
    const GError *why = error;

    metric_add(self->base.base.part_metrics, FILE_CHANNEL_FAILURES, 1);
    component_report(&self->base.base, REPORT_DISK, NULL, error->message);
    self->wanted_bytes = group->n_bytes;
    self->written_low = self->durable_low;
    g_mutex_lock(&self->lock);
    writer_take_back(self, group);
    g_mutex_unlock(&self->lock);
    if (self->writer.fd < 0) /* the segment is closed for ever */
        why = writer_roll(self, group->n_bytes, group->low, &second) ? NULL : second;
    /* Nobody sends again what memory holds: the writer does, and not without a pause. */
    if (why == NULL && group->spill.end > 0)
        why = error;
    if (why != NULL)
        writer_begin_trouble(self, group, why);
    writer_complete(self, group, error);
}

/* With no lock held. */
static void
writer_keep_house(FileChannel *self)
{
    gint64 now_us = clock_now_us();
    Group nothing;
    g_autoptr(GError) error = NULL;

    if (self->options.sync == FILE_SYNC_INTERVAL &&
        now_us >= clock_after_us(self->last_sync_us, self->options.sync_interval_us) &&
        !file_channel_sync(self, &error)) {
        group_init(&nothing);
        writer_fail(self, &nothing, error);
        group_clear(&nothing);
        return;
    }
    if (self->checkpoint_is_stale && now_us >= self->last_checkpoint_us + CHECKPOINT_US)
        file_channel_save_checkpoint(self);
    file_channel_purge(self, self->durable_low);
}

/* ---- turns: called and left with the lock held ---- */

static void
writer_turn(FileChannel *self)
{
    g_autoptr(GError) error = NULL;
    gboolean written;
    Group group;

    group_init(&group);
    if (file_channel_should_spill(self) && seq_set_n_ranges(&self->consumption.unlogged) > 0)
        self->unlogged_since_us = clock_now_us();
    writer_take_consumed(self, &group);
    if (file_channel_should_spill(self))
        group.n_bytes += file_channel_begin_spill(self, group.n_bytes, &group.spill);
    else
        writer_take_puts(self, &group);
    g_mutex_unlock(&self->lock);
    spill_prepare(&group.spill, self->options.compression, &group.puts);
    written = group_is_empty(&group) || writer_write(self, &group, &error);
    if (written) {
        g_mutex_lock(&self->lock);
        writer_publish(self, &group);
        g_mutex_unlock(&self->lock);
        writer_complete(self, &group, NULL);
        writer_keep_house(self);
    } else {
        writer_fail(self, &group, error);
    }
    group_clear(&group);
    g_mutex_lock(&self->lock);
}

/* Whether what has been consumed can be made known on a disk that has no room for a segment of the
 * usual size, so that segments can go. */
static void
writer_make_space(FileChannel *self, guint64 low)
{
    SegmentInfo first;

    if (!segment_list_first(&self->segments, &first) || first.end_seq > low ||
        low <= self->durable_low)
        return;
    /* Not even a small one: then a crash may tell of losses that are none, but space that is never
     * given back would be worse. */
    if (!file_channel_roll(self, SEGMENT_MIN_SIZE, 0, low, NULL))
        self->durable_low = low;
    file_channel_purge(self, self->durable_low);
}

/* Puts that memory took after they had waited. */
static void
writer_answer(FileChannel *self)
{
    GQueue answered = self->answered;
    GList *link;

    g_queue_init(&self->answered);
    g_mutex_unlock(&self->lock);
    while ((link = g_queue_pop_head_link(&answered)) != NULL)
        channel_complete_put(&self->base, link->data, NULL);
    g_mutex_lock(&self->lock);
}

/* The disk has failed; perhaps it works now. */
static void
writer_retry(FileChannel *self)
{
    guint64 low = self->consumption.low;
    g_autoptr(GError) error = NULL;
    gboolean works;

    g_mutex_unlock(&self->lock);
    if (self->trouble == trouble_space)
        writer_make_space(self, low);
    if (log_writer_has_room(&self->writer, self->wanted_bytes, FALSE))
        works = file_channel_check_space(self, 0, &error);
    else
        works = writer_roll(self, self->wanted_bytes, low, &error);
    if (works)
        writer_end_trouble(self);
    g_mutex_lock(&self->lock);
    if (works)
        return;
    g_free(self->trouble_detail);
    self->trouble_detail = g_strdup(error->message);
    self->retry_us = clock_now_us() + backoff_next_delay_us(&self->retry);
}

/* Everything that can be known is made known. */
static void
writer_finish(FileChannel *self)
{
    g_autoptr(GError) error = NULL;

    if (self->options.sync != FILE_SYNC_NEVER && !file_channel_sync(self, &error))
        component_report(&self->base.base, REPORT_DISK, NULL, error->message);
    file_channel_report_unwritten(self);
    file_channel_report_gone(self);
    file_channel_save_checkpoint(self);
    file_channel_purge(self, self->durable_low);
}

static void
writer_work(FileChannel *self)
{
    while (writer_wait(self)) {
        if (self->answered.head != NULL)
            writer_answer(self);
        else if (self->trouble != NULL)
            writer_retry(self);
        else
            writer_turn(self);
    }
}

gpointer
file_channel_write(gpointer data)
{
    FileChannel *self = data;

    file_channel_save_checkpoint(self);
    file_channel_purge(self, self->durable_low);
    g_mutex_lock(&self->lock);
    writer_work(self);
    /* A disk that failed once may take what is in memory now. */
    for (guint i = 0; i < LAST_TRIES && self->trouble != NULL && self->memory.n_events > 0; i++) {
        writer_retry(self);
        writer_work(self);
    }
    if (self->trouble == NULL && self->unlogged_since_us != CLOCK_NEVER)
        writer_turn(self);
    g_mutex_unlock(&self->lock);
    writer_finish(self);
    return NULL;
}
