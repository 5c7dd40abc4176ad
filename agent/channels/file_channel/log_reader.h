/* log_reader.h - reads events back from the log, from any place on; one thread at a time.
 *
 * Has one segment open and no memory but its buffer. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/log_ranges.h"
#include "agent/channels/file_channel/log_run.h"
#include "agent/channels/file_channel/segment_dir.h"
#include "agent/channels/file_channel/segment_list.h"
#include "agent/channels/file_channel/segment_reader.h"

typedef struct {
    const SegmentDir *dir;
    SegmentList *segments;
    SegmentInfo info; /* of what is open; number 0: nothing */
    int fd;
    SegmentReader *reader;
    guint64 error_seq; /* of the event that could not be read the last time */
    guint n_errors;    /* in a row */
} LogReader;

typedef enum {
    LOG_READ_RUN,
    LOG_READ_LOST,  /* events that should be there are not */
    LOG_READ_ERROR, /* for now, or for ever; error is set */
} LogReadResult;

void log_reader_init(LogReader *self, const SegmentDir *dir, SegmentList *segments);
void log_reader_clear(LogReader *self);

/* The event range->first and, from one large or several small records, some that follow.
 * ret_run may begin before it and end behind range->end. LOG_READ_LOST: range->first up to ret_lost
 * (at the most range->end) are gone; *ret_damaged is the segment where they should be, 0 if none
 * should have them. A segment whose file has vanished is damage; what else hinders opening it may
 * pass. */
LogReadResult log_reader_read(LogReader *self, const LogRange *range, LogRun **ret_run,
                              guint64 *ret_lost, guint64 *ret_damaged, GError **error);
