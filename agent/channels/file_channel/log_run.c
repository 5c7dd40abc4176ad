/* log_run.c - events that stand one behind the other in the log, as a batch in memory. */
#include "agent/channels/file_channel/log_run.h"

LogRun *
log_run_new(Batch *batch, guint n_records)
{
    LogRun *self = g_malloc0(sizeof(LogRun) + (n_records + 1) * sizeof(LogSpot));

    g_atomic_ref_count_init(&self->refs);
    self->batch = batch_ref(batch);
    self->n_records = n_records;
    self->spots[n_records].first = batch->n_events;
    return self;
}

LogRun *
log_run_ref(LogRun *self)
{
    g_atomic_ref_count_inc(&self->refs);
    return self;
}

void
log_run_unref(LogRun *self)
{
    if (!g_atomic_ref_count_dec(&self->refs))
        return;
    batch_unref(self->batch);
    g_free(self);
}

/* How many records begin at or before event index. */
static guint
n_begun(const LogRun *self, guint index)
{
    guint low = 0;
    guint high = self->n_records + 1;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (self->spots[middle].first <= index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

LogPosition
log_run_position(const LogRun *self, guint index)
{
    return (LogPosition){ self->segment, self->spots[n_begun(self, index) - 1].offset };
}

guint64
log_run_charge(const LogRun *self, guint first, guint count)
{
    guint n_ends = n_begun(self, first + count) - n_begun(self, first);

    return batch_span(self->batch, first, count).length + (guint64) n_ends * RECORD_HEADER_SIZE;
}
