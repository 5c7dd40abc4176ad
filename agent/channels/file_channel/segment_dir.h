/* segment_dir.h - the directory of one channel: its lock, and the files that are made, opened and
 * removed in it. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/file_ops.h"
#include "agent/channels/file_channel/segment.h"

#define LOCK_NAME "lock"

typedef struct {
    const FileOps *ops;
    char *path;
    int fd;
    int lock_fd; /* -1: opened for reading only */
} SegmentDir;

/* Makes the directory if it is not there. With for_writing takes the lock: an error names who has
 * it. */
gboolean segment_dir_open(SegmentDir *self, const FileOps *ops, const char *path,
                          gboolean for_writing, GError **error);
void segment_dir_close(SegmentDir *self);

/* The numbers (guint64) of the files that are called like a segment, rising; GArray, (transfer
 * full). What else is there is left alone. */
GArray *segment_dir_list(const SegmentDir *self, GError **error);

/* Open for reading; -1 and errno. */
int segment_dir_open_segment(const SegmentDir *self, guint64 number);
/* New, with room for head->size bytes where the file system can promise it, its head and its name
 * synced. The descriptor is the caller's; -1 and an error otherwise, and nothing is left. */
int segment_dir_create(const SegmentDir *self, const SegmentHead *head, GError **error);
gboolean segment_dir_delete(const SegmentDir *self, guint64 number);
/* Cuts it to end and gives back what was allocated behind. */
gboolean segment_dir_cut(const SegmentDir *self, guint64 number, guint64 end, GError **error);
/* Damage was found: a second name keeps the file when the log is done with it. */
gboolean segment_dir_keep_damaged(const SegmentDir *self, guint64 number, GError **error);
/* It is no segment of this channel, or has no head: out of the way, under another name. */
gboolean segment_dir_set_aside(const SegmentDir *self, guint64 number, GError **error);
