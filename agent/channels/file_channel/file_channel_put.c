/* file_channel_put.c - puts: room is reserved, then they are the writer's. */
#include "agent/channels/file_channel/file_channel.h"
#include "agent/channels/file_channel/file_channel_spill.h"
#include "base/clock.h"

static guint64
put_charge(const LogPut *put)
{
    return log_run_charge(put->run, 0, put->header.count);
}

/* ---- with the lock held ---- */

/* Segments are removed in their order, so that one lease that is kept for long keeps all that come
 * behind it. That too has a bound; it leaves room for one segment that is being consumed, one that
 * is being filled, and what the log itself takes. */
static gboolean
file_channel_has_disk(const FileChannel *self)
{
    return self->disk_bytes <=
           self->base.byte_capacity + self->base.byte_capacity / 4 + 2 * self->options.segment_size;
}

static gboolean
file_channel_has_room(const FileChannel *self, const LogPut *put)
{
    return file_channel_has_disk(self) && file_channel_memory_has_room(self, put->run->batch) &&
           self->stored_events + self->reserved_events + put->header.count <= self->base.capacity &&
           self->stored_bytes + self->reserved_bytes + put_charge(put) <= self->base.byte_capacity;
}

/* From here on the put is under way: it cannot be cancelled. */
static void
file_channel_admit(FileChannel *self, LogPut *put)
{
    Ticket *ticket = put->owner;

    ticket->channel = NULL;
    ticket->data = NULL;
    if (file_channel_is_spillable(self)) {
        file_channel_remember(self, put->run);
        log_put_free(put);
        g_queue_push_tail_link(&self->answered, &ticket->link);
        g_cond_signal(&self->work);
        return;
    }
    self->reserved_events += put->header.count;
    self->reserved_bytes += put_charge(put);
    g_queue_push_tail_link(&self->puts, &put->link);
    if (self->puts.length == 1)
        g_cond_signal(&self->work);
}

void
file_channel_admit_pending(FileChannel *self)
{
    while (self->pending.head != NULL &&
           (self->trouble == NULL || file_channel_is_spillable(self))) {
        Ticket *ticket = self->pending.head->data;

        if (!file_channel_has_room(self, ticket->data))
            return;
        g_queue_unlink(&self->pending, &ticket->link);
        file_channel_admit(self, ticket->data);
    }
}

void
file_channel_measure(FileChannel *self)
{
    self->disk_bytes = segment_list_bytes(&self->segments);
    metric_set(self->base.base.part_metrics, FILE_CHANNEL_DISK_BYTES, self->disk_bytes);
    metric_set(self->base.base.part_metrics, FILE_CHANNEL_SEGMENTS,
               segment_list_length(&self->segments));
}

void
file_channel_show(FileChannel *self)
{
    MetricSet *metrics = self->base.base.metrics;

    self->stock.puts_wait = self->pending.head != NULL;
    take_waiters_notify(&self->waiters, &self->stock);
    metric_set(metrics, CHANNEL_EVENTS, self->stored_events + self->reserved_events);
    metric_set(metrics, CHANNEL_BYTES, self->stored_bytes + self->reserved_bytes);
    metric_set(self->base.base.part_metrics, FILE_CHANNEL_MEMORY, self->memory.n_events);
}

/* PUT_PENDING: the put is the channel's, otherwise the caller's. */
static PutResult
file_channel_queue_put(FileChannel *self, LogPut *put, GError **error)
{
    Ticket *ticket = put->owner;

    if (!self->is_open) {
        g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_CLOSED, "channel '%s' is closed",
                    self->base.base.name);
        return PUT_FAILED;
    }
    if (file_channel_is_spillable(self) && self->pending.head == NULL &&
        file_channel_has_room(self, put)) {
        file_channel_remember(self, put->run);
        file_channel_show(self);
        return PUT_DONE;
    }
    if (self->trouble != NULL) {
        g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_IO, "channel '%s': %s: %s",
                    self->base.base.name, self->trouble, self->trouble_detail);
        metric_add(self->base.base.part_metrics, FILE_CHANNEL_REFUSED, put->header.count);
        return PUT_FAILED;
    }
    ticket->channel = &self->base;
    ticket->put_us = clock_now_us();
    ticket->batch = batch_ref(put->run->batch);
    ticket->data = put;
    ticket->link = (GList){ .data = ticket };
    if (self->pending.head == NULL && file_channel_has_room(self, put))
        file_channel_admit(self, put);
    else
        g_queue_push_tail_link(&self->pending, &ticket->link);
    if (file_channel_should_spill(self))
        g_cond_signal(&self->work);
    file_channel_show(self);
    return PUT_PENDING;
}

/* ---- operations ---- */

PutResult
file_channel_put(Channel *channel, Batch *batch, Ticket *ticket, GError **error)
{
    FileChannel *self = file_channel_of(channel);
    g_autoptr(LogPut) put = NULL;
    PutResult result;

    if (!channel_can_ever_hold(channel, batch, batch_n_bytes(batch) + RECORD_HEADER_SIZE, error))
        return PUT_FAILED;
    put = log_put_new(batch);
    put->owner = ticket;
    /* The checksum and the squeezing are done here, by as many threads as put. */
    if (!file_channel_is_spillable(self))
        log_put_prepare(put, self->options.compression);
    g_mutex_lock(&self->lock);
    result = file_channel_queue_put(self, put, error);
    if (result == PUT_PENDING)
        g_steal_pointer(&put);
    g_mutex_unlock(&self->lock);
    return result;
}

gboolean
file_channel_put_cancel(Channel *channel, Ticket *ticket)
{
    FileChannel *self = file_channel_of(channel);
    gboolean waited;

    g_mutex_lock(&self->lock);
    waited = ticket->channel != NULL;
    if (waited) {
        g_queue_unlink(&self->pending, &ticket->link);
        ticket->channel = NULL;
        file_channel_admit_pending(self); /* it may have been in the way of smaller ones */
        file_channel_show(self);
    }
    g_mutex_unlock(&self->lock);
    if (waited) {
        log_put_free(g_steal_pointer(&ticket->data));
        g_clear_pointer(&ticket->batch, batch_unref);
    }
    return waited;
}
