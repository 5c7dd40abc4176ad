/* channel_folder.h - the directory of a file channel seen from outside: which segments make up its
 * log, where each of them ends, and what is wrong with any of the files.
 *
 * Only reads, and locks nothing: an agent may be running with it, so that the newest segment grows,
 * and others vanish because they are consumed. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/checkpoint.h"
#include "agent/channels/file_channel/segment.h"
#include "agent/channels/file_channel/segment_dir.h"

typedef struct {
    guint64 number;
    guint64 size; /* of the file when it was looked at */
    SegmentHead head;
    guint64 end;  /* where it ends for good; G_MAXUINT64: nothing says so */
    guint64 safe; /* what stands before this was safe on disk */
} ChannelSegment;

typedef struct {
    char *file; /* in the directory */
    guint64 offset;
    char *what;
} ChannelDamage;

typedef struct {
    SegmentDir dir;
    Checkpoint checkpoint;
    gboolean has_checkpoint; /* and it is of this channel */
    guint64 channel;
    GArray *segments;   /* ChannelSegment, rising: the log */
    GPtrArray *aside;   /* char *, names of files that were set aside as damaged */
    GPtrArray *damages; /* ChannelDamage *, the first of them */
    guint64 n_damages;
} ChannelFolder;

/* An error if it cannot be read, or holds nothing of a channel. */
ChannelFolder *channel_folder_open(const char *path, GError **error);
void channel_folder_free(ChannelFolder *self);

guint channel_folder_n_segments(const ChannelFolder *self);
ChannelSegment *channel_folder_segment(const ChannelFolder *self, guint index);
/* Of the segment that holds this position; 0 if it is not there. */
guint channel_folder_find(const ChannelFolder *self, LogPosition position);
/* The same damage twice, from two walks, is one. */
void channel_folder_add_damage(ChannelFolder *self, const char *file, guint64 offset,
                               const char *format, ...) G_GNUC_PRINTF(4, 5);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChannelFolder, channel_folder_free)
