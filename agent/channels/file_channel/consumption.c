/* consumption.c - which events of the log are consumed, and what of that the log does not say yet.
 */
#include "agent/channels/file_channel/consumption.h"

void
consumption_init(Consumption *self)
{
    self->low = 0;
    seq_set_init(&self->above);
    seq_set_init(&self->unlogged);
}

void
consumption_clear(Consumption *self)
{
    seq_set_clear(&self->above);
    seq_set_clear(&self->unlogged);
}

void
consumption_raise(Consumption *self, guint64 low)
{
    if (low <= self->low)
        return;
    self->low = low;
    seq_set_remove_below(&self->above, low);
    if (seq_set_n_ranges(&self->above) > 0 && seq_set_range(&self->above, 0)->first == low)
        consumption_raise(self, seq_set_range(&self->above, 0)->end);
}

guint64
consumption_add(Consumption *self, SeqRange range)
{
    guint64 before = self->above.n_bytes;
    guint64 added;

    if (range.end <= self->low)
        return 0;
    if (range.first < self->low) {
        range.bytes = (guint64) ((__uint128_t) range.bytes * (range.end - self->low) /
                                 (range.end - range.first));
        range.first = self->low;
    }
    seq_set_add(&self->above, range);
    added = self->above.n_bytes - before;
    if (seq_set_range(&self->above, 0)->first == self->low)
        consumption_raise(self, seq_set_range(&self->above, 0)->end);
    return added;
}

guint64
consumption_add_record(Consumption *self, const RecordHeader *header, ByteSpan payload)
{
    guint64 added = 0;

    for (guint i = 0; i < header->count; i++)
        added += consumption_add(self, record_range_read(payload.data + i * RECORD_RANGE_SIZE));
    consumption_raise(self, header->seq);
    return added;
}

void
consumption_add_checkpoint(Consumption *self, const Checkpoint *checkpoint)
{
    consumption_raise(self, checkpoint->consumed);
    for (guint i = 0; i < seq_set_n_ranges(&checkpoint->above); i++)
        consumption_add(self, *seq_set_range(&checkpoint->above, i));
}

guint64
consumption_commit(Consumption *self, SeqRange range)
{
    seq_set_add(&self->unlogged, range);
    return consumption_add(self, range);
}

void
consumption_take_unlogged(Consumption *self, guint max_ranges, SeqSet *ret_set)
{
    guint n_ranges = MIN(max_ranges, seq_set_n_ranges(&self->unlogged));

    for (guint i = 0; i < n_ranges; i++)
        seq_set_add(ret_set, *seq_set_range(&self->unlogged, i));
    if (n_ranges == seq_set_n_ranges(&self->unlogged))
        seq_set_empty(&self->unlogged);
    else
        seq_set_remove_below(&self->unlogged, seq_set_range(&self->unlogged, n_ranges)->first);
}

void
consumption_return_unlogged(Consumption *self, const SeqSet *set)
{
    seq_set_add_all(&self->unlogged, set);
}

guint64
consumption_count(const Consumption *self, guint64 first, guint64 end)
{
    guint64 count = 0;

    if (first < self->low) {
        count = MIN(self->low, end) - first;
        first = MIN(self->low, end);
    }
    for (guint i = seq_set_find(&self->above, first); i < seq_set_n_ranges(&self->above); i++) {
        const SeqRange *range = seq_set_range(&self->above, i);

        if (range->first >= end)
            break;
        count += MIN(range->end, end) - MAX(range->first, first);
    }
    return count;
}
