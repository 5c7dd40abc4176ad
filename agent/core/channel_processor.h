/* channel_processor.h - the way of a batch from a source into its channels: interceptors, selector,
 * all required channels in parallel, then optional ones.
 *
 * The answer waits for every required channel; one failure makes it a failure although others may
 * have committed. Optional channels are tried once the required ones hold the batch and never
 * waited for. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"
#include "agent/core/interceptor_chain.h"
#include "agent/core/selector.h"

typedef struct ChannelProcessor ChannelProcessor;

/* channels: required first, then optional, in the selector's order. All are borrowed, and used
 * until the channels are closed. The processor counts at the source what interceptors dropped, what
 * went nowhere, what optional channels did not take (reported, too), and puts that failed. An event
 * that is dropped or goes nowhere does not make a put fail. */
ChannelProcessor *channel_processor_new(GPtrArray *interceptors, Selector *selector,
                                        GPtrArray *channels, guint n_required, Component *source);
void channel_processor_free(ChannelProcessor *self);

/* Before the first put: the processor time that interceptors may take for a batch. */
void channel_processor_set_intercept_timeout(ChannelProcessor *self, gint64 timeout_us);
/* Any thread. From this moment on (monotonic) interceptors work on nothing more, and batches that
 * would need them are refused: the source must come to an end. */
void channel_processor_refuse_from(ChannelProcessor *self, gint64 moment_us);

/* One batch under way. Embedded in its owner (a request), zeroed, with ready set. */
typedef struct PutState PutState; /* the processor's own */
typedef struct Put Put;
struct Put {
    /* Any thread, no lock held: hands back to the owner, which calls finish. May come before
     * channel_processor_put has returned. */
    void (*ready)(Put *self);
    BatchLimit limit;   /* set by the owner: what interceptors may make of the batch */
    gint64 deadline_us; /* after PUT_PENDING: when to call channel_processor_expire */
    gsize n_copied;     /* likewise: bytes of what interceptors and selector made of the batch */

    /* The processor's own from here on. */
    ChannelProcessor *processor;
    PutState *state;  /* several channels */
    Channel *channel; /* one, with the ticket below */
    Ticket ticket;
};

/* PUT_DONE, PUT_FAILED: over, nothing to finish. PUT_PENDING: ready is called exactly once, unless
 * channel_processor_expire returned TRUE first. Never waits. */
PutResult channel_processor_put(ChannelProcessor *self, Batch *batch, Put *put, GError **error);
/* Cancels what is pending, whether the deadline has come or not. Owner's thread. TRUE: nothing is
 * under way any more, call finish now; ready is not called. FALSE: ready comes, or has come. */
gboolean channel_processor_expire(Put *put);
/* The outcome; puts into optional channels if the required ones took it. Owner's thread. */
gboolean channel_processor_finish(Put *put, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChannelProcessor, channel_processor_free)
