/* log_ranges.c - events of the log that may be taken, by sequence number and place; no lock. */
#include "agent/channels/file_channel/log_ranges.h"

void
log_ranges_init(LogRanges *self)
{
    self->ranges = g_array_new(FALSE, FALSE, sizeof(LogRange));
}

void
log_ranges_clear(LogRanges *self)
{
    g_clear_pointer(&self->ranges, g_array_unref);
}

static LogRange *
range_at(const LogRanges *self, guint index)
{
    return &g_array_index(self->ranges, LogRange, index);
}

/* Index of the first range at or behind seq. Looked for from the end: that is where puts go. */
static guint
find(const LogRanges *self, guint64 seq)
{
    guint index = self->ranges->len;

    while (index > 0 && range_at(self, index - 1)->first >= seq)
        index--;
    return index;
}

void
log_ranges_add(LogRanges *self, LogRange range)
{
    guint index = find(self, range.first);
    gboolean joins_left = index > 0 && range_at(self, index - 1)->end == range.first;
    gboolean joins_right = index < self->ranges->len && range_at(self, index)->first == range.end;

    if (range.first == range.end)
        return;
    g_assert(index == 0 || range_at(self, index - 1)->end <= range.first);
    g_assert(index == self->ranges->len || range_at(self, index)->first >= range.end);
    if (joins_left && joins_right) {
        range_at(self, index - 1)->end = range_at(self, index)->end;
        g_array_remove_index(self->ranges, index);
    } else if (joins_left) {
        range_at(self, index - 1)->end = range.end;
    } else if (joins_right) {
        range.end = range_at(self, index)->end;
        *range_at(self, index) = range;
    } else {
        g_array_insert_val(self->ranges, index, range);
    }
}

gboolean
log_ranges_take_first(LogRanges *self, LogRange *ret_range)
{
    if (self->ranges->len == 0)
        return FALSE;
    *ret_range = *range_at(self, 0);
    g_array_remove_index(self->ranges, 0);
    return TRUE;
}

const LogRange *
log_ranges_peek(const LogRanges *self)
{
    return self->ranges->len > 0 ? range_at(self, 0) : NULL;
}
