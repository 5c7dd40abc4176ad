/* file_time.h - the time that a path speaks of: whose, in which zone, one escape at a time. */
#pragma once

#include <glib.h>

#include "base/event_bytes.h"

/* What may stand behind a '%': the letters of Flume's path escapes but those that give a '/'. */
#define FILE_TIME_ESCAPES "%Y %y %m %n %d %e %j %H %k %I %p %M %S %a %A %b %B %s %t %z"
gboolean file_time_is_escape(char letter);

typedef struct FileTime FileTime;

/* zone: "local", "utc" or a name of the IANA database; NULL if there is no such zone. from_header:
 * an event's time is its header `timestamp`, in milliseconds since 1970, where it has a good one.
 */
FileTime *file_time_new(const char *zone, gboolean from_header);
void file_time_free(FileTime *self);

/* The time of this event; clock_us, wall time, if it has none of its own. */
void file_time_choose(FileTime *self, const EventView *event, gint64 clock_us);
void file_time_append(const FileTime *self, char letter, GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileTime, file_time_free)
