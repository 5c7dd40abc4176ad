/* sink.h - takes events from one channel and delivers them; the runner owns thread, lease and
 * retries. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"
#include "agent/core/component.h"
#include "agent/core/sink_group.h"
#include "base/batch.h"

#define SINK_ERROR (sink_error_quark())
GQuark sink_error_quark(void);
typedef enum {
    SINK_ERROR_REFUSED,
    SINK_ERROR_IO,
    SINK_ERROR_INTERRUPTED,
} SinkError;

typedef struct Sink Sink;

/* Events to deliver, in order, borrowed for the call. */
typedef struct {
    const BatchSlice *slices;
    guint n_slices;
    guint n_events;
    gsize n_bytes;
    gint64 deadline_us; /* monotonic */
} Delivery;

typedef enum {
    DELIVERED,         /* all of it */
    DELIVERY_RETRY,    /* what follows the first ret_done: the destination is in trouble */
    DELIVERY_REFUSED,  /* the same, but it was there and did not take it: for one event's sake, it
                          may be */
    DELIVERY_REJECTED, /* the event behind the first ret_done can never be delivered, locally
                          certain */
} Verdict;

/* Who answered, a bit for each destination that the sink has. */
typedef struct {
    guint64 acknowledged;
    guint64 refused;
    guint64 hung_up; /* those among them that ended the connection for an answer */
} AnsweredBy;

typedef struct {
    ComponentType base;

    /* ret_done: leading events that the destination has acknowledged, written always; the runner
     * commits those. error is set unless DELIVERED. Nothing is under way when it returns. */
    Verdict (*deliver)(Sink *self, const Delivery *delivery, guint *ret_done, GError **error);
    /* A sink that pipelines has these three instead. What is submitted stays valid until it is
     * collected; the oldest is collected first, as of deliver. deadline_us 0: it is given up at
     * once, and with it everything else that is under way. */
    guint (*room)(Sink *self); /* how many more it is worth to submit; none under way: at least 1 */
    void (*submit)(Sink *self, const Delivery *delivery);
    Verdict (*collect)(Sink *self, gint64 deadline_us, guint *ret_done, GError **error);
    /* Of the delivery that ended last. NULL: the sink has one destination. */
    AnsweredBy (*answered_by)(Sink *self);
    /* Any thread, returns at once: a running deliver or collect ends soon with DELIVERY_RETRY. May
     * be NULL if they never wait. */
    void (*interrupt)(Sink *self);
    /* Likewise, when the agent begins to stop: from now on nothing waits for a destination to turn
     * up, while what is under way goes on. NULL: nothing does. */
    void (*hurry)(Sink *self);
    /* Likewise, but only if the sink has another destination, which then comes before the one that
     * has not answered. NULL: it has one. */
    void (*reroute)(Sink *self);
    /* NULL while healthy; else why not (static). Any thread, while it is open. NULL: it cannot
     * tell. */
    const char *(*trouble)(Sink *self);
    /* Work of its own that is due at a time (rolling a file, closing an idle one): the runner calls
     * tick on the sink's thread when it has come, whether there are events or not. NULL: none. */
    void (*tick)(Sink *self);
    gint64 (*next_tick_us)(Sink *self); /* monotonic, CLOCK_NEVER for none */
} SinkType;

struct Sink {
    Component base;
    char *channel_name; /* rows of the kind */
    guint64 batch_size; /* events */
    guint64 batch_bytes;
    gint64 linger_us;
    gint64 backoff_us;
    gint64 max_backoff_us;
    gint64 deliver_timeout_us;
    char *dead_letter_name;

    /* Wired by the configuration. */
    Channel *channel;
    Channel *dead_letter; /* NULL: none */
    SinkGroup *group;     /* NULL: none */
    guint rank;           /* in the group */

    /* Its runner's. */
    void (*retry)(gpointer runner); /* NULL: none */
    gpointer runner;
};

/* Any thread: what made the last attempt fail may be over by now, so do not wait any longer. */
void sink_retry_now(Sink *self);

static inline const SinkType *
sink_type(const Sink *self)
{
    return (const SinkType *) self->base.type;
}

typedef enum {
    SINK_DELIVERY_ATTEMPTS, /* events */
    SINK_EVENTS_DELIVERED,
    SINK_EVENTS_REJECTED,
    SINK_EVENTS_DEAD_LETTERED, /* rejected ones */
    SINK_BATCHES_COMPLETE,     /* leases of batch-size events */
    SINK_BATCHES_UNDERFLOW,    /* smaller ones */
    SINK_BATCHES_EMPTY,        /* takes that found nothing */
    SINK_BATCHES_RETRIED,
    SINK_CONNECTIONS_CREATED,
    SINK_CONNECTIONS_CLOSED,
    SINK_CONNECTIONS_FAILED,
    SINK_DELIVERY_TIME, /* histogram, per call */
    N_SINK_METRICS,
} SinkMetric;
extern const MetricSpec sink_metrics[N_SINK_METRICS + 1];
extern const OptionSpec sink_options[];
