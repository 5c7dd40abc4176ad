/* channel.h - a queue of events between two transactions: put with a ticket, take with a lease.
 *
 * Every event has a sequence number in its channel. A leased event counts against capacity until it
 * is committed. Any thread may call; no call but channel_take waits. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"
#include "base/batch.h"

#define CHANNEL_ERROR (channel_error_quark())
GQuark channel_error_quark(void);
typedef enum {
    CHANNEL_ERROR_FULL,      /* retryable */
    CHANNEL_ERROR_TOO_LARGE, /* larger than the channel's whole capacity: can never fit */
    CHANNEL_ERROR_TIMEOUT,   /* the ticket's owner cancelled it */
    CHANNEL_ERROR_IO,
    CHANNEL_ERROR_CLOSED,
    CHANNEL_ERROR_NO_MEMORY, /* for what is to be put; retryable */
} ChannelError;

typedef struct Channel Channel;
typedef struct ChannelType ChannelType;

/* ---- put ---- */

typedef enum { PUT_DONE, PUT_PENDING, PUT_FAILED } PutResult;

/* Embedded in its owner, zeroed, with done set. After PUT_PENDING the channel calls done exactly
 * once, from any thread, with no lock held, never from inside the channel_put of this ticket;
 * unless channel_put_cancel returned TRUE first. done may come before channel_put has returned to
 * its caller; it may only hand the ticket back to its owner. The owner frees the ticket after done
 * or a successful cancel, and keeps the deadline. */
typedef struct Ticket Ticket;
struct Ticket {
    void (*done)(Ticket *self);
    GError *error; /* set before done when the put failed; the owner frees it */
    /* Not 0 after PUT_PENDING: the batch is in the channel, which keeps back the word of it so that
     * the owner does not come again at once. Cancel then, if done has not come: that ends in done,
     * too, and never in a refusal. */
    gint64 rest_until_us;

    /* The channel's own from here on. */
    gint64 put_us;    /* since when it waits */
    Channel *channel; /* where it waits; NULL once completion is under way */
    Batch *batch;     /* a reference while it waits */
    GList link;
    gpointer data;
};

/* All of the batch or nothing. PUT_FAILED sets error and the ticket is free at once; the channel
 * takes a reference of its own to the batch. */
PutResult channel_put(Channel *self, Batch *batch, Ticket *ticket, GError **error);
/* After PUT_PENDING: when to cancel, unless done has come. */
gint64 channel_put_deadline_us(const Channel *self, const Ticket *ticket);
/* FALSE when completion is already under way: then done comes, or has come. Tickets behind the
 * cancelled one may complete from inside this call. */
gboolean channel_put_cancel(Channel *self, Ticket *ticket);

/* ---- take ---- */

typedef struct {
    guint max_events;
    gsize max_bytes;  /* of encoded events; one event is given even if larger */
    gint64 linger_us; /* see channel_take */
    const gint *stop; /* atomic; non-zero: do not wait. Set it, then channel_wake. NULL: none */
} TakeLimits;

/* Slices in order of sequence numbers. A lease that is freed without being committed rolls back. */
typedef struct Lease Lease;
struct Lease {
    Channel *channel;
    GArray *slices; /* BatchSlice, of what is still leased; valid until committed or rolled back */
    guint n_events; /* still leased */
    gsize n_bytes;
    guint64 first; /* sequence number of the first event still leased */
};

/* Waits for an event until deadline_us (monotonic; CLOCK_NEVER). Until linger_us after the last
 * take from this channel it waits for max_events or max_bytes, or until a put has to wait; later
 * for any event: a steady trickle wakes the consumer once per linger, the first event after silence
 * at once. A consumer that found less than that may be left to rest for 200 us of its linger even
 * if more has come, and for up to 5 ms if nothing comes afterwards. NULL at the deadline, or when
 * *stop is set, if nothing is there. */
Lease *channel_take(Channel *self, const TakeLimits *limits, gint64 deadline_us);
/* Forgets the first n_events, keeps the rest leased. */
void lease_commit(Lease *self, guint n_events);
/* Puts the rest back by sequence number and frees the lease. Needs no space, no I/O, waits for
 * nothing, cannot fail. On a lease that is committed whole it only frees. */
void lease_rollback(Lease *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lease, lease_rollback)

/* Wakes every waiting take so that it looks at its stop flag. */
void channel_wake(Channel *self);

/* ---- state ---- */

guint64 channel_n_events(Channel *self); /* queued and leased */
guint64 channel_byte_capacity(const Channel *self);
const char *channel_trouble(Channel *self); /* NULL while it works; static words */
gboolean channel_is_durable(
    const Channel *self); /* keeps its content across a restart: need not be drained */

/* ---- for implementations ---- */

struct Channel {
    Component base;
    gint64 put_timeout_us; /* row of the kind */
    guint64 capacity;      /* events, row of the kind */
    guint64 byte_capacity; /* bytes; each type has a row for it, with a default of its own */
};

struct ChannelType {
    ComponentType base;
    gboolean durable;
    /* Never with an empty batch. Before PUT_PENDING becomes visible to another thread, the ticket
     * has its channel, put_us and a reference to the batch. */
    PutResult (*put)(Channel *self, Batch *batch, Ticket *ticket, GError **error);
    gboolean (*put_cancel)(Channel *self, Ticket *ticket); /* drops the ticket's batch */
    Lease *(*take)(Channel *self, const TakeLimits *limits, gint64 deadline_us);
    void (*commit)(Lease *lease, guint n_events); /* calls lease_forget */
    void (*rollback)(Lease *lease);               /* puts back and frees */
    void (*wake)(Channel *self);
    guint64 (*n_events)(Channel *self);
    /* NULL while it works, else why not, in words (static). For /healthz. May be NULL */
    const char *(*trouble)(Channel *self);
    /* The folder that it needs for itself, as configured; NULL if that is missing. May be NULL */
    const char *(*keeps_in)(const Channel *self);
};

static inline const ChannelType *
channel_type(const Channel *self)
{
    return (const ChannelType *) self->base.type;
}

/* FALSE with CHANNEL_ERROR_TOO_LARGE: the batch, which is charged n_bytes at the least, would not
 * fit into the channel when it is empty. */
gboolean channel_can_ever_hold(const Channel *self, const Batch *batch, guint64 n_bytes,
                               GError **error);
/* Ends a put that was PUT_PENDING: counts it, drops the ticket's batch, calls done. No lock held.
 */
void channel_complete_put(Channel *self, Ticket *ticket, GError *error /* (transfer full) */);
/* Writes the capacity gauges; for open. */
void channel_show_capacity(Channel *self);

void lease_init(Lease *self, Channel *channel);
void lease_clear(Lease *self);
/* How many of count events from first on the lease still takes, 0 if it is full. One goes into an
 * empty lease even if it is larger than the limit. */
guint lease_count_for(const Lease *self, const TakeLimits *limits, const Batch *batch, guint first,
                      guint count);
/* seq is the sequence number of its first event. */
void lease_add_slice(Lease *self, Batch *batch, guint first, guint count, guint64 seq);
/* Takes the first n_events out of slices, n_events and n_bytes; the implementation moves first on.
 * While they are still leased: their batch may be gone as soon as they are not. */
void lease_forget(Lease *self, guint n_events);

typedef enum {
    CHANNEL_PUT_ATTEMPTS, /* events */
    CHANNEL_PUT_SUCCESSES,
    CHANNEL_TAKE_ATTEMPTS,
    CHANNEL_TAKE_SUCCESSES,
    CHANNEL_EVENTS, /* gauge: queued and leased */
    CHANNEL_BYTES,  /* gauge: charged */
    CHANNEL_CAPACITY,
    CHANNEL_BYTE_CAPACITY,
    CHANNEL_EVENTS_LOST,    /* at a stop whose drain timed out */
    CHANNEL_PUT_TIME,       /* histogram, per batch */
    CHANNEL_RESIDENCE_TIME, /* histogram, from put to commit, weighted by events */
    N_CHANNEL_METRICS,
} ChannelMetric;
extern const MetricSpec channel_metrics[N_CHANNEL_METRICS + 1];
extern const OptionSpec channel_options[];
