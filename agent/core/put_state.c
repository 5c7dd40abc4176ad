/* put_state.c - one batch on its way into several channels at once. */
#include "agent/core/put_state.h"

#include "agent/core/source.h"
#include "base/clock.h"
#include "base/quantity.h"

typedef struct {
    Ticket ticket;
    PutState *state;
    Channel *channel;
    gboolean may_wait; /* was PUT_PENDING and has not been cancelled */
    gboolean cancelled;
} PutTicket;

struct PutState {
    Put *put;
    Channel *const *channels;
    Component *source;
    Route route;
    gint under_way;      /* atomic: tickets, and one as long as put_state_start is at it */
    PutTicket tickets[]; /* one for each required target */
};

/* Outlives everything else when the channel completes it late. */
typedef struct {
    Ticket ticket;
    Component *source;
    Channel *channel;
    guint n_events;
    gatomicrefcount refs; /* of the channel, until done, and of put_state_put_optional */
} OptionalTicket;

PutState *
put_state_new(Put *put, Route *route, Channel *const *channels, Component *source)
{
    PutState *self = g_malloc0(sizeof(PutState) + route->n_required * sizeof(PutTicket));

    self->put = put;
    self->channels = channels;
    self->source = source;
    self->route = *route;
    *route = (Route){ 0 };
    return self;
}

void
put_state_free(PutState *self)
{
    for (guint i = 0; i < self->route.n_required; i++)
        g_clear_error(&self->tickets[i].ticket.error);
    route_clear(&self->route);
    g_free(self);
}

GError *
put_timeout_error(Channel *channel)
{
    guint64 n_bytes = metric_get(channel->base.metrics, CHANNEL_BYTES);
    guint64 byte_capacity = channel_byte_capacity(channel);
    g_autofree char *size = quantity_size_to_text_beside(n_bytes, byte_capacity);
    g_autofree char *limit = quantity_size_to_text_beside(byte_capacity, n_bytes);

    return g_error_new(CHANNEL_ERROR, CHANNEL_ERROR_TIMEOUT,
                       "channel '%s' had no room in time; it holds %" G_GUINT64_FORMAT
                       " of %" G_GUINT64_FORMAT " events and %s of %s",
                       channel->base.name, channel_n_events(channel), channel->capacity, size,
                       limit);
}

/* ---- required channels ---- */

/* TRUE: that was the last one. */
static gboolean
put_state_one_less(PutState *self)
{
    return g_atomic_int_dec_and_test(&self->under_way);
}

static void
put_ticket_done(Ticket *ticket)
{
    PutState *state = ((PutTicket *) ticket)->state;
    Put *put = state->put;

    if (put_state_one_less(state))
        put->ready(put);
}

/* TRUE if that ended the last one. */
static gboolean
put_state_cancel(PutState *self)
{
    for (guint i = 0; i < self->route.n_required; i++) {
        PutTicket *ticket = &self->tickets[i];

        if (!ticket->may_wait || !channel_put_cancel(ticket->channel, &ticket->ticket))
            continue;
        ticket->may_wait = FALSE;
        ticket->cancelled = TRUE;
        if (put_state_one_less(self))
            return TRUE;
    }
    return FALSE;
}

static PutResult
put_state_put(PutState *self, guint index, gint64 now_us)
{
    const RouteTarget *target = route_target(&self->route, index);
    PutTicket *ticket = &self->tickets[index];
    PutResult result;

    ticket->ticket.done = put_ticket_done;
    ticket->state = self;
    ticket->channel = self->channels[target->position];
    g_atomic_int_inc(&self->under_way);
    result = channel_put(ticket->channel, target->batch, &ticket->ticket, &ticket->ticket.error);
    if (result != PUT_PENDING) {
        put_state_one_less(self);
        return result;
    }
    if (ticket->ticket.rest_until_us > 0) { /* sooner than the deadline of the others */
        channel_put_cancel(ticket->channel, &ticket->ticket);
        return PUT_DONE;
    }
    ticket->may_wait = TRUE;
    if (ticket->channel->put_timeout_us < self->put->deadline_us - now_us)
        self->put->deadline_us = now_us + ticket->channel->put_timeout_us;
    return result;
}

gboolean
put_state_start(PutState *self)
{
    gint64 now_us = clock_now_us();
    PutResult result = PUT_DONE;

    self->put->deadline_us = CLOCK_NEVER;
    g_atomic_int_set(&self->under_way, 1);
    for (guint i = 0; i < self->route.n_required && result != PUT_FAILED; i++)
        result = put_state_put(self, i, now_us);
    if (result == PUT_FAILED)
        put_state_cancel(self); /* the answer stands, and the sender will come again with all */
    return put_state_one_less(self);
}

gboolean
put_state_expire(PutState *self)
{
    return put_state_cancel(self);
}

/* ---- optional channels ---- */

static OptionalTicket *
optional_ticket_ref(OptionalTicket *self)
{
    g_atomic_ref_count_inc(&self->refs);
    return self;
}

static void
optional_ticket_unref(OptionalTicket *self)
{
    if (!g_atomic_ref_count_dec(&self->refs))
        return;
    g_clear_error(&self->ticket.error);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(OptionalTicket, optional_ticket_unref)

static void
optional_ticket_failed(OptionalTicket *self, const GError *why)
{
    MetricSet *metrics = self->source->metrics;
    g_autofree char *detail = NULL;

    metric_add(metrics, SOURCE_OPTIONAL_FAILURES, self->n_events);
    detail = g_strdup_printf("%s; copies left out by this source so far: %" G_GUINT64_FORMAT,
                             why->message, metric_get(metrics, SOURCE_OPTIONAL_FAILURES));
    component_report_topic(self->source, REPORT_NOT_COPIED, self->channel->base.name, NULL, detail);
}

static void
optional_ticket_done(Ticket *ticket)
{
    g_autoptr(OptionalTicket) self = (OptionalTicket *) ticket;

    if (ticket->error != NULL)
        optional_ticket_failed(self, ticket->error);
}

static OptionalTicket *
optional_ticket_new(Component *source, Channel *channel, guint n_events)
{
    OptionalTicket *self = g_new0(OptionalTicket, 1);

    self->ticket.done = optional_ticket_done;
    self->source = source;
    self->channel = channel;
    self->n_events = n_events;
    g_atomic_ref_count_init(&self->refs);
    return self;
}

static void
put_state_put_optional(PutState *self, const RouteTarget *target)
{
    Channel *channel = self->channels[target->position];
    g_autoptr(OptionalTicket) ticket =
        optional_ticket_new(self->source, channel, target->batch->n_events);
    g_autoptr(OptionalTicket) of_channel = optional_ticket_ref(ticket);
    g_autoptr(GError) error = NULL;
    PutResult result = channel_put(channel, target->batch, &ticket->ticket, &error);

    if (result == PUT_PENDING && channel_put_cancel(channel, &ticket->ticket)) {
        error = put_timeout_error(channel);
        result = PUT_FAILED;
    }
    if (result == PUT_FAILED)
        optional_ticket_failed(ticket, error);
    else if (result == PUT_PENDING)
        g_steal_pointer(&of_channel); /* done comes, or has come */
}

/* ---- the outcome ---- */

/* NULL if every required channel took its part. */
static GError *
put_state_steal_error(PutState *self)
{
    Channel *too_slow = NULL;

    for (guint i = 0; i < self->route.n_required; i++) {
        PutTicket *ticket = &self->tickets[i];

        if (ticket->ticket.error != NULL)
            return g_steal_pointer(&ticket->ticket.error);
        if (ticket->cancelled && too_slow == NULL)
            too_slow = ticket->channel;
    }
    return too_slow != NULL ? put_timeout_error(too_slow) : NULL;
}

gboolean
put_state_finish(PutState *self, GError **error)
{
    g_autoptr(GError) failure = put_state_steal_error(self);

    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    for (guint i = self->route.n_required; i < self->route.targets->len; i++)
        put_state_put_optional(self, route_target(&self->route, i));
    return TRUE;
}
