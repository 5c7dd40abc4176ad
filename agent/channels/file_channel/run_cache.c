/* run_cache.c - the latest puts, and what was read last, kept in memory up to a limit; no lock. */
#include "agent/channels/file_channel/run_cache.h"

void
run_cache_init(RunCache *self, guint64 max_bytes)
{
    *self = (RunCache){ .max_bytes = max_bytes, .runs = g_ptr_array_new() };
}

static gsize
run_size(const LogRun *run)
{
    return sizeof(LogRun) + (run->n_records + 1) * sizeof(LogSpot) + run->batch->allocated;
}

static LogRun *
run_at(const RunCache *self, guint index)
{
    return g_ptr_array_index(self->runs, index);
}

static void
run_cache_drop_first(RunCache *self)
{
    LogRun *run = run_at(self, self->head++);

    self->n_bytes -= run_size(run);
    self->n_events -= run->batch->n_events;
    log_run_unref(run);
    /* Moved only when half of the array is empty, so that a run costs the same however many. */
    if (self->head > 64 && self->head * 2 > self->runs->len) {
        g_ptr_array_remove_range(self->runs, 0, self->head);
        self->head = 0;
    }
}

void
run_cache_clear(RunCache *self)
{
    while (self->head < self->runs->len)
        run_cache_drop_first(self);
    g_clear_pointer(&self->runs, g_ptr_array_unref);
    for (guint i = 0; i < RUN_CACHE_READ_SLOTS; i++)
        g_clear_pointer(&self->read[i], log_run_unref);
}

void
run_cache_add(RunCache *self, LogRun *run)
{
    gsize size = run_size(run);

    while (self->head < self->runs->len && self->n_bytes + size > self->max_bytes)
        run_cache_drop_first(self);
    if (size > self->max_bytes)
        return;
    g_ptr_array_add(self->runs, log_run_ref(run));
    self->n_bytes += size;
    self->n_events += run->batch->n_events;
}

guint
run_cache_length(const RunCache *self)
{
    return self->runs->len - self->head;
}

LogRun *
run_cache_at(const RunCache *self, guint index)
{
    return run_at(self, self->head + index);
}

static gsize
read_size(const RunCache *self)
{
    gsize size = 0;

    for (guint i = 0; i < RUN_CACHE_READ_SLOTS; i++)
        size += self->read[i] != NULL ? run_size(self->read[i]) : 0;
    return size;
}

void
run_cache_add_read(RunCache *self, LogRun *run)
{
    g_clear_pointer(&self->read[self->next_slot], log_run_unref);
    if (read_size(self) + run_size(run) > RUN_CACHE_READ_BYTES)
        for (guint i = 0; i < RUN_CACHE_READ_SLOTS; i++)
            g_clear_pointer(&self->read[i], log_run_unref);
    self->read[self->next_slot] = log_run_ref(run);
    self->next_slot = (self->next_slot + 1) % RUN_CACHE_READ_SLOTS;
}

static gboolean
run_has(const LogRun *run, guint64 seq)
{
    return run->seq <= seq && seq < log_run_end_seq(run);
}

LogRun *
run_cache_find(const RunCache *self, guint64 seq)
{
    guint low = self->head;
    guint high = self->runs->len;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (log_run_end_seq(run_at(self, middle)) > seq)
            high = middle;
        else
            low = middle + 1;
    }
    if (low < self->runs->len && run_has(run_at(self, low), seq))
        return run_at(self, low);
    for (guint i = 0; i < RUN_CACHE_READ_SLOTS; i++)
        if (self->read[i] != NULL && run_has(self->read[i], seq))
            return self->read[i];
    return NULL;
}

void
run_cache_forget_below(RunCache *self, guint64 seq)
{
    while (self->head < self->runs->len && log_run_end_seq(run_at(self, self->head)) <= seq)
        run_cache_drop_first(self);
    for (guint i = 0; i < RUN_CACHE_READ_SLOTS; i++)
        if (self->read[i] != NULL && log_run_end_seq(self->read[i]) <= seq)
            g_clear_pointer(&self->read[i], log_run_unref);
}
