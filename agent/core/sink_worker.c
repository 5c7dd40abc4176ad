/* sink_worker.c - takes, delivers, commits, rejects, and judges what failed. */
#include "agent/core/sink_worker.h"

#include "base/clock.h"
#include "base/log.h"

void
sink_worker_init(SinkWorker *self, Sink *sink)
{
    *self = (SinkWorker){ .sink = sink };
    if (sink->dead_letter != NULL)
        self->dead_letter = dead_letter_new(sink->dead_letter, sink->base.name);
    sink_leases_init(&self->leases, sink);
    sink_search_init(&self->search);
    backoff_init(&self->backoff, sink->backoff_us, sink->max_backoff_us);
}

void
sink_worker_clear(SinkWorker *self)
{
    sink_leases_clear(&self->leases);
    sink_search_clear(&self->search);
    g_clear_pointer(&self->dead_letter, dead_letter_free);
}

/* ---- how it goes ---- */

static void
worker_note_success(SinkWorker *self)
{
    if (self->failing_since_us == 0)
        return;
    log_info("destination recovered", LOG_TEXT("sink", self->sink->base.name),
             LOG_INT("down_ms", (clock_now_us() - self->failing_since_us) / 1000),
             LOG_INT("attempts", self->failed_attempts));
    self->failing_since_us = 0;
    self->failed_attempts = 0;
}

static void
worker_log_failure(SinkWorker *self, const GError *error)
{
    self->failed_attempts++;
    if (self->failing_since_us != 0) {
        log_debug("delivery failed again", LOG_TEXT("sink", self->sink->base.name),
                  LOG_TEXT("error", error->message));
        return;
    }
    self->failing_since_us = clock_now_us();
    log_warning("delivery failed, backing off", LOG_TEXT("sink", self->sink->base.name),
                LOG_TEXT("error", error->message));
}

/* What was leased has been put back, so that the next sink of a group finds it. */
static void
worker_back_off(SinkWorker *self, const GError *error)
{
    gint64 retry_us = clock_now_us() + backoff_next_delay_us(&self->backoff);
    gint64 due_us = 0;

    if (self->sink->group != NULL)
        due_us = sink_group_note_failure(self->sink->group, self->sink->rank);
    self->retry_us = due_us != 0 ? due_us : retry_us;
    self->settles = TRUE;
    worker_log_failure(self, error);
}

/* ---- what became of a lease ---- */

/* FALSE and an error when the dead-letter channel did not take it. */
static gboolean
worker_reject_first(SinkWorker *self, Lease *lease, const GError *why, GError **error)
{
    Component *component = &self->sink->base;

    if (self->dead_letter != NULL) {
        const BatchSlice *first = &g_array_index(lease->slices, BatchSlice, 0);

        if (!dead_letter_put(self->dead_letter, first, why->message, error))
            return FALSE;
        metric_add(component->metrics, SINK_EVENTS_DEAD_LETTERED, 1);
    }
    metric_add(component->metrics, SINK_EVENTS_REJECTED, 1);
    component_report(component, REPORT_REJECTED, NULL, why->message);
    lease_commit(lease, 1);
    return TRUE;
}

static void
worker_reject_poison(SinkWorker *self)
{
    for (;;) {
        g_autoptr(GError) why = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(Lease) lease = sink_search_next_poison(&self->search, &why);
        guint64 seq;

        if (lease == NULL)
            return;
        seq = lease->first;
        if (!worker_reject_first(self, lease, why, &error)) {
            g_clear_pointer(&lease, lease_rollback);
            sink_search_pause(&self->search);
            worker_back_off(self, error);
            return;
        }
        sink_search_note_rejected(&self->search, seq);
    }
}

static void
worker_note_delivered(SinkWorker *self, const SinkOutcome *outcome)
{
    Lease *lease = outcome->lease;
    guint n_events = outcome->done;

    if (n_events == 0)
        return;
    metric_add(self->sink->base.metrics, SINK_EVENTS_DELIVERED, n_events);
    atomic_store(&self->undelivered_since_us,
                 n_events < lease->n_events || !sink_leases_are_none(&self->leases) ? clock_now_us()
                                                                                    : 0);
    if (!self->settles) {
        backoff_reset(&self->backoff);
        sink_search_note_acknowledged(&self->search, lease, n_events, &outcome->by);
    }
    lease_commit(lease, n_events);
    if (!self->settles && self->sink->group != NULL)
        sink_group_note_success(self->sink->group, self->sink->rank);
}

static void
worker_note_refused(SinkWorker *self, SinkOutcome *outcome)
{
    PoisonAdvice advice =
        sink_search_note_refused(&self->search, &outcome->lease, &outcome->by, outcome->error);

    g_clear_pointer(&outcome->lease, lease_rollback);
    self->settles = TRUE;
    if (advice == POISON_PAUSE)
        worker_back_off(self, outcome->error);
    else
        worker_reject_poison(self);
}

static void
worker_note_undelivered(SinkWorker *self, SinkOutcome *outcome)
{
    metric_add(self->sink->base.metrics, SINK_BATCHES_RETRIED, 1);
    if (self->settles)
        return;
    if (outcome->verdict == DELIVERY_REFUSED) {
        worker_note_refused(self, outcome);
        return;
    }
    sink_search_pause(&self->search);
    g_clear_pointer(&outcome->lease, lease_rollback);
    worker_back_off(self, outcome->error);
}

/* The events behind a rejected one are sent on. */
static void
worker_note_rejected(SinkWorker *self, SinkOutcome *outcome)
{
    g_autoptr(GError) error = NULL;

    if (self->settles)
        return;
    if (!worker_reject_first(self, outcome->lease, outcome->error, &error)) {
        g_clear_pointer(&outcome->lease, lease_rollback);
        worker_back_off(self, error);
        return;
    }
    if (outcome->lease->n_events > 0)
        sink_leases_submit(&self->leases, g_steal_pointer(&outcome->lease));
    else if (sink_leases_are_none(&self->leases))
        atomic_store(&self->undelivered_since_us, 0);
}

/* What is not delivered goes back into the channel, unless it is kept aside. */
static void
worker_settle_oldest(SinkWorker *self)
{
    g_auto(SinkOutcome) outcome = { 0 };
    gint64 deadline_us = g_atomic_int_get(&self->interrupted) ? 0 : CLOCK_NEVER;

    sink_leases_collect(&self->leases, deadline_us, &outcome);
    worker_note_delivered(self, &outcome);
    switch (outcome.verdict) {
    case DELIVERED:
        if (!self->settles) {
            worker_note_success(self);
            worker_reject_poison(self);
        }
        break;
    case DELIVERY_REJECTED:
        worker_note_rejected(self, &outcome);
        break;
    case DELIVERY_RETRY:
    case DELIVERY_REFUSED:
        worker_note_undelivered(self, &outcome);
        break;
    }
}

static void
worker_settle_all(SinkWorker *self)
{
    while (!sink_leases_are_none(&self->leases))
        worker_settle_oldest(self);
}

/* ---- taking ---- */

static Lease *
worker_take_in_turn(SinkWorker *self, const TakeLimits *limits, gint64 deadline_us)
{
    Sink *sink = self->sink;
    TakeLimits in_turn = *limits;
    Lease *lease;

    if (sink->group != NULL &&
        !sink_group_await_turn(sink->group, sink->rank, limits->stop, deadline_us, &in_turn.stop))
        return NULL;
    lease = channel_take(sink->channel, &in_turn, deadline_us);
    if (sink->group != NULL)
        sink_group_end_turn(sink->group, sink->rank, lease != NULL);
    if (lease == NULL && sink_leases_are_none(&self->leases))
        metric_add(sink->base.metrics, SINK_BATCHES_EMPTY, 1);
    return lease;
}

static void
worker_count_taken(SinkWorker *self, const Lease *lease)
{
    Sink *sink = self->sink;
    gint64 none = 0;

    metric_add(sink->base.metrics,
               lease->n_events >= sink->batch_size ? SINK_BATCHES_COMPLETE : SINK_BATCHES_UNDERFLOW,
               1);
    atomic_compare_exchange_strong(&self->undelivered_since_us, &none, clock_now_us());
}

/* NULL when there is nothing by then that could be sent. */
static Lease *
worker_take(SinkWorker *self, const gint *stop, gint64 deadline_us)
{
    Lease *lease;

    do {
        TakeLimits limits = {
            .max_events = poison_limit(self->search.poison, (guint) self->sink->batch_size),
            .max_bytes = poison_limit_bytes(self->search.poison, (gsize) self->sink->batch_bytes),
            .linger_us = g_atomic_int_get(&self->hurry) ? 0 : self->sink->linger_us,
            .stop = stop,
        };

        lease = worker_take_in_turn(self, &limits, deadline_us);
        if (lease == NULL)
            return NULL;
        worker_count_taken(self, lease);
        lease = sink_search_note_taken(&self->search, lease);
    } while (lease == NULL);
    return lease;
}

static gint64
worker_next_delay_us(SinkWorker *self)
{
    gint64 delay_us = backoff_next_delay_us(&self->backoff);

    return g_atomic_int_get(&self->hurry) ? MIN(delay_us, SINK_DRAIN_BACKOFF_US) : delay_us;
}

/* A suspect is kept aside, and wants another event to be compared with. It waits as long as a
 * back-off would last, and then goes again. */
static Lease *
worker_take_to_compare(SinkWorker *self, const gint *stop, gint64 deadline_us)
{
    Lease *lease = worker_take(self, stop, 0);

    if (lease == NULL && self->alone_until_us == 0)
        self->alone_until_us = clock_now_us() + worker_next_delay_us(self);
    if (lease == NULL)
        lease = worker_take(self, stop, MIN(deadline_us, self->alone_until_us));
    if (lease == NULL && clock_now_us() < self->alone_until_us)
        return NULL;
    self->alone_until_us = 0;
    if (lease != NULL)
        return lease;
    sink_search_note_alone(&self->search);
    worker_reject_poison(self);
    sink_search_pause(&self->search);
    return NULL;
}

static Lease *
worker_next_lease(SinkWorker *self, const gint *stop, gint64 deadline_us)
{
    Lease *suspect = sink_search_next_suspect(&self->search);

    if (suspect != NULL)
        return suspect;
    if (sink_search_keeps_any(&self->search))
        return worker_take_to_compare(self, stop, deadline_us);
    return worker_take(self, stop, deadline_us);
}

static gboolean
worker_has_room(SinkWorker *self)
{
    const Sink *sink = self->sink;

    if (sink_leases_are_none(&self->leases))
        return TRUE;
    return sink_leases_have_room(&self->leases) && !poison_is_searching(self->search.poison) &&
           (sink->group == NULL || sink_group_is_live(sink->group, sink->rank));
}

/* Waits only while nothing is under way. */
static void
worker_fill(SinkWorker *self, const gint *stop, gint64 deadline_us)
{
    while (worker_has_room(self)) {
        gboolean may_wait = sink_leases_are_none(&self->leases);
        Lease *lease = worker_next_lease(self, stop, may_wait ? deadline_us : 0);

        if (lease == NULL)
            return;
        sink_leases_submit(&self->leases, lease);
    }
}

/* ---- called by the runner ---- */

void
sink_worker_step(SinkWorker *self, const gint *stop, gint64 deadline_us)
{
    self->retry_us = 0;
    self->settles = FALSE;
    worker_fill(self, stop, deadline_us);
    if (sink_leases_are_none(&self->leases))
        return;
    worker_settle_oldest(self);
    if (self->settles)
        worker_settle_all(self);
}

void
sink_worker_end(SinkWorker *self)
{
    worker_settle_all(self);
    sink_search_pause(&self->search);
}

void
sink_worker_hurry(SinkWorker *self)
{
    const SinkType *type = sink_type(self->sink);

    g_atomic_int_set(&self->hurry, 1);
    if (type->hurry != NULL)
        type->hurry(self->sink);
}

void
sink_worker_interrupt(SinkWorker *self)
{
    const SinkType *type = sink_type(self->sink);

    g_atomic_int_set(&self->interrupted, 1);
    if (self->dead_letter != NULL)
        dead_letter_interrupt(self->dead_letter);
    if (type->interrupt != NULL)
        type->interrupt(self->sink);
}

void
sink_worker_reroute(SinkWorker *self, gint64 since_us)
{
    const SinkType *type = sink_type(self->sink);
    gint64 undelivered_since_us = sink_worker_undelivered_since_us(self);

    if (undelivered_since_us == 0 || undelivered_since_us > since_us)
        return;
    if (self->sink->group != NULL && type->interrupt != NULL)
        type->interrupt(self->sink);
    else if (type->reroute != NULL)
        type->reroute(self->sink);
}

gint64
sink_worker_undelivered_since_us(const SinkWorker *self)
{
    return atomic_load(&self->undelivered_since_us);
}
