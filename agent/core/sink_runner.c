/* sink_runner.c - the thread of one sink: back-off, ticks, and the ways to stop. */
#include "agent/core/sink_runner.h"

#include "agent/core/sink_worker.h"
#include "base/clock.h"
#include "base/log.h"

#define TROUBLE_AFTER_US (30 * G_USEC_PER_SEC)
/* How often a drain looks whether another sink has put back what it had leased from the channel,
 * and how often a sink that must end is told so. */
#define ENDING_INTERVAL_US (50 * 1000)

typedef enum { PHASE_RUN, PHASE_LAST_ATTEMPT, PHASE_DRAIN, PHASE_INTERRUPTED } Phase;

struct SinkRunner {
    SinkWorker worker;
    GThread *thread; /* NULL: not started, or joined */

    GMutex lock; /* guards the rest */
    GCond changed;
    Phase phase;
    gboolean ended;
    gboolean retries_now; /* the back-off is over */
};

static void
runner_retry_now(gpointer runner)
{
    SinkRunner *self = runner;

    g_mutex_lock(&self->lock);
    self->retries_now = TRUE;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
}

SinkRunner *
sink_runner_new(Sink *sink)
{
    SinkRunner *self = g_new0(SinkRunner, 1);

    sink_worker_init(&self->worker, sink);
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    sink->retry = runner_retry_now;
    sink->runner = self;
    return self;
}

void
sink_runner_free(SinkRunner *self)
{
    if (self == NULL)
        return;
    g_assert(self->thread == NULL);
    self->worker.sink->retry = NULL;
    sink_worker_clear(&self->worker);
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

/* ---- the loop ---- */

static gint64
runner_next_tick_us(const SinkRunner *self)
{
    const SinkType *type = sink_type(self->worker.sink);

    return type->tick != NULL ? type->next_tick_us(self->worker.sink) : CLOCK_NEVER;
}

static void
runner_tick_if_due(SinkRunner *self)
{
    if (runner_next_tick_us(self) <= clock_now_us())
        sink_type(self->worker.sink)->tick(self->worker.sink);
}

/* FALSE when the phase has changed. No lease is held, and ticks go on. */
static gboolean
runner_wait_out_backoff(SinkRunner *self)
{
    while (self->worker.retry_us > clock_now_us()) {
        gint64 wake_us = MIN(self->worker.retry_us, runner_next_tick_us(self));
        Phase phase;

        g_mutex_lock(&self->lock);
        while (self->phase == PHASE_RUN && !self->retries_now &&
               g_cond_wait_until(&self->changed, &self->lock, wake_us))
            ;
        phase = self->phase;
        if (self->retries_now)
            self->worker.retry_us = 0;
        self->retries_now = FALSE;
        g_mutex_unlock(&self->lock);
        if (phase != PHASE_RUN)
            return FALSE;
        runner_tick_if_due(self);
    }
    return TRUE;
}

/* What is called for from now on is about the attempt that comes. */
static void
runner_begin_attempt(SinkRunner *self)
{
    g_mutex_lock(&self->lock);
    self->retries_now = FALSE;
    g_mutex_unlock(&self->lock);
}

static void
runner_run(SinkRunner *self)
{
    while (runner_phase(self) == PHASE_RUN) {
        runner_tick_if_due(self);
        if (!runner_wait_out_backoff(self))
            return;
        runner_begin_attempt(self);
        sink_worker_step(&self->worker, &self->worker.hurry, runner_next_tick_us(self));
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

    while (runner_phase(self) == PHASE_DRAIN && channel_n_events(self->worker.sink->channel) > 0) {
        sink_worker_step(&self->worker, &keep_waiting, clock_now_us() + ENDING_INTERVAL_US);
        if (self->worker.retry_us != 0)
            runner_pause_draining(self);
    }
}

static gpointer
runner_thread(gpointer user)
{
    SinkRunner *self = user;
    Phase phase;

    log_name_thread(self->worker.sink->base.name);
    runner_run(self);
    phase = runner_phase(self);
    if (phase == PHASE_LAST_ATTEMPT)
        sink_worker_step(&self->worker, &self->worker.hurry, clock_now_us());
    else if (phase == PHASE_DRAIN)
        runner_drain(self);
    sink_worker_end(&self->worker);

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
    const Sink *sink = self->worker.sink;

    if (self->thread == NULL) /* then the channel may not even be open */
        return;
    g_mutex_lock(&self->lock);
    self->phase = MAX(self->phase, phase);
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
    sink_worker_hurry(&self->worker);
    if (sink->group != NULL)
        sink_group_forgive(sink->group);
    channel_wake(sink->channel);
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
sink_runner_reroute(SinkRunner *self, gint64 since_us)
{
    if (!sink_runner_wait(self, 0))
        sink_worker_reroute(&self->worker, since_us);
}

void
sink_runner_interrupt(SinkRunner *self)
{
    runner_enter_phase(self, PHASE_INTERRUPTED);
    /* Again and again: an interrupt that comes just before deliver begins is lost on some sinks. */
    do {
        if (!sink_runner_wait(self, 0))
            sink_worker_interrupt(&self->worker);
    } while (!sink_runner_wait(self, clock_now_us() + ENDING_INTERVAL_US));
    g_clear_pointer(&self->thread, g_thread_join);
}

const char *
sink_runner_trouble(SinkRunner *self)
{
    Sink *sink = self->worker.sink;
    const char *trouble = sink_type(sink)->trouble != NULL ? sink_type(sink)->trouble(sink) : NULL;
    gint64 since_us = sink_worker_undelivered_since_us(&self->worker);

    if (sink->group != NULL && sink_group_has_live(sink->group)) /* then others deliver */
        return NULL;
    if (trouble != NULL)
        return trouble;
    if (since_us == 0 || clock_now_us() - since_us < TROUBLE_AFTER_US ||
        channel_n_events(sink->channel) == 0)
        return NULL;
    return "events wait and nothing was delivered for 30 s";
}
