/* file_channel_put.c - puts: room is reserved, then they are the writer's. */
#include "agent/channels/file_channel/file_channel.h"
#include "base/clock.h"
#include "base/quantity.h"

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
    return file_channel_has_disk(self) &&
           self->stored_events + self->reserved_events + put->header.count <= self->base.capacity &&
           self->stored_bytes + self->reserved_bytes + put_charge(put) <= self->base.byte_capacity;
}

/* From here on the put is under way: it cannot be cancelled. */
static void
file_channel_admit(FileChannel *self, LogPut *put)
{
    Ticket *ticket = put->owner;

    self->reserved_events += put->header.count;
    self->reserved_bytes += put_charge(put);
    ticket->channel = NULL;
    ticket->data = NULL;
    g_queue_push_tail_link(&self->puts, &put->link);
    if (self->puts.length == 1)
        g_cond_signal(&self->work);
}

void
file_channel_admit_pending(FileChannel *self)
{
    while (self->pending.head != NULL && self->trouble == NULL) {
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
}

/* FALSE and an error: the put is refused at once. */
static gboolean
file_channel_queue_put(FileChannel *self, LogPut *put, GError **error)
{
    Ticket *ticket = put->owner;

    if (!self->is_open) {
        g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_CLOSED, "channel '%s' is closed",
                    self->base.base.name);
        return FALSE;
    }
    if (self->trouble != NULL) {
        g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_IO, "channel '%s': %s: %s",
                    self->base.base.name, self->trouble, self->trouble_detail);
        metric_add(self->base.base.part_metrics, FILE_CHANNEL_REFUSED, put->header.count);
        return FALSE;
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
    file_channel_show(self);
    return TRUE;
}

/* ---- operations ---- */

static gboolean
file_channel_can_ever_hold(const FileChannel *self, const Batch *batch, GError **error)
{
    guint64 charge = batch_span(batch, 0, batch->n_events).length + RECORD_HEADER_SIZE;
    g_autofree char *size = NULL;
    g_autofree char *limit = NULL;

    if (batch->n_events > self->base.capacity) {
        g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE,
                    "a batch of %u events is larger than the whole channel '%s'; raise its "
                    "capacity (%" G_GUINT64_FORMAT ") or send smaller batches",
                    batch->n_events, self->base.base.name, self->base.capacity);
        return FALSE;
    }
    if (charge <= self->base.byte_capacity)
        return TRUE;
    size = quantity_size_to_text_beside(charge, self->base.byte_capacity);
    limit = quantity_size_to_text_beside(self->base.byte_capacity, charge);
    g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE,
                "a batch of %s is larger than the whole channel '%s'; raise its byte-capacity "
                "(%s) or send smaller batches",
                size, self->base.base.name, limit);
    return FALSE;
}

PutResult
file_channel_put(Channel *channel, Batch *batch, Ticket *ticket, GError **error)
{
    FileChannel *self = file_channel_of(channel);
    g_autoptr(LogPut) put = NULL;
    gboolean queued;

    if (!file_channel_can_ever_hold(self, batch, error))
        return PUT_FAILED;
    /* The checksum and the squeezing are done here, by as many threads as put. */
    put = log_put_new(batch, self->options.compression);
    put->owner = ticket;
    g_mutex_lock(&self->lock);
    queued = file_channel_queue_put(self, put, error);
    if (queued)
        g_steal_pointer(&put);
    g_mutex_unlock(&self->lock);
    return queued ? PUT_PENDING : PUT_FAILED;
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
