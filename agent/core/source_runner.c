/* source_runner.c - starts and stops one source, on a thread of its own if the source wants one. */
#include "agent/core/source_runner.h"

#include "base/clock.h"
#include "base/log.h"

/* How often a source that must end is told so. */
#define ENDING_INTERVAL_US (50 * 1000)

struct SourceRunner {
    Source *source;
    GThread *thread; /* of a source with `run`, while it is not joined */
    gboolean started;

    GMutex lock; /* guards ended */
    GCond changed;
    gboolean ended;
};

SourceRunner *
source_runner_new(Source *source)
{
    SourceRunner *self = g_new0(SourceRunner, 1);

    self->source = source;
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    return self;
}

void
source_runner_free(SourceRunner *self)
{
    if (self == NULL)
        return;
    g_assert(!self->started);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->changed);
    g_free(self);
}

static gpointer
runner_thread(gpointer user)
{
    SourceRunner *self = user;
    Source *source = self->source;

    log_name_thread(source->base.name);
    source_type(source)->run(source);
    if (!g_atomic_int_get(&source->stopping))
        log_info("source has nothing more to send", LOG_TEXT("source", source->base.name));

    g_mutex_lock(&self->lock);
    self->ended = TRUE;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
    return NULL;
}

gboolean
source_runner_start(SourceRunner *self, GError **error)
{
    const SourceType *type = source_type(self->source);

    if (type->run != NULL)
        self->thread = g_thread_try_new(NULL, runner_thread, self, error);
    self->started = type->run != NULL ? self->thread != NULL : type->start(self->source, error);
    if (!self->started)
        g_prefix_error(error, "source '%s': ", self->source->base.name);
    return self->started;
}

static gboolean
runner_wait(SourceRunner *self, gint64 deadline_us)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    while (!self->ended)
        if (!g_cond_wait_until(&self->changed, &self->lock, deadline_us))
            return self->ended;
    return TRUE;
}

/* Again and again: an interrupt that comes just before the source begins to wait may be lost. */
static void
runner_end_thread(SourceRunner *self)
{
    do {
        source_type(self->source)->interrupt(self->source);
    } while (!runner_wait(self, clock_now_us() + ENDING_INTERVAL_US));
    g_clear_pointer(&self->thread, g_thread_join);
}

void
source_runner_begin_stop(SourceRunner *self, gint64 answer_deadline_us, gint64 deadline_us)
{
    const SourceType *type = source_type(self->source);

    if (!self->started)
        return;
    g_atomic_int_set(&self->source->stopping, 1);
    channel_processor_refuse_from(self->source->processor, answer_deadline_us);
    if (self->thread != NULL)
        type->interrupt(self->source);
    else
        type->begin_stop(self->source, answer_deadline_us, deadline_us);
}

void
source_runner_finish_stop(SourceRunner *self)
{
    if (!self->started)
        return;
    self->started = FALSE;
    if (self->thread != NULL)
        runner_end_thread(self);
    else
        source_type(self->source)->finish_stop(self->source);
}
