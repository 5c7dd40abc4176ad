/* channel_world.h - a file channel, random things done with it, and what must be true of it after a
 * crash. Events have numbers. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/file_ops.h"
#include "agent/core/channel.h"

typedef enum {
    EVENT_UNKNOWN, /* was never put */
    EVENT_ASKED,   /* was put and not acknowledged: may be there */
    EVENT_ACKNOWLEDGED,
    EVENT_CONSUMED, /* may be there again after a crash */
} EventState;

typedef struct {
    const FileOps *ops;
    char *options; /* YAML */
    char *directory;
    GRand *rand;
    Channel *channel;
    GByteArray *states; /* EventState of each number */
    GByteArray *leased; /* and whether it is in one of leases */
    GPtrArray *leases;  /* Lease *, open */
    guint seed;
    guint n_actions;
    gboolean fails; /* calls may fail: then a take may give less, and losses may be told of that are
                       none */
    gboolean tells; /* each action on standard error */
} ChannelWorld;

/* ops: NULL for the system's. options: lines of YAML; with a memory-capacity the channel is a
 * spillable one, which keeps its promises as long as it does not crash. */
ChannelWorld *channel_world_new(guint seed, const FileOps *ops, const char *options);
void channel_world_free(ChannelWorld *self);

/* One random action. Unless calls may fail, a take must give exactly the lowest events that are
 * there and not leased, also after the channel was closed and opened. */
void channel_world_act(ChannelWorld *self);
/* The random action of that number: what is drawn for it does not hang on which others there were.
 */
void channel_world_act_numbered(ChannelWorld *self, guint number);
gboolean channel_world_open(ChannelWorld *self, GError **error);
void channel_world_close(ChannelWorld *self);

/* Puts count events more. FALSE if they were not acknowledged, or there is no room. */
gboolean channel_world_put(ChannelWorld *self, guint count);
/* Takes and commits everything, waiting no longer than the deadline: "0 1 2". */
char *channel_world_drain(ChannelWorld *self, gint64 deadline_us);

/* Opens a channel on that directory with the system's calls: every acknowledged event is there,
 * none that was not put, in order, none twice; and the channel works on. Its name is in the message
 * when not. */
void channel_world_check(const ChannelWorld *self, const char *directory, const char *what);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChannelWorld, channel_world_free)
