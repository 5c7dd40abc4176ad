/* channel_processor.c - the way of a batch from a source into its channels. */
#include "agent/core/channel_processor.h"

#include "agent/core/interceptor_chain.h"
#include "agent/core/put_state.h"
#include "agent/core/route.h"
#include "agent/core/source.h"
#include "base/clock.h"

struct ChannelProcessor {
    GPtrArray *interceptors; /* Interceptor * */
    InterceptTime intercept_time;
    Selector *selector;
    Channel **channels;
    gboolean has_one_channel; /* and every event goes there */
    Component *source;
};

ChannelProcessor *
channel_processor_new(GPtrArray *interceptors, Selector *selector, GPtrArray *channels,
                      guint n_required, Component *source)
{
    ChannelProcessor *self = g_new0(ChannelProcessor, 1);

    g_assert(channels->len > 0 && channels->len <= SELECTOR_MAX_CHANNELS);
    self->interceptors = g_ptr_array_new();
    self->intercept_time = (InterceptTime){ CLOCK_NEVER, CLOCK_NEVER };
    if (interceptors != NULL)
        g_ptr_array_extend(self->interceptors, interceptors, NULL, NULL);
    self->selector = selector;
    self->channels = g_new(Channel *, channels->len);
    memcpy(self->channels, channels->pdata, channels->len * sizeof(Channel *));
    self->has_one_channel =
        channels->len == 1 && n_required == 1 && selector_type(selector)->same_for_all;
    self->source = source;
    return self;
}

void
channel_processor_free(ChannelProcessor *self)
{
    if (self == NULL)
        return;
    g_ptr_array_unref(self->interceptors);
    g_free(self->channels);
    g_free(self);
}

void
channel_processor_set_intercept_timeout(ChannelProcessor *self, gint64 timeout_us)
{
    self->intercept_time.timeout_us = timeout_us;
}

void
channel_processor_refuse_from(ChannelProcessor *self, gint64 moment_us)
{
    atomic_store(&self->intercept_time.refuse_from, moment_us);
}

/* ---- one channel: the ticket in the put is enough ---- */

static void
put_ticket_done(Ticket *ticket)
{
    Put *put = (Put *) (gpointer) ((char *) ticket - G_STRUCT_OFFSET(Put, ticket));

    put->ready(put);
}

static PutResult
processor_put_into_one(Put *put, Channel *channel, Batch *batch, GError **error)
{
    PutResult result;

    put->channel = channel;
    put->ticket = (Ticket){ .done = put_ticket_done };
    result = channel_put(channel, batch, &put->ticket, error);
    if (result == PUT_PENDING)
        put->deadline_us = channel_put_deadline_us(channel, &put->ticket);
    return result;
}

/* ---- several, or as the selector says ---- */

/* Beside the batch as it was received, which its owner answers for. */
static gsize
route_copied_bytes(const Route *route, const Batch *received)
{
    const Batch *previous = received;
    gsize n_bytes = 0;

    for (guint i = 0; i < route->targets->len; i++) {
        const Batch *batch = route_target(route, i)->batch;

        if (batch != received && batch != previous)
            n_bytes += batch->allocated;
        previous = batch;
    }
    return n_bytes;
}

static PutResult
processor_put_routed(ChannelProcessor *self, const Batch *received, Batch *batch, Put *put,
                     GError **error)
{
    g_auto(Route) route = { 0 };
    g_autoptr(PutState) state = NULL;

    if (!route_init(&route, self->selector, batch)) {
        g_set_error_literal(error, CHANNEL_ERROR, CHANNEL_ERROR_NO_MEMORY,
                            "no memory for what goes into each channel; let the process have more "
                            "(MemoryMax=, ulimit -v), or send smaller batches");
        return PUT_FAILED;
    }
    put->n_copied = route_copied_bytes(&route, received);
    if (route.n_unrouted > 0)
        metric_add(self->source->metrics, SOURCE_EVENTS_UNROUTED, route.n_unrouted);
    if (route.targets->len == 1 && route.n_required == 1)
        return processor_put_into_one(put, self->channels[route_target(&route, 0)->position],
                                      route_target(&route, 0)->batch, error);
    state = put_state_new(put, &route, self->channels, self->source);
    put->state = state;
    if (!put_state_start(state)) {
        g_steal_pointer(&state);
        return PUT_PENDING;
    }
    put->state = NULL;
    return put_state_finish(state, error) ? PUT_DONE : PUT_FAILED;
}

/* What the interceptors leave of it. */
static Batch *
processor_intercept(ChannelProcessor *self, Batch *batch, BatchLimit limit, GError **error)
{
    MetricSet *metrics = self->source->metrics;
    guint n_dropped = 0;
    Batch *left;

    if (self->interceptors->len == 0)
        return batch_ref(batch);
    left = interceptor_chain_run(self->interceptors, batch, limit, &self->intercept_time,
                                 &n_dropped, error);
    if (left == NULL)
        metric_add(metrics, SOURCE_INTERCEPT_FAILURES, 1);
    else if (n_dropped > 0)
        metric_add(metrics, SOURCE_EVENTS_DROPPED, n_dropped);
    return left;
}

PutResult
channel_processor_put(ChannelProcessor *self, Batch *batch, Put *put, GError **error)
{
    g_autoptr(Batch) left = processor_intercept(self, batch, put->limit, error);
    PutResult result;

    put->processor = self;
    put->state = NULL;
    if (left == NULL)
        return PUT_FAILED;
    if (left->n_events == 0)
        return PUT_DONE;
    put->n_copied = left != batch ? left->allocated : 0;
    if (self->has_one_channel)
        result = processor_put_into_one(put, self->channels[0], left, error);
    else
        result = processor_put_routed(self, batch, left, put, error);
    if (result == PUT_FAILED)
        metric_add(self->source->metrics, SOURCE_CHANNEL_FAILURES, 1);
    return result;
}

gboolean
channel_processor_expire(Put *put)
{
    if (put->state != NULL)
        return put_state_expire(put->state);
    if (!channel_put_cancel(put->channel, &put->ticket))
        return FALSE;
    put->ticket.error = put_timeout_error(put->channel);
    return TRUE;
}

gboolean
channel_processor_finish(Put *put, GError **error)
{
    g_autoptr(PutState) state = g_steal_pointer(&put->state);
    gboolean ok;

    if (state != NULL) {
        ok = put_state_finish(state, error);
    } else {
        ok = put->ticket.error == NULL;
        if (!ok)
            g_propagate_error(error, g_steal_pointer(&put->ticket.error));
    }
    if (!ok)
        metric_add(put->processor->source->metrics, SOURCE_CHANNEL_FAILURES, 1);
    return ok;
}
