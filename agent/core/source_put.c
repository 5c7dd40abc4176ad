/* source_put.c - a put that waits, for sources that have a thread. */
#include "agent/core/source.h"

#include "base/clock.h"

typedef struct {
    Put put;
    Source *source;
} WaitingPut;

static void
waiting_put_ready(Put *put)
{
    Source *source = ((WaitingPut *) put)->source;

    g_mutex_lock(&source->put_lock);
    source->put_is_ready = TRUE;
    g_cond_signal(&source->put_woken);
    g_mutex_unlock(&source->put_lock);
}

/* FALSE at the deadline, or when the source is to stop. */
static gboolean
waiting_put_wait(WaitingPut *self, gint64 deadline_us)
{
    Source *source = self->source;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&source->put_lock);

    while (!source->put_is_ready && !g_atomic_int_get(&source->stopping))
        if (!clock_cond_wait_until(&source->put_woken, &source->put_lock, deadline_us))
            break;
    return source->put_is_ready;
}

/* Only after channel_processor_expire has said that ready is under way. */
static void
waiting_put_wait_until_ready(WaitingPut *self)
{
    Source *source = self->source;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&source->put_lock);

    while (!source->put_is_ready)
        g_cond_wait(&source->put_woken, &source->put_lock);
}

static gboolean
put_and_wait(Source *self, Batch *batch, GError **error)
{
    WaitingPut waiting = { .put = { .ready = waiting_put_ready }, .source = self };
    PutResult result;

    self->put_is_ready = FALSE; /* nobody else looks before the put */
    result = channel_processor_put(self->processor, batch, &waiting.put, error);
    if (result != PUT_PENDING)
        return result == PUT_DONE;
    if (!waiting_put_wait(&waiting, waiting.put.deadline_us) &&
        !channel_processor_expire(&waiting.put))
        waiting_put_wait_until_ready(&waiting);
    return channel_processor_finish(&waiting.put, error);
}

gboolean
source_put(Source *self, Batch *batch, GError **error)
{
    MetricSet *metrics = self->base.metrics;

    metric_add(metrics, SOURCE_BATCHES_RECEIVED, 1);
    metric_add(metrics, SOURCE_EVENTS_RECEIVED, batch->n_events);
    if (!put_and_wait(self, batch, error)) {
        metric_add(metrics, SOURCE_EVENTS_REFUSED, batch->n_events);
        return FALSE;
    }
    metric_add(metrics, SOURCE_BATCHES_ACCEPTED, 1);
    metric_add(metrics, SOURCE_EVENTS_ACCEPTED, batch->n_events);
    return TRUE;
}

void
source_interrupt_put(Source *self)
{
    g_mutex_lock(&self->put_lock);
    g_cond_signal(&self->put_woken);
    g_mutex_unlock(&self->put_lock);
}
