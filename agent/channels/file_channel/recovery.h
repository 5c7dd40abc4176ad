/* recovery.h - what the files of a channel say: which segments, which events, which are consumed.
 *
 * Reads the checkpoint and what came after it, or everything when there is no good one. What is
 * torn at the end is cut, what is damaged in the middle gets a second name that stays, and its
 * events are counted. Memory does not depend on how much there is. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/consumption.h"
#include "agent/channels/file_channel/log_ranges.h"
#include "agent/channels/file_channel/segment_dir.h"
#include "agent/channels/file_channel/segment_list.h"

typedef struct {
    guint64 channel;  /* id, new if there is nothing */
    guint64 next_seq; /* of the next event that is put */
    guint64 last_number;
    Consumption consumption; /* lost events are in it, for the log to be told */
    LogRanges available;     /* events that are not consumed */
    guint64 n_bytes;         /* they are charged */

    guint64 n_lost; /* events that were acknowledged and are not there */
    guint64 n_damages;
    guint64 n_scanned; /* bytes */
    gboolean used_checkpoint;
    GPtrArray *notes; /* char *: what was found and done, for the log */
} RecoveredLog;

/* Mends the directory, as said above. Segments are added to the list, which is empty. On FALSE
 * there is nothing to clear. */
gboolean recovery_run(const SegmentDir *dir, SegmentList *segments, RecoveredLog *ret_log,
                      GError **error);
void recovered_log_clear(RecoveredLog *self);

guint64 recovered_log_n_events(const RecoveredLog *self);
