/* log_ranges.h - events of the log that may be taken, by sequence number and place; no lock.
 *
 * However long the backlog, it is one range, and one more for each lease that was rolled back. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/segment.h"

typedef struct {
    guint64 first;
    guint64 end;
    LogPosition
        from; /* of the record that has the first, or of one before it; segment 0: unknown */
} LogRange;

typedef struct {
    GArray *ranges; /* LogRange, rising, never touching */
} LogRanges;

void log_ranges_init(LogRanges *self);
void log_ranges_clear(LogRanges *self);

/* It touches none of those that are there but at its ends. An empty one is nothing. */
void log_ranges_add(LogRanges *self, LogRange range);
/* The lowest one goes over to the caller. */
gboolean log_ranges_take_first(LogRanges *self, LogRange *ret_range);
const LogRange *log_ranges_peek(const LogRanges *self); /* NULL if there is none */
