/* recovery_heads.h - the heads of all segments of a channel, read at the start. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/segment_dir.h"

typedef struct {
    GArray *entries;     /* of segments that are to be read, rising */
    guint64 channel;     /* id in most of them */
    guint64 last_number; /* that any file has */
} HeadList;

/* Empty files are removed, those that have no head or are of another channel set aside; notes say
 * so. FALSE if a version is not ours: then nothing was changed. */
gboolean head_list_read(HeadList *self, const SegmentDir *dir, GPtrArray *notes, GError **error);
void head_list_clear(HeadList *self);

guint head_list_length(const HeadList *self);
const SegmentHead *head_list_at(const HeadList *self, guint index);
guint64 head_list_size(const HeadList *self, guint index); /* of the file */
guint64 head_list_channel(const HeadList *self);
/* Where the segment ends for good as the next one says; 0 if nobody does. */
guint64 head_list_end(const HeadList *self, guint index);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HeadList, head_list_clear)
