/* sink_runner.c - the thread of one sink: takes leases, delivers, commits, retries with back-off.
 */
#include "agent/core/sink_runner.h"

#include <stdatomic.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"

#define TROUBLE_AFTER_US (30 * G_USEC_PER_SEC)
/* How often a drain looks whether another sink has put back what it had leased from the channel,
 * and how often a sink that must end is told so. */
#define ENDING_INTERVAL_US (50 * 1000)

typedef enum { PHASE_RUN, PHASE_LAST_ATTEMPT, PHASE_DRAIN, PHASE_INTERRUPTED } Phase;

struct SinkRunner {
    Sink *sink;
    GThread *thread; /* NULL: not started, or joined */

    /* Any thread. */
    gint hurry; /* for TakeLimits: what is there now is all that is taken */
    _Atomic gint64 undelivered_since_us; /* monotonic, 0: all that was taken has been delivered */

    GMutex lock; /* guards phase and ended */
    GCond changed;
    Phase phase;
    gboolean ended;

    /* The thread's own. */
    Backoff backoff;
    gint64 retry_us;         /* monotonic: no attempt before; 0: healthy */
    gint64 failing_since_us; /* monotonic, 0: healthy */
    guint failed_attempts;
};

SinkRunner *
sink_runner_new(Sink *sink)
{
    SinkRunner *self = g_new0(SinkRunner, 1);

    self->sink = sink;
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    backoff_init(&self->backoff, sink->backoff_us, sink->max_backoff_us);
    return self;
}

void
sink_runner_free(SinkRunner *self)
{
    if (self == NULL)
        return;
    g_assert(self->thread == NULL);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->changed);
    g_free(self);
}

static Phase
runner_phase(SinkRunner *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->phase;
}

/* ---- one lease ---- */

static void
runner_note_success(SinkRunner *self)
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
runner_note_failure(SinkRunner *self, const GError *error)
{
    gint64 now_us = clock_now_us();

    self->retry_us = now_us + backoff_next_delay_us(&self->backoff);
    self->failed_attempts++;
    metric_add(self->sink->base.metrics, SINK_BATCHES_RETRIED, 1);
    if (self->failing_since_us != 0) {
        log_debug("delivery failed again", LOG_TEXT("sink", self->sink->base.name),
                  LOG_TEXT("error", error->message));
        return;
    }
    self->failing_since_us = now_us;
    log_warning("delivery failed, backing off", LOG_TEXT("sink", self->sink->base.name),
                LOG_TEXT("error", error->message));
}

static void
runner_commit_delivered(SinkRunner *self, Lease *lease, guint n_events)
{
    if (n_events == 0)
        return;
    metric_add(self->sink->base.metrics, SINK_EVENTS_DELIVERED, n_events);
    atomic_store(&self->undelivered_since_us, n_events < lease->n_events ? clock_now_us() : 0);
    lease_commit(lease, n_events);
    backoff_reset(&self->backoff);
}

static void
runner_commit_rejected(SinkRunner *self, Lease *lease, const GError *error)
{
    Component *component = &self->sink->base;

    metric_add(component->metrics, SINK_EVENTS_REJECTED, 1);
    component_report(component, REPORT_REJECTED, NULL, error->message);
    lease_commit(lease, 1);
}

static Verdict
runner_attempt(SinkRunner *self, const Lease *lease, guint *ret_done, GError **error)
{
    Sink *sink = self->sink;
    gint64 begin_us = clock_now_us();
    Delivery delivery = {
        .slices = (const BatchSlice *) lease->slices->data,
        .n_slices = lease->slices->len,
        .n_events = lease->n_events,
        .n_bytes = lease->n_bytes,
        .deadline_us = clock_deadline_us(sink->deliver_timeout_us),
    };
    Verdict verdict;

    metric_add(sink->base.metrics, SINK_DELIVERY_ATTEMPTS, lease->n_events);
    verdict = sink_type(sink)->deliver(sink, &delivery, ret_done, error);
    metric_observe_us(sink->base.metrics, SINK_DELIVERY_TIME, clock_now_us() - begin_us, 1);
    return verdict;
}

/* What is not delivered when it returns goes back into the channel; retry_us says so. */
static void
runner_deliver(SinkRunner *self, Lease *taken /* (transfer full) */)
{
    g_autoptr(Lease) lease = taken;

    self->retry_us = 0;
    while (lease->n_events > 0) {
        g_autoptr(GError) error = NULL;
        guint done = 0;
        Verdict verdict = runner_attempt(self, lease, &done, &error);

        g_assert(done <= lease->n_events);
        g_assert(verdict != DELIVERED || done == lease->n_events);
        g_assert(verdict != DELIVERY_REJECTED || done < lease->n_events);
        g_assert((verdict == DELIVERED) == (error == NULL));
        runner_commit_delivered(self, lease, done);
        if (verdict == DELIVERY_RETRY) {
            runner_note_failure(self, error);
            return;
        }
        if (verdict == DELIVERY_REJECTED)
            runner_commit_rejected(self, lease, error);
        else
            runner_note_success(self);
    }
    atomic_store(&self->undelivered_since_us, 0);
}

/* ---- the loop ---- */

static gint64
runner_next_tick_us(const SinkRunner *self)
{
    const SinkType *type = sink_type(self->sink);

    return type->tick != NULL ? type->next_tick_us(self->sink) : CLOCK_NEVER;
}

static void
runner_tick_if_due(SinkRunner *self)
{
    if (runner_next_tick_us(self) <= clock_now_us())
        sink_type(self->sink)->tick(self->sink);
}

/* FALSE when the phase has changed. No lease is held, and ticks go on. */
static gboolean
runner_wait_out_backoff(SinkRunner *self)
{
    while (self->retry_us > clock_now_us()) {
        gint64 wake_us = MIN(self->retry_us, runner_next_tick_us(self));
        Phase phase;

        g_mutex_lock(&self->lock);
        while (self->phase == PHASE_RUN && g_cond_wait_until(&self->changed, &self->lock, wake_us))
            ;
        phase = self->phase;
        g_mutex_unlock(&self->lock);
        if (phase != PHASE_RUN)
            return FALSE;
        runner_tick_if_due(self);
    }
    return TRUE;
}

/* NULL when there is nothing, or a tick is due. */
static Lease *
runner_take(SinkRunner *self, const gint *stop, gint64 deadline_us)
{
    Sink *sink = self->sink;
    TakeLimits limits = {
        .max_events = (guint) sink->batch_size,
        .max_bytes = (gsize) sink->batch_bytes,
        .linger_us = g_atomic_int_get(&self->hurry) ? 0 : sink->linger_us,
        .stop = stop,
    };
    Lease *lease = channel_take(sink->channel, &limits, deadline_us);
    gint64 none = 0;

    if (lease == NULL) {
        metric_add(sink->base.metrics, SINK_BATCHES_EMPTY, 1);
        return NULL;
    }
    metric_add(sink->base.metrics,
               lease->n_events >= sink->batch_size ? SINK_BATCHES_COMPLETE : SINK_BATCHES_UNDERFLOW,
               1);
    atomic_compare_exchange_strong(&self->undelivered_since_us, &none, clock_now_us());
    return lease;
}

static void
runner_run(SinkRunner *self)
{
    while (runner_phase(self) == PHASE_RUN) {
        Lease *lease;

        runner_tick_if_due(self);
        if (!runner_wait_out_backoff(self))
            return;
        lease = runner_take(self, &self->hurry, runner_next_tick_us(self));
        if (lease != NULL)
            runner_deliver(self, lease);
    }
}

static void
runner_pause_draining(SinkRunner *self)
{
    gint64 until_us = clock_now_us() + SINK_DRAIN_BACKOFF_US;

    g_mutex_lock(&self->lock);
    while (self->phase == PHASE_DRAIN && g_cond_wait_until(&self->changed, &self->lock, until_us))
        ;
    g_mutex_unlock(&self->lock);
}

static void
runner_drain(SinkRunner *self)
{
    static const gint keep_waiting = 0;

    while (runner_phase(self) == PHASE_DRAIN && channel_n_events(self->sink->channel) > 0) {
        Lease *lease = runner_take(self, &keep_waiting, clock_now_us() + ENDING_INTERVAL_US);

        if (lease == NULL)
            continue;
        runner_deliver(self, lease);
        if (self->retry_us != 0)
            runner_pause_draining(self);
    }
}

static void
runner_attempt_once(SinkRunner *self)
{
    Lease *lease = runner_take(self, &self->hurry, clock_now_us());

    if (lease != NULL)
        runner_deliver(self, lease);
}

static gpointer
runner_thread(gpointer user)
{
    SinkRunner *self = user;
    Phase phase;

    log_name_thread(self->sink->base.name);
    runner_run(self);
    phase = runner_phase(self);
    if (phase == PHASE_LAST_ATTEMPT)
        runner_attempt_once(self);
    else if (phase == PHASE_DRAIN)
        runner_drain(self);

    g_mutex_lock(&self->lock);
    self->ended = TRUE;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
    return NULL;
}

/* ---- called by others ---- */

gboolean
sink_runner_start(SinkRunner *self, GError **error)
{
    self->thread = g_thread_try_new(NULL, runner_thread, self, error);
    return self->thread != NULL;
}

static void
runner_enter_phase(SinkRunner *self, Phase phase)
{
    if (self->thread == NULL) /* then the channel may not even be open */
        return;
    g_mutex_lock(&self->lock);
    self->phase = MAX(self->phase, phase);
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
    g_atomic_int_set(&self->hurry, 1);
    channel_wake(self->sink->channel);
}

void
sink_runner_finish(SinkRunner *self, gboolean drain)
{
    runner_enter_phase(self, drain ? PHASE_DRAIN : PHASE_LAST_ATTEMPT);
}

gboolean
sink_runner_wait(SinkRunner *self, gint64 deadline_us)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    while (self->thread != NULL && !self->ended)
        if (!g_cond_wait_until(&self->changed, &self->lock, deadline_us))
            return self->ended;
    return TRUE;
}

void
sink_runner_interrupt(SinkRunner *self)
{
    const SinkType *type = sink_type(self->sink);

    runner_enter_phase(self, PHASE_INTERRUPTED);
    /* Again and again: an interrupt that comes just before deliver begins is lost on some sinks. */
    do {
        if (type->interrupt != NULL && !sink_runner_wait(self, 0))
            type->interrupt(self->sink);
    } while (!sink_runner_wait(self, clock_now_us() + ENDING_INTERVAL_US));
    g_clear_pointer(&self->thread, g_thread_join);
}

const char *
sink_runner_trouble(SinkRunner *self)
{
    gint64 since_us = atomic_load(&self->undelivered_since_us);

    if (since_us == 0 || clock_now_us() - since_us < TROUBLE_AFTER_US ||
        channel_n_events(self->sink->channel) == 0)
        return NULL;
    return "events wait and nothing was delivered for 30 s";
}
