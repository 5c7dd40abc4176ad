/* channel_walk.h - reads the log of a channel folder record by record, over whatever is damaged.
 *
 * What it finds wrong goes to the folder's damages. Events that are missing are known once the walk
 * has ended: then what was consumed is known too, which some record far behind may say. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/consumption.h"
#include "agent/channels/file_channel/segment_reader.h"
#include "agent/commands/channel_folder.h"

typedef struct {
    Record record; /* events or consumed; valid until the next call */
    guint first;   /* of its events, those before were seen already */
} WalkedRecord;

/* 0 if it tells what is consumed. */
guint walked_record_n_events(const WalkedRecord *self);
/* Whether any of its events is not consumed. */
gboolean walked_record_is_queued(const WalkedRecord *self, const Consumption *consumption);

typedef struct ChannelWalk ChannelWalk;

/* Borrows the folder. from.segment 0: from the beginning; else a record begins there. */
ChannelWalk *channel_walk_new(ChannelFolder *folder, LogPosition from);
void channel_walk_free(ChannelWalk *self);

/* Is called again and again while a next record is looked for; channel_walk_n_bytes says how far
 * that is. */
typedef void (*ChannelWalkSearches)(const ChannelWalk *self, gpointer user);
void channel_walk_watch(ChannelWalk *self, ChannelWalkSearches searches, gpointer user);

/* FALSE at the end. */
gboolean channel_walk_next(ChannelWalk *self, WalkedRecord *ret_record);
/* Events of the record as plain bytes, exactly as many canonical ones as it says; a damage
 * otherwise. Valid until the next call. */
gboolean channel_walk_events(ChannelWalk *self, const WalkedRecord *record, ByteSpan *ret_events);

/* What the heads, the checkpoint and the records read so far say. */
const Consumption *channel_walk_consumption(const ChannelWalk *self);
/* At the end: adds a damage for each range of events that is missing and was not consumed. Returns
 * how many events that are. */
guint64 channel_walk_add_losses(ChannelWalk *self);
/* Events that are there and not consumed; after the losses were added. */
guint64 channel_walk_n_queued(const ChannelWalk *self);
guint64 channel_walk_next_seq(const ChannelWalk *self);
/* As far as the walk was; from the place where it began. */
guint64 channel_walk_n_bytes(const ChannelWalk *self); /* read so far */
guint64 channel_walk_total_bytes(const ChannelWalk *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChannelWalk, channel_walk_free)
