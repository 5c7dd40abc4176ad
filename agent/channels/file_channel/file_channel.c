/* file_channel.c - events in files: what was acknowledged is there whatever happens. */
#include "agent/channels/file_channel/file_channel.h"

#include "agent/channels/file_channel/compression.h"
#include "agent/channels/file_channel/file_channel_rows.h"
#include "agent/channels/file_channel/recovery.h"
#include "base/clock.h"

#define RETRY_FIRST_US ((gint64) 100 * 1000)
#define RETRY_MAX_US ((gint64) 5 * G_USEC_PER_SEC)

const char *const file_channel_sync_names[] = { "always", "interval", "never", NULL };

static const OptionSpec file_channel_options[] = { FILE_CHANNEL_ROWS("/var/lib/leat/events"),
                                                   { 0 } };

const MetricSpec file_channel_metrics[N_FILE_CHANNEL_METRICS + 1] = {
    [FILE_CHANNEL_SYNCS] = { .name = "leat_file_channel_syncs_total",
                             .help = "Times that the disk was asked to make events safe." },
    [FILE_CHANNEL_WRITTEN] = { .name = "leat_file_channel_written_events_total",
                               .help = "Events written; by the number of syncs, events per "
                                       "sync." },
    [FILE_CHANNEL_SYNC_TIME] = { .name = "leat_file_channel_sync_seconds",
                                 .kind = METRIC_HISTOGRAM,
                                 .help = "How long a sync took." },
    [FILE_CHANNEL_SEGMENTS] = { .name = "leat_file_channel_segments",
                                .kind = METRIC_GAUGE,
                                .help = "Segment files." },
    [FILE_CHANNEL_DISK_BYTES] = { .name = "leat_file_channel_disk_bytes",
                                  .kind = METRIC_GAUGE,
                                  .help = "Bytes in segment files, delivered events included." },
    [FILE_CHANNEL_LOST] = { .name = "leat_file_channel_damaged_events_total",
                            .help = "Events that were acknowledged and are damaged or missing.",
                            .flume = "EventTakeErrorCount" },
    [FILE_CHANNEL_REFUSED] = { .name = "leat_file_channel_refused_events_total",
                               .help = "Events refused because the disk failed or was full.",
                               .flume = "EventPutErrorCount" },
    [FILE_CHANNEL_FAILURES] = { .name = "leat_file_channel_disk_failures_total",
                                .help = "Writes, syncs and new segments that failed." },
    [FILE_CHANNEL_DISK_READS] = { .name = "leat_file_channel_disk_reads_total",
                                  .help = "Times that a sink had to wait for the disk." },
    [FILE_CHANNEL_UNHEALTHY] = { .name = "leat_file_channel_unhealthy",
                                 .kind = METRIC_GAUGE,
                                 .help = "1 while events are refused because the disk fails or is "
                                         "full.",
                                 .flume = "Unhealthy" },
    [FILE_CHANNEL_CHECKPOINT_FAILURES] = { .name = "leat_file_channel_checkpoint_failures_total",
                                           .help = "Checkpoints that could not be written; the "
                                                   "next start takes longer.",
                                           .flume = "CheckpointWriteErrorCount" },
    [FILE_CHANNEL_MEMORY] = { .name = "leat_file_channel_memory_events",
                              .kind = METRIC_GAUGE,
                              .help =
                                  "Events that are in memory only, which a crash would lose; of "
                                  "the spillable type." },
};

/* ---- what puts, takes and the writer share; with the lock held ---- */

void
file_channel_consume(FileChannel *self, guint64 first, guint64 end, guint64 bytes)
{
    gboolean is_in_log = self->consumption.low < self->log_end_seq;

    /* The log is not told of bytes that it never had. */
    consumption_commit(&self->consumption,
                       (SeqRange){ first, end, first < self->log_end_seq ? bytes : 0 });
    self->stored_events -= end - first;
    self->stored_bytes -= MIN(bytes, self->stored_bytes);
    if (self->stored_events == 0)
        self->stored_bytes = 0; /* what is lost was charged, and nobody knows how much */
    /* An empty log need not hear of events that it never had, before it gets later ones. */
    if (self->unlogged_since_us == CLOCK_NEVER && is_in_log) {
        self->unlogged_since_us = clock_now_us();
        g_cond_signal(&self->work);
    }
}

void
file_channel_wake(Channel *channel)
{
    FileChannel *self = file_channel_of(channel);

    g_mutex_lock(&self->lock);
    take_waiters_wake_all(&self->waiters);
    g_cond_broadcast(&self->read_done);
    g_mutex_unlock(&self->lock);
}

guint64
file_channel_n_events(Channel *channel)
{
    FileChannel *self = file_channel_of(channel);
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->stored_events + self->reserved_events;
}

const char *
file_channel_trouble(Channel *channel)
{
    FileChannel *self = file_channel_of(channel);
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->trouble;
}

const char *
file_channel_keeps_in(const Channel *channel)
{
    return ((const FileChannel *) channel)->options.directory;
}

/* ---- open ---- */

static void
file_channel_report_recovery(FileChannel *self, const RecoveredLog *log, gint64 took_us)
{
    Component *component = &self->base.base;
    g_autofree char *summary =
        g_strdup_printf("%" G_GUINT64_FORMAT " events in %u segments, %" G_GUINT64_FORMAT
                        " bytes of them read %s a checkpoint, in %" G_GINT64_FORMAT " ms",
                        recovered_log_n_events(log), segment_list_length(&self->segments),
                        log->n_scanned, log->used_checkpoint ? "after" : "without", took_us / 1000);

    for (guint i = 0; i < log->notes->len; i++)
        component_report_topic(component, REPORT_DAMAGED, g_ptr_array_index(log->notes, i), NULL,
                               g_ptr_array_index(log->notes, i));
    metric_add(component->part_metrics, FILE_CHANNEL_LOST, log->n_lost);
    if (recovered_log_n_events(log) > 0 || log->notes->len > 0)
        component_report(component, REPORT_RECOVERED, NULL, summary);
}

static void
file_channel_adopt(FileChannel *self, RecoveredLog *log)
{
    self->stored_events = recovered_log_n_events(log);
    self->stored_bytes = log->n_bytes;
    self->stock = (TakeStock){ .n_events = self->stored_events, .n_bytes = log->n_bytes };
    self->available = log->available;
    self->consumption = log->consumption;
    self->unlogged_since_us =
        seq_set_n_ranges(&log->consumption.unlogged) > 0 ? clock_now_us() : CLOCK_NEVER;
    self->writer.channel = log->channel;
    self->writer.next_seq = self->next_seq = log->next_seq;
    self->log_end_seq = file_channel_is_spillable(self) ? log->next_seq : G_MAXUINT64;
    self->writer.last_number = log->last_number;
    log_ranges_init(&log->available);
    consumption_init(&log->consumption);
    recovered_log_clear(log);
}

static gboolean
file_channel_recover(FileChannel *self, GError **error)
{
    gint64 begin_us = clock_now_us();
    RecoveredLog log;

    if (!recovery_run(&self->dir, &self->segments, &log, error)) {
        g_prefix_error(error, "directory '%s': ", self->options.directory);
        return FALSE;
    }
    file_channel_report_recovery(self, &log, clock_now_us() - begin_us);
    file_channel_adopt(self, &log);
    return TRUE;
}

static void
file_channel_init(FileChannel *self)
{
    if (self->ops == NULL)
        self->ops = &file_ops_system;
    g_mutex_init(&self->lock);
    g_cond_init(&self->work);
    g_cond_init(&self->read_done);
    take_waiters_init(&self->waiters);
    segment_list_init(&self->segments);
    run_cache_init(&self->cache, self->options.cache_bytes);
    run_cache_init(&self->memory, G_MAXUINT64);
    log_reader_init(&self->reader, &self->dir, &self->segments);
    log_writer_init(&self->writer, &self->dir, &self->segments);
    backoff_init(&self->retry, RETRY_FIRST_US, RETRY_MAX_US);
    self->was_opened = TRUE;
}

static void
file_channel_clear(FileChannel *self)
{
    log_writer_clear(&self->writer);
    log_reader_clear(&self->reader);
    segment_dir_close(&self->dir);
}

void
file_channel_configure(Component *component, Problems *problems)
{
    const FileChannel *self = (const FileChannel *) component;
    const char *missing = record_compression_missing(self->options.compression);

    if (missing != NULL)
        component_problem(
            component, problems, "compression",
            "this leat was built without %s; write none, or install it and build anew", missing);
}

gboolean
file_channel_open(Component *component, GError **error)
{
    FileChannel *self = (FileChannel *) component;

    file_channel_init(self);
    if (!segment_dir_open(&self->dir, self->ops, self->options.directory, TRUE, error) ||
        !file_channel_recover(self, error)) {
        file_channel_clear(self);
        return FALSE;
    }
    self->is_open = TRUE;
    self->last_sync_us = clock_now_us();
    channel_show_capacity(&self->base);
    file_channel_measure(self);
    file_channel_show(self);
    self->thread = g_thread_new(component->name, file_channel_write, self);
    return TRUE;
}

/* ---- close ---- */

static void
file_channel_fail_pending(FileChannel *self)
{
    GQueue waiting = G_QUEUE_INIT;
    GList *link;

    g_mutex_lock(&self->lock);
    while ((link = g_queue_pop_head_link(&self->pending)) != NULL) {
        ((Ticket *) link->data)->channel = NULL;
        g_queue_push_tail_link(&waiting, link);
    }
    g_mutex_unlock(&self->lock);
    while ((link = g_queue_pop_head_link(&waiting)) != NULL) {
        Ticket *ticket = link->data;

        log_put_free(g_steal_pointer(&ticket->data));
        channel_complete_put(&self->base, ticket,
                             g_error_new(CHANNEL_ERROR, CHANNEL_ERROR_CLOSED,
                                         "channel '%s' is closed", self->base.base.name));
    }
}

void
file_channel_close(Component *component)
{
    FileChannel *self = (FileChannel *) component;

    if (self->thread == NULL)
        return;
    g_mutex_lock(&self->lock);
    self->is_open = FALSE;
    g_mutex_unlock(&self->lock);
    file_channel_fail_pending(self);
    g_mutex_lock(&self->lock);
    self->closing = TRUE;
    g_cond_signal(&self->work);
    g_mutex_unlock(&self->lock);
    g_thread_join(g_steal_pointer(&self->thread));
    file_channel_clear(self);
}

void
file_channel_finalize(Component *component)
{
    FileChannel *self = (FileChannel *) component;

    if (!self->was_opened)
        return;
    log_ranges_clear(&self->available);
    consumption_clear(&self->consumption);
    run_cache_clear(&self->cache);
    run_cache_clear(&self->memory);
    segment_list_clear(&self->segments);
    g_free(self->trouble_detail);
    g_cond_clear(&self->work);
    g_cond_clear(&self->read_done);
    g_mutex_clear(&self->lock);
}

const ChannelType file_channel = {
    FILE_CHANNEL_OPERATIONS,
    .base.name = "file",
    .base.summary = "Holds events in files: what was acknowledged survives crashes and power cuts.",
    .base.options = file_channel_options,
};
