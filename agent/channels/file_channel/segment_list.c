/* segment_list.c - what is known of each segment on disk, in order; thread-safe. */
#include "agent/channels/file_channel/segment_list.h"

void
segment_list_init(SegmentList *self)
{
    g_mutex_init(&self->lock);
    self->infos = g_array_new(FALSE, FALSE, sizeof(SegmentInfo));
    self->n_bytes = 0;
}

void
segment_list_clear(SegmentList *self)
{
    g_clear_pointer(&self->infos, g_array_unref);
    g_mutex_clear(&self->lock);
}

static SegmentInfo *
info_at(const SegmentList *self, guint index)
{
    return &g_array_index(self->infos, SegmentInfo, index);
}

guint
segment_list_length(SegmentList *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->infos->len;
}

guint64
segment_list_bytes(SegmentList *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->n_bytes;
}

void
segment_list_add(SegmentList *self, const SegmentInfo *info)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    g_array_append_val(self->infos, *info);
    self->n_bytes += info->end;
}

void
segment_list_grow(SegmentList *self, guint64 end, guint64 end_seq)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    SegmentInfo *last = info_at(self, self->infos->len - 1);

    self->n_bytes += end - last->end;
    last->end = end;
    last->end_seq = end_seq;
}

gboolean
segment_list_mark_damaged(SegmentList *self, guint64 number)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    for (guint i = 0; i < self->infos->len; i++)
        if (info_at(self, i)->number == number && !info_at(self, i)->damaged) {
            info_at(self, i)->damaged = TRUE;
            return TRUE;
        }
    return FALSE;
}

static gboolean
give(const SegmentList *self, guint index, SegmentInfo *ret_info)
{
    if (index >= self->infos->len)
        return FALSE;
    *ret_info = *info_at(self, index);
    return TRUE;
}

gboolean
segment_list_first(SegmentList *self, SegmentInfo *ret_info)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return give(self, 0, ret_info);
}

gboolean
segment_list_last(SegmentList *self, SegmentInfo *ret_info)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->infos->len > 0 && give(self, self->infos->len - 1, ret_info);
}

void
segment_list_remove_first(SegmentList *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->n_bytes -= info_at(self, 0)->end;
    g_array_remove_index(self->infos, 0);
}

gboolean
segment_list_find_seq(SegmentList *self, guint64 seq, SegmentInfo *ret_info)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    guint low = 0;
    guint high = self->infos->len;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (info_at(self, middle)->end_seq > seq)
            high = middle;
        else
            low = middle + 1;
    }
    return give(self, low, ret_info);
}
