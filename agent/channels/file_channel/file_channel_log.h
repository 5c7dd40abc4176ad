/* file_channel_log.h - what the writer does with its log besides writing: syncs, new segments, the
 * checkpoint, the end of segments. The writer's thread only, with no lock held. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/file_channel.h"

/* What was written is safe. FALSE: the segment is closed. */
gboolean file_channel_sync(FileChannel *self, GError **error);
/* FALSE and an error if the disk has less than the reserve, and room for `more`. */
gboolean file_channel_check_space(FileChannel *self, guint64 more, GError **error);
/* A new segment of this size, or what a group of group_size needs; its head says that everything
 * below low has been consumed. FALSE: the old one is closed if it could not be synced. */
gboolean file_channel_roll(FileChannel *self, guint64 size, guint64 group_size, guint64 low,
                           GError **error);
void file_channel_save_checkpoint(FileChannel *self);
/* At the end: counts and tells events that are lost because the files of their segments vanished
 * since they were written. */
void file_channel_report_gone(FileChannel *self);
/* Removes segments that are done with, as far as low. */
void file_channel_purge(FileChannel *self, guint64 low);
