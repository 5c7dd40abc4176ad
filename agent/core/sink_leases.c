/* sink_leases.c - submits leases to a sink and collects what became of them. */
#include "agent/core/sink_leases.h"

#include "base/clock.h"

typedef struct {
    GList link; /* data is the attempt */
    Lease *lease;
    gint64 begin_us;
    gint64 deadline_us;
} SinkAttempt;

void
sink_leases_init(SinkLeases *self, Sink *sink)
{
    self->sink = sink;
    g_queue_init(&self->under_way);
}

void
sink_leases_clear(SinkLeases *self)
{
    g_assert(sink_leases_are_none(self));
}

gboolean
sink_leases_are_none(const SinkLeases *self)
{
    return self->under_way.head == NULL;
}

gboolean
sink_leases_have_room(const SinkLeases *self)
{
    const SinkType *type = sink_type(self->sink);

    return type->submit != NULL && type->room(self->sink) > 0;
}

static Delivery
delivery_of(const SinkAttempt *attempt)
{
    return (Delivery){
        .slices = (const BatchSlice *) attempt->lease->slices->data,
        .n_slices = attempt->lease->slices->len,
        .n_events = attempt->lease->n_events,
        .n_bytes = attempt->lease->n_bytes,
        .deadline_us = attempt->deadline_us,
    };
}

void
sink_leases_submit(SinkLeases *self, Lease *lease)
{
    SinkAttempt *attempt = g_new(SinkAttempt, 1);
    Delivery delivery;

    *attempt = (SinkAttempt){
        .link = { .data = attempt },
        .lease = lease,
        .begin_us = clock_now_us(),
        .deadline_us = clock_deadline_us(self->sink->deliver_timeout_us),
    };
    g_queue_push_tail_link(&self->under_way, &attempt->link);
    metric_add(self->sink->base.metrics, SINK_DELIVERY_ATTEMPTS, lease->n_events);
    if (sink_type(self->sink)->submit == NULL)
        return;
    delivery = delivery_of(attempt);
    sink_type(self->sink)->submit(self->sink, &delivery);
}

static Verdict
sink_attempt_end(const SinkAttempt *self, Sink *sink, gint64 deadline_us, guint *ret_done,
                 GError **error)
{
    const SinkType *type = sink_type(sink);
    Delivery delivery = delivery_of(self);

    delivery.deadline_us = MIN(delivery.deadline_us, deadline_us);
    if (type->submit == NULL)
        return type->deliver(sink, &delivery, ret_done, error);
    return type->collect(sink, delivery.deadline_us, ret_done, error);
}

void
sink_leases_collect(SinkLeases *self, gint64 deadline_us, SinkOutcome *ret_outcome)
{
    static const AnsweredBy the_only_one = { .acknowledged = 1, .refused = 1 };
    const SinkType *type = sink_type(self->sink);
    g_autofree SinkAttempt *attempt = g_queue_pop_head_link(&self->under_way)->data;
    SinkOutcome outcome = { .lease = attempt->lease };

    outcome.verdict =
        sink_attempt_end(attempt, self->sink, deadline_us, &outcome.done, &outcome.error);
    outcome.by = type->answered_by != NULL ? type->answered_by(self->sink) : the_only_one;
    metric_observe_us(self->sink->base.metrics, SINK_DELIVERY_TIME,
                      clock_now_us() - attempt->begin_us, 1);
    g_assert(outcome.done <= outcome.lease->n_events);
    g_assert(outcome.verdict != DELIVERED || outcome.done == outcome.lease->n_events);
    g_assert(outcome.verdict != DELIVERY_REJECTED || outcome.done < outcome.lease->n_events);
    g_assert((outcome.verdict == DELIVERED) == (outcome.error == NULL));
    *ret_outcome = outcome;
}

void
sink_outcome_clear(SinkOutcome *self)
{
    g_clear_pointer(&self->lease, lease_rollback);
    g_clear_error(&self->error);
}
