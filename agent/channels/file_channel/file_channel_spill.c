/* file_channel_spill.c - events of a spillable channel: into memory, and from there into the log.
 */
#include "agent/channels/file_channel/file_channel_spill.h"

/* ---- what is written at once ---- */

void
spill_init(Spill *self)
{
    *self = (Spill){ 0 };
    self->runs = g_ptr_array_new_with_free_func((GDestroyNotify) log_run_unref);
}

void
spill_clear(Spill *self)
{
    g_ptr_array_unref(self->runs);
}

void
spill_prepare(const Spill *self, RecordCompression compression, GQueue *puts)
{
    for (guint i = 0; i < self->runs->len; i++) {
        const LogRun *run = g_ptr_array_index(self->runs, i);
        LogPut *put = log_put_new(run->batch); /* consumers have that run; this one gets a place */

        put->run->seq = run->seq;
        put->run->time_us = run->time_us;
        log_put_prepare(put, compression);
        g_queue_push_tail_link(puts, &put->link);
    }
}

/* ---- with the lock held ---- */

gboolean
file_channel_memory_has_room(const FileChannel *self, const Batch *batch)
{
    const RunCache *memory = &self->memory;

    /* What is larger than all of it goes into memory that is empty, and is written at once. */
    return !file_channel_is_spillable(self) || memory->n_events == 0 ||
           (memory->n_events + batch->n_events <= self->options.memory_capacity &&
            memory->n_bytes + batch->allocated <= self->options.memory_bytes);
}

void
file_channel_remember(FileChannel *self, LogRun *run)
{
    guint n_events = run->batch->n_events;

    run->seq = self->next_seq;
    self->next_seq += n_events;
    self->stored_events += n_events;
    self->stored_bytes += log_run_charge(run, 0, n_events);
    self->stock.n_events += n_events;
    self->stock.n_bytes += batch_n_bytes(run->batch);
    log_ranges_add(&self->available, (LogRange){ run->seq, self->next_seq, { 0 } });
    run_cache_add(&self->memory, run);
    if (file_channel_should_spill(self))
        g_cond_signal(&self->work);
}

gboolean
file_channel_should_spill(const FileChannel *self)
{
    const RunCache *memory = &self->memory;
    const Ticket *waiting = self->pending.head != NULL ? self->pending.head->data : NULL;

    return memory->n_events > 0 &&
           (self->closing || memory->n_events > self->options.memory_capacity / 4 * 3 ||
            memory->n_bytes > self->options.memory_bytes / 4 * 3 ||
            (waiting != NULL && !file_channel_memory_has_room(self, waiting->batch)));
}

guint64
file_channel_begin_spill(const FileChannel *self, guint64 group_bytes, Spill *ret_spill)
{
    guint64 most = self->closing ? GROUP_BYTES : MIN(GROUP_BYTES, self->memory.n_bytes / 2);
    guint64 n_bytes = 0;

    for (guint i = 0; i < run_cache_length(&self->memory) && n_bytes <= most; i++) {
        LogRun *run = run_cache_at(&self->memory, i);
        guint n_events = run->batch->n_events;
        guint64 size = record_size((guint32) batch_n_bytes(run->batch));

        if (ret_spill->runs->len > 0 &&
            (ret_spill->runs->len >= GROUP_PUTS || n_bytes + size > GROUP_BYTES ||
             !log_writer_has_room(&self->writer, group_bytes + n_bytes + size, FALSE)))
            break;
        ret_spill->end = log_run_end_seq(run);
        if (consumption_count(&self->consumption, run->seq, ret_spill->end) == n_events)
            continue;
        g_ptr_array_add(ret_spill->runs, log_run_ref(run));
        ret_spill->n_events += n_events;
        n_bytes += size;
    }
    return n_bytes;
}

void
file_channel_end_spill(FileChannel *self, const Spill *spill, const GQueue *puts)
{
    for (const GList *link = puts->head; link != NULL; link = link->next)
        run_cache_add(&self->cache, ((const LogPut *) link->data)->run);
    run_cache_forget_below(&self->memory, spill->end);
    self->log_end_seq = spill->end;
    metric_add(self->base.base.part_metrics, FILE_CHANNEL_WRITTEN, spill->n_events);
    file_channel_admit_pending(self);
}

/* ---- the end ---- */

static guint64
count_unwritten(FileChannel *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    guint64 n_events = 0;

    for (guint i = 0; i < run_cache_length(&self->memory); i++) {
        const LogRun *run = run_cache_at(&self->memory, i);

        n_events += run->batch->n_events -
                    consumption_count(&self->consumption, run->seq, log_run_end_seq(run));
    }
    return n_events;
}

void
file_channel_report_unwritten(FileChannel *self)
{
    guint64 n_lost = count_unwritten(self);
    g_autofree char *detail = NULL;

    if (n_lost == 0)
        return;
    metric_add(self->base.base.metrics, CHANNEL_EVENTS_LOST, n_lost);
    detail = g_strdup_printf("%" G_GUINT64_FORMAT " events were in memory, could not be written, "
                             "and are lost",
                             n_lost);
    component_report(&self->base.base, REPORT_DISK, NULL, detail);
}
