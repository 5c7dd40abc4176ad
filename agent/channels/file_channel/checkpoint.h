/* checkpoint.h - a small file that says how far the log has been consumed, so that a start need
 * not read all of it. Only a cache: whatever is wrong with it, the log knows better.
 *
 * "checkpoint", written as "checkpoint.tmp", synced, renamed. Little endian:
 *
 *      0 8 bytes "LEATCKP\n"
 *      8 u32 version      1
 *     12 u32 crc          CRC-32C of the whole file with zero here
 *     16 u64 channel      as in the segments
 *     24 u64 consumed     every event below is consumed
 *     32 u64 segment      where event `consumed` stands, or a place before it
 *     40 u64 offset
 *     48 u64 end segment  the log up to here is in this checkpoint, and was safe on disk
 *     56 u64 end offset
 *     64 u64 next seq     the sequence number behind the last event before that end
 *     72 u64 bytes        that the events not consumed are charged
 *     80 u64 count        of ranges that are consumed above `consumed`; as in consumed records
 *     88 ranges of 24 bytes */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/file_ops.h"
#include "agent/channels/file_channel/segment.h"
#include "agent/channels/file_channel/seq_set.h"

#define CHECKPOINT_NAME "checkpoint"
#define CHECKPOINT_TEMPORARY "checkpoint.tmp"
#define CHECKPOINT_VERSION 1

typedef struct {
    guint64 channel;
    guint64 consumed;
    LogPosition from;
    LogPosition end;
    guint64 next_seq;
    guint64 n_bytes;
    SeqSet above;
} Checkpoint;

void checkpoint_init(Checkpoint *self);
void checkpoint_clear(Checkpoint *self);

/* FALSE if there is none that can be used; ret_why then says why, NULL if it is not there at all.
 */
gboolean checkpoint_load(const FileOps *ops, int folder, Checkpoint *ret_checkpoint,
                         char **ret_why /* (transfer full) */);
gboolean checkpoint_save(const FileOps *ops, int folder, const Checkpoint *self, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Checkpoint, checkpoint_clear)
