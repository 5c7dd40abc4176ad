/* seq_set.c - a set of sequence numbers as merged ranges; no lock. */
#include "agent/channels/file_channel/seq_set.h"

void
seq_set_init(SeqSet *self)
{
    *self = (SeqSet){ .ranges = g_array_new(FALSE, FALSE, sizeof(SeqRange)) };
}

void
seq_set_clear(SeqSet *self)
{
    g_clear_pointer(&self->ranges, g_array_unref);
}

static SeqRange *
range_at(const SeqSet *self, guint index)
{
    return &g_array_index(self->ranges, SeqRange, index);
}

guint
seq_set_n_ranges(const SeqSet *self)
{
    return self->ranges->len;
}

const SeqRange *
seq_set_range(const SeqSet *self, guint index)
{
    return range_at(self, index);
}

guint
seq_set_find(const SeqSet *self, guint64 seq)
{
    guint low = 0;
    guint high = self->ranges->len;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (range_at(self, middle)->end > seq)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* part of a whole of bytes, where only part of the events count. */
static guint64
share(guint64 bytes, guint64 part, guint64 whole)
{
    return (guint64) ((__uint128_t) bytes * part / whole);
}

void
seq_set_add(SeqSet *self, SeqRange range)
{
    /* Those that touch, not only overlap: the first that ends at range.first or behind. */
    guint index = range.first > 0 ? seq_set_find(self, range.first - 1) : 0;
    guint64 n_events = range.end - range.first;
    guint64 added = n_events;
    guint64 old_bytes = 0;
    guint n_merged = 0;

    for (; index + n_merged < self->ranges->len; n_merged++) {
        const SeqRange *other = range_at(self, index + n_merged);
        guint64 overlap_first = MAX(other->first, range.first);
        guint64 overlap_end = MIN(other->end, range.end);

        if (other->first > range.end)
            break;
        added -= overlap_end > overlap_first ? overlap_end - overlap_first : 0;
        old_bytes += other->bytes;
        range.first = MIN(range.first, other->first);
        range.end = MAX(range.end, other->end);
    }
    range.bytes = n_events > 0 ? share(range.bytes, added, n_events) : 0;
    self->n_events += added;
    self->n_bytes += range.bytes;
    range.bytes += old_bytes;
    if (n_merged > 1)
        g_array_remove_range(self->ranges, index, n_merged - 1);
    if (n_merged > 0)
        *range_at(self, index) = range;
    else if (range.end > range.first)
        g_array_insert_val(self->ranges, index, range);
}

void
seq_set_add_all(SeqSet *self, const SeqSet *other)
{
    for (guint i = 0; i < other->ranges->len; i++)
        seq_set_add(self, *range_at(other, i));
}

void
seq_set_remove_below(SeqSet *self, guint64 seq)
{
    guint n_whole = seq_set_find(self, seq);

    for (guint i = 0; i < n_whole; i++) {
        self->n_events -= range_at(self, i)->end - range_at(self, i)->first;
        self->n_bytes -= range_at(self, i)->bytes;
    }
    if (n_whole > 0)
        g_array_remove_range(self->ranges, 0, n_whole);
    if (self->ranges->len > 0 && range_at(self, 0)->first < seq) {
        SeqRange *range = range_at(self, 0);
        guint64 cut = seq - range->first;
        guint64 bytes = share(range->bytes, cut, range->end - range->first);

        range->first = seq;
        range->bytes -= bytes;
        self->n_events -= cut;
        self->n_bytes -= bytes;
    }
}

void
seq_set_empty(SeqSet *self)
{
    g_array_set_size(self->ranges, 0);
    self->n_events = 0;
    self->n_bytes = 0;
}
