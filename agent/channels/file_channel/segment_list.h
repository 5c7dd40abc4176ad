/* segment_list.h - what is known of each segment on disk, in order; thread-safe.
 *
 * The writer adds at the end and removes at the beginning, readers look up. 56 bytes a segment are
 * all the memory that a backlog takes. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/segment.h"

typedef struct {
    guint64 number;
    guint64 first_seq; /* of its first event */
    guint64 end_seq;   /* behind its last event */
    guint64 end;       /* offset behind its last record that counts */
    guint32 salt;
    gboolean damaged; /* has a second name that stays */
} SegmentInfo;

typedef struct {
    GMutex lock;
    GArray *infos; /* SegmentInfo, rising */
    guint64 n_bytes;
} SegmentList;

void segment_list_init(SegmentList *self);
void segment_list_clear(SegmentList *self);

guint segment_list_length(SegmentList *self);
guint64 segment_list_bytes(SegmentList *self); /* up to their ends */
void segment_list_add(SegmentList *self, const SegmentInfo *info);
/* The last one has grown. */
void segment_list_grow(SegmentList *self, guint64 end, guint64 end_seq);
/* TRUE if this call changed it. */
gboolean segment_list_mark_damaged(SegmentList *self, guint64 number);
gboolean segment_list_first(SegmentList *self, SegmentInfo *ret_info);
gboolean segment_list_last(SegmentList *self, SegmentInfo *ret_info);
void segment_list_remove_first(SegmentList *self);
/* The one that has this event, or the first that ends behind it. FALSE behind the last. */
gboolean segment_list_find_seq(SegmentList *self, guint64 seq, SegmentInfo *ret_info);
