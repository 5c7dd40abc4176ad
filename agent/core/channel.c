/* channel.c - what every channel does alike: rows, counting, the bookkeeping of a lease. */
#include "agent/core/channel.h"

#include "base/clock.h"
#include "base/quantity.h"

G_DEFINE_QUARK(leat_channel_error, channel_error)

const OptionSpec channel_options[] = {
    { .name = "capacity",
      OPTION_AT(COUNT, Channel, capacity),
      .fallback = "1000000",
      .min = 1,
      .help = "Events the channel holds at the most, those on their way to a sink included." },
    { .name = "put-timeout",
      OPTION_AT(DURATION, Channel, put_timeout_us),
      .fallback = "3s",
      .help = "How long a put waits for room before it is refused; 0 refuses at once." },
    { 0 },
};

const MetricSpec channel_metrics[N_CHANNEL_METRICS + 1] = {
    [CHANNEL_PUT_ATTEMPTS] = { .name = "leat_channel_put_attempts_total",
                               .help = "Events that were to be put into the channel.",
                               .flume = "EventPutAttemptCount" },
    [CHANNEL_PUT_SUCCESSES] = { .name = "leat_channel_put_events_total",
                                .help = "Events that were put into the channel.",
                                .flume = "EventPutSuccessCount" },
    [CHANNEL_TAKE_ATTEMPTS] = { .name = "leat_channel_take_attempts_total",
                                .help = "Events that were leased to a sink, and takes that found "
                                        "nothing.",
                                .flume = "EventTakeAttemptCount" },
    [CHANNEL_TAKE_SUCCESSES] = { .name = "leat_channel_take_events_total",
                                 .help = "Events that left the channel for good.",
                                 .flume = "EventTakeSuccessCount" },
    [CHANNEL_EVENTS] = { .name = "leat_channel_events",
                         .kind = METRIC_GAUGE,
                         .help = "Events in the channel, leased ones included.",
                         .flume = "ChannelSize" },
    [CHANNEL_BYTES] = { .name = "leat_channel_bytes",
                        .kind = METRIC_GAUGE,
                        .help = "Bytes that the channel's events are charged for." },
    [CHANNEL_CAPACITY] = { .name = "leat_channel_capacity_events",
                           .kind = METRIC_GAUGE,
                           .help = "Events the channel holds at the most.",
                           .flume = "ChannelCapacity" },
    [CHANNEL_BYTE_CAPACITY] = { .name = "leat_channel_capacity_bytes",
                                .kind = METRIC_GAUGE,
                                .help = "Bytes the channel's events may be charged for." },
    [CHANNEL_EVENTS_LOST] = { .name = "leat_channel_events_lost_total",
                              .help = "Events that were still in the channel when the time to "
                                      "stop was over." },
    [CHANNEL_PUT_TIME] = { .name = "leat_channel_put_seconds",
                           .kind = METRIC_HISTOGRAM,
                           .help = "How long puts waited that succeeded; one that is done at "
                                   "once counts as 0." },
    [CHANNEL_RESIDENCE_TIME] = { .name = "leat_channel_residence_seconds",
                                 .kind = METRIC_HISTOGRAM,
                                 .help = "How long events were in the channel, from put to "
                                         "commit. An event in a file whose age would be negative "
                                         "or above ten years, as the clock was set, is left "
                                         "out." },
};

/* ---- put ---- */

static void
channel_count_put(Channel *self, guint n_events, gint64 took_us)
{
    metric_add(self->base.metrics, CHANNEL_PUT_SUCCESSES, n_events);
    metric_observe_us(self->base.metrics, CHANNEL_PUT_TIME, (guint64) took_us, 1);
}

gboolean
channel_can_ever_hold(const Channel *self, const Batch *batch, guint64 n_bytes, GError **error)
{
    g_autofree char *size = NULL;
    g_autofree char *limit = NULL;

    if (batch->n_events > self->capacity) {
        g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE,
                    "a batch of %u events is larger than the whole channel '%s'; raise its "
                    "capacity (%" G_GUINT64_FORMAT ") or send smaller batches",
                    batch->n_events, self->base.name, self->capacity);
        return FALSE;
    }
    if (n_bytes <= self->byte_capacity)
        return TRUE;
    size = quantity_size_to_text_beside(n_bytes, self->byte_capacity);
    limit = quantity_size_to_text_beside(self->byte_capacity, n_bytes);
    g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE,
                "a batch of %s is larger than the whole channel '%s'; raise its byte-capacity "
                "(%s) or send smaller batches",
                size, self->base.name, limit);
    return FALSE;
}

PutResult
channel_put(Channel *self, Batch *batch, Ticket *ticket, GError **error)
{
    PutResult result;

    if (batch->n_events == 0)
        return PUT_DONE;
    metric_add(self->base.metrics, CHANNEL_PUT_ATTEMPTS, batch->n_events);
    result = channel_type(self)->put(self, batch, ticket, error);
    if (result == PUT_DONE)
        channel_count_put(self, batch->n_events, 0); /* two looks at the clock would cost more */
    return result;
}

gint64
channel_put_deadline_us(const Channel *self, const Ticket *ticket)
{
    return ticket->rest_until_us > 0 ? ticket->rest_until_us
                                     : clock_deadline_us(self->put_timeout_us);
}

gboolean
channel_put_cancel(Channel *self, Ticket *ticket)
{
    return channel_type(self)->put_cancel(self, ticket);
}

void
channel_complete_put(Channel *self, Ticket *ticket, GError *error)
{
    if (error == NULL)
        channel_count_put(self, ticket->batch->n_events, clock_now_us() - ticket->put_us);
    g_clear_pointer(&ticket->batch, batch_unref);
    ticket->error = error;
    ticket->done(ticket);
}

/* ---- take ---- */

Lease *
channel_take(Channel *self, const TakeLimits *limits, gint64 deadline_us)
{
    Lease *lease = channel_type(self)->take(self, limits, deadline_us);

    metric_add(self->base.metrics, CHANNEL_TAKE_ATTEMPTS, lease != NULL ? lease->n_events : 1);
    return lease;
}

void
lease_commit(Lease *self, guint n_events)
{
    g_assert(n_events <= self->n_events);
    if (n_events == 0)
        return;
    channel_type(self->channel)->commit(self, n_events);
    metric_add(self->channel->base.metrics, CHANNEL_TAKE_SUCCESSES, n_events);
}

void
lease_rollback(Lease *self)
{
    if (self != NULL)
        channel_type(self->channel)->rollback(self);
}

void
channel_wake(Channel *self)
{
    channel_type(self)->wake(self);
}

/* ---- state ---- */

guint64
channel_n_events(Channel *self)
{
    return channel_type(self)->n_events(self);
}

guint64
channel_byte_capacity(const Channel *self)
{
    return self->byte_capacity;
}

gboolean
channel_is_durable(const Channel *self)
{
    return channel_type(self)->durable;
}

const char *
channel_trouble(Channel *self)
{
    return channel_type(self)->trouble != NULL ? channel_type(self)->trouble(self) : NULL;
}

void
channel_show_capacity(Channel *self)
{
    metric_set(self->base.metrics, CHANNEL_CAPACITY, self->capacity);
    metric_set(self->base.metrics, CHANNEL_BYTE_CAPACITY, self->byte_capacity);
}

/* ---- the bookkeeping of a lease ---- */

void
lease_init(Lease *self, Channel *channel)
{
    self->channel = channel;
    self->slices = g_array_sized_new(FALSE, FALSE, sizeof(BatchSlice), 8);
}

void
lease_clear(Lease *self)
{
    g_array_unref(self->slices);
}

/* How many of count events from first on fit into max_bytes. */
static guint
count_within(const Batch *batch, guint first, guint count, gsize max_bytes)
{
    guint low = 0;
    guint high = count;

    if (batch_span(batch, first, count).length <= max_bytes)
        return count;
    while (high - low > 1) {
        guint middle = low + (high - low) / 2;

        if (batch_span(batch, first, middle).length <= max_bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

guint
lease_count_for(const Lease *self, const TakeLimits *limits, const Batch *batch, guint first,
                guint count)
{
    guint left = MAX(limits->max_events, 1) - self->n_events;
    gsize bytes_left = limits->max_bytes > self->n_bytes ? limits->max_bytes - self->n_bytes : 0;
    guint fitting = count_within(batch, first, MIN(left, count), bytes_left);

    return self->n_events == 0 ? MAX(fitting, 1) : fitting;
}

void
lease_add_slice(Lease *self, Batch *batch, guint first, guint count, guint64 seq)
{
    BatchSlice slice = { .batch = batch, .first = first, .count = count };

    if (self->n_events == 0)
        self->first = seq;
    g_array_append_val(self->slices, slice);
    self->n_events += count;
    self->n_bytes += batch_span(batch, first, count).length;
}

void
lease_forget(Lease *self, guint n_events)
{
    guint n_whole = 0;

    self->n_events -= n_events;
    while (n_events > 0) {
        BatchSlice *slice = &g_array_index(self->slices, BatchSlice, n_whole);
        guint n = MIN(n_events, slice->count);

        self->n_bytes -= batch_span(slice->batch, slice->first, n).length;
        n_events -= n;
        slice->first += n;
        slice->count -= n;
        if (slice->count == 0)
            n_whole++;
    }
    if (n_whole > 0)
        g_array_remove_range(self->slices, 0, n_whole);
}
