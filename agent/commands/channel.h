/* channel.h - what the commands about the directory of a file channel share. */
#pragma once

#include <stdio.h>

#include "agent/commands/channel_walk.h"
#include "agent/commands/command.h"
#include "agent/commands/progress.h"
#include "base/event_format.h"

extern const Command channel_inspect_command, channel_verify_command, channel_cat_command;

/* Parses options into entries, NULL if there are none, and opens the folder that is the only
 * argument left. NULL when the command is to end with *ret_status; the user is told why. */
ChannelFolder *channel_folder_of_arguments(const Command *self, const GOptionEntry *entries,
                                           int argc, char **argv, int *ret_status);

typedef struct {
    Progress progress;
    ProgressCount count;
    gint64 start_us;
} ChannelProgress;

/* Draws only if stderr is a terminal. */
void channel_progress_init(ChannelProgress *self, gboolean is_on);
/* Begins anew, with this walk; draws while it looks for a record, too. It must end before self. */
void channel_progress_watch(ChannelProgress *self, ChannelWalk *walk);
void channel_progress_show(ChannelProgress *self, const ChannelWalk *walk, guint64 n_events);
void channel_progress_clear(ChannelProgress *self);

/* Walks to the end, for what is consumed: from the checkpoint on if there is one. */
ChannelWalk *channel_walk_consumed(ChannelFolder *folder, ChannelProgress *progress);
/* Where the first event that is not consumed stands, or a place before. */
LogPosition channel_folder_first(const ChannelFolder *folder);

typedef struct {
    guint64 n_events;
    guint64 n_queued; /* of them */
    guint64 n_bytes;  /* read */
    guint64 n_lost;   /* acknowledged, not consumed, and not there */
} ChannelTotals;

/* Reads everything. */
ChannelTotals channel_folder_verify(ChannelFolder *self, ChannelProgress *progress);
/* Writes the events that are queued; stops when out takes no more. */
void channel_folder_cat(ChannelFolder *self, EventFormat format, FILE *out,
                        ChannelProgress *progress);
/* One damage a line. */
void channel_folder_print_damages(const ChannelFolder *self, FILE *out);
