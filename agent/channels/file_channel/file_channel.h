/* file_channel.h - what the files of the file channel share: its state, and who may touch what. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/consumption.h"
#include "agent/channels/file_channel/log_ranges.h"
#include "agent/channels/file_channel/log_reader.h"
#include "agent/channels/file_channel/log_writer.h"
#include "agent/channels/file_channel/run_cache.h"
#include "agent/core/channel.h"
#include "agent/core/take_waiters.h"
#include "base/backoff.h"

typedef enum { FILE_SYNC_ALWAYS, FILE_SYNC_INTERVAL, FILE_SYNC_NEVER } FileSync;

/* Rows of the type. */
typedef struct {
    char *directory;
    guint64 segment_size;
    guint64 reserve;
    guint sync; /* FileSync */
    gint64 sync_interval_us;
    guint compression; /* RecordCompression */
    guint64 cache_bytes;
    guint64 memory_capacity; /* of the spillable type; 0: what is acknowledged was written */
    guint64 memory_bytes;
} FileChannelOptions;

typedef struct {
    Channel base;
    FileChannelOptions options;

    /* From open to close. */
    const FileOps *ops;
    SegmentDir dir;
    SegmentList segments; /* has a lock of its own */
    GThread *thread;      /* the writer */
    gboolean was_opened;

    /* The writer's. */
    LogWriter writer;
    Backoff retry;
    gint64 last_sync_us;
    gint64 last_checkpoint_us;
    gint64 space_checked_us;
    guint64 written_low;  /* every event below is consumed, and the log says so */
    guint64 durable_low;  /* ... and the disk knows */
    guint64 wanted_bytes; /* what found no place when trouble began */
    gboolean checkpoint_is_stale;

    /* Whoever has set reading. */
    LogReader reader;

    GMutex lock; /* guards the rest */
    GCond work;  /* for the writer */
    GCond read_done;
    gboolean is_open;
    gboolean closing;
    gboolean reading;
    const char *trouble; /* static; puts are refused as long as there is any */
    char *trouble_detail;
    gint64 retry_us;         /* when the disk is tried again */
    GQueue pending;          /* tickets without room, first come first served */
    GQueue puts;             /* LogPut * with room, for the writer; their owners are tickets */
    guint64 reserved_events; /* of puts, and of the group being written */
    guint64 reserved_bytes;
    guint64 stored_events; /* in the log and not consumed */
    guint64 stored_bytes;
    guint64 disk_bytes; /* of all segments, what is consumed included */
    LogRanges available;
    TakeStock stock; /* of available */
    TakeWaiters waiters;
    RunCache cache;
    RunCache memory;     /* events that are not written, newer than all that are */
    guint64 next_seq;    /* of the next event that goes into memory */
    guint64 log_end_seq; /* the log has no event from here on */
    GQueue answered;     /* tickets that memory took after a wait, for the writer to answer */
    Consumption consumption;
    gint64 unlogged_since_us; /* since when the log has not been told of some; CLOCK_NEVER */
} FileChannel;

static inline FileChannel *
file_channel_of(Channel *channel)
{
    return (FileChannel *) channel;
}

static inline gboolean
file_channel_is_spillable(const FileChannel *self)
{
    return self->options.memory_capacity > 0;
}

typedef enum {
    FILE_CHANNEL_SYNCS,
    FILE_CHANNEL_WRITTEN,
    FILE_CHANNEL_SYNC_TIME,
    FILE_CHANNEL_SEGMENTS,
    FILE_CHANNEL_DISK_BYTES,
    FILE_CHANNEL_LOST,
    FILE_CHANNEL_REFUSED,
    FILE_CHANNEL_FAILURES,
    FILE_CHANNEL_DISK_READS,
    FILE_CHANNEL_UNHEALTHY,
    FILE_CHANNEL_CHECKPOINT_FAILURES,
    FILE_CHANNEL_MEMORY,
    N_FILE_CHANNEL_METRICS,
} FileChannelMetric;
extern const MetricSpec file_channel_metrics[N_FILE_CHANNEL_METRICS + 1];

/* ---- with the lock held ---- */

/* A group that is written at once is no larger, so that consumers do not wait for all of it. */
#define GROUP_BYTES ((guint64) 32 << 20)
#define GROUP_PUTS 4096

/* What segments take has changed. */
void file_channel_measure(FileChannel *self);
/* Tickets that now have room go to the writer. Ends every change that could give room. */
void file_channel_admit_pending(FileChannel *self);
void file_channel_show(FileChannel *self); /* gauges, and consumers that wait */
/* Events of the log are done with: delivered, or lost. bytes is what they are charged. */
void file_channel_consume(FileChannel *self, guint64 first, guint64 end, guint64 bytes);

/* ---- operations of both types ---- */

void file_channel_configure(Component *component, Problems *problems);
gboolean file_channel_open(Component *component, GError **error);
void file_channel_close(Component *component);
void file_channel_finalize(Component *component);
void file_channel_wake(Channel *channel);
guint64 file_channel_n_events(Channel *channel);
const char *file_channel_trouble(Channel *channel);
const char *file_channel_keeps_in(const Channel *channel);

PutResult file_channel_put(Channel *channel, Batch *batch, Ticket *ticket, GError **error);
gboolean file_channel_put_cancel(Channel *channel, Ticket *ticket);
Lease *file_channel_take(Channel *channel, const TakeLimits *limits, gint64 deadline_us);
void file_channel_commit(Lease *lease, guint n_events);
void file_channel_rollback(Lease *lease);

/* The writer's thread, until closing. */
gpointer file_channel_write(gpointer self);
