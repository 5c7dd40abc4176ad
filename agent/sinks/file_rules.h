/* file_rules.h - what the files of one sink have in common; fixed once it is configured. */
#pragma once

#include <glib.h>
#include <sys/types.h>

#include "agent/sinks/file_codec.h"
#include "base/event_format.h"

typedef enum { FILE_SYNC_BATCH, FILE_SYNC_INTERVAL, FILE_SYNC_NEVER } FileSync;

typedef struct {
    const char *base; /* folder; what a key says stands below it */
    char *suffix;
    guint format;               /* EventFormat */
    const FileCodecType *codec; /* NULL: none */
    guint sync;                 /* FileSync */
    gint64 sync_interval_us;
    gint64 roll_interval_us; /* this and what follows: 0 is never */
    guint64 roll_size;
    guint64 roll_count;
    gint64 idle_close_us;
    guint64 max_open_files;
    mode_t mode;
} FileRules;
