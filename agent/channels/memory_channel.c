/* memory_channel.c - whole batches in memory, first in first out. */
#include "agent/core/channel.h"

#include "agent/channels/memory_queue.h"
#include "agent/channels/memory_rest.h"
#include "agent/core/take_waiters.h"
#include "base/clock.h"

typedef struct {
    Channel base;

    GMutex lock; /* guards the rest, and every run */
    gboolean is_open;
    MemoryQueue queue;
    GQueue pending; /* tickets, first come first served */
    MemoryRest rest;
    TakeWaiters waiters;
} MemoryChannel;

typedef struct {
    Lease base;
    GQueue runs;      /* parallel to slices */
    MemoryRun *spare; /* to cut the last one with */
} MemoryLease;

static MemoryChannel *
memory_channel_of(Channel *channel)
{
    return (MemoryChannel *) channel;
}

/* ---- the lock ---- */

#define LOOKS_BEFORE_SLEEP 30

static inline void
relax_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* It is held for less time than it takes to fall asleep and be woken. */
static void
memory_channel_lock(MemoryChannel *self)
{
    for (guint i = 0; i < LOOKS_BEFORE_SLEEP; i++) {
        if (g_mutex_trylock(&self->lock))
            return;
        relax_processor();
    }
    g_mutex_lock(&self->lock);
}

/* ---- lease ---- */

static MemoryLease *
memory_lease_new(Channel *channel)
{
    MemoryLease *self = g_new0(MemoryLease, 1);

    lease_init(&self->base, channel);
    self->spare = memory_run_new_empty();
    return self;
}

static void
memory_lease_free(MemoryLease *self)
{
    g_assert(self->runs.head == NULL);
    g_clear_pointer(&self->spare, memory_run_free);
    lease_clear(&self->base);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemoryLease, memory_lease_free)

/* ---- with the lock held ---- */

static void
memory_channel_keep_ticket(MemoryChannel *self, Ticket *ticket, Batch *batch, gint64 now_us)
{
    ticket->channel = &self->base;
    ticket->put_us = now_us;
    ticket->batch = batch_ref(batch);
    ticket->link = (GList){ .data = ticket };
}

static void
memory_channel_forget_ticket(MemoryChannel *self, Ticket *ticket)
{
    if (ticket->rest_until_us > 0)
        memory_rest_end(&self->rest, ticket);
    else
        g_queue_unlink(&self->pending, &ticket->link);
    ticket->channel = NULL;
}

static void
memory_channel_forget_all(MemoryChannel *self, const GQueue *line, GQueue *forgotten)
{
    while (line->head != NULL) {
        Ticket *ticket = line->head->data;

        memory_channel_forget_ticket(self, ticket);
        g_queue_push_tail_link(forgotten, &ticket->link);
    }
}

static void
memory_channel_admit_pending(MemoryChannel *self, GQueue *admitted)
{
    while (self->pending.head != NULL) {
        Ticket *ticket = self->pending.head->data;
        MemoryRun *run = ticket->data;

        if (run != NULL)
            run->entry->put_us = clock_now_us();
        if (!memory_queue_admit(&self->queue, ticket->batch, &run))
            return;
        ticket->data = run;
        memory_channel_forget_ticket(self, ticket);
        g_queue_push_tail_link(admitted, &ticket->link);
    }
}

/* Ends every change: what has become possible happens, and the gauges show it. */
static void
memory_channel_settle(MemoryChannel *self, GQueue *admitted)
{
    if (admitted != NULL)
        memory_channel_admit_pending(self, admitted);
    self->queue.stock.puts_wait = self->pending.head != NULL || self->rest.tickets.head != NULL;
    take_waiters_notify(&self->waiters, &self->queue.stock);
    metric_set(self->base.base.metrics, CHANNEL_EVENTS, self->queue.used_events);
    metric_set(self->base.base.metrics, CHANNEL_BYTES, self->queue.used_bytes);
}

/* ---- put ---- */

/* The run of a ticket that did not get into the channel. */
static void
memory_channel_drop_run(Ticket *ticket)
{
    g_autoptr(MemoryRun) run G_GNUC_UNUSED = g_steal_pointer(&ticket->data);
}

/* With no lock held: the owners may do as they like. */
static void
memory_channel_complete(MemoryChannel *self, GQueue *tickets, const GError *error)
{
    GList *link;

    while ((link = g_queue_pop_head_link(tickets)) != NULL) {
        Ticket *ticket = link->data;

        memory_channel_drop_run(ticket);
        channel_complete_put(&self->base, ticket, error != NULL ? g_error_copy(error) : NULL);
    }
}

/* run is NULL for a small batch: those do not rest. */
static PutResult
memory_channel_put_locked(MemoryChannel *self, Batch *batch, MemoryRun **run, Ticket *ticket)
{
    gint64 came_us = *run != NULL ? (*run)->entry->put_us : 0;
    PutResult result = PUT_PENDING;

    if (!self->is_open)
        return PUT_FAILED;
    if (self->pending.head != NULL || !memory_queue_admit(&self->queue, batch, run)) {
        memory_channel_keep_ticket(self, ticket, batch, clock_now_us());
        ticket->data = g_steal_pointer(run);
        g_queue_push_tail_link(&self->pending, &ticket->link);
    } else if (came_us > 0 && memory_rest_is_due(&self->queue, came_us)) {
        memory_channel_keep_ticket(self, ticket, batch, came_us);
        memory_rest_begin(&self->rest, ticket, came_us);
    } else {
        result = PUT_DONE;
    }
    memory_channel_settle(self, NULL);
    return result;
}

static PutResult
memory_channel_put(Channel *channel, Batch *batch, Ticket *ticket, GError **error)
{
    MemoryChannel *self = memory_channel_of(channel);
    g_autoptr(MemoryRun) run = NULL;
    PutResult result;

    if (!channel_can_ever_hold(channel, batch, memory_queue_least_charge(batch), error))
        return PUT_FAILED;
    if (!memory_queue_is_small(batch))
        run = memory_run_new(batch, clock_now_us());
    memory_channel_lock(self);
    result = memory_channel_put_locked(self, batch, &run, ticket);
    g_mutex_unlock(&self->lock);
    if (result == PUT_FAILED)
        g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_CLOSED, "channel '%s' is closed",
                    channel->base.name);
    return result;
}

static gboolean
memory_channel_put_cancel(Channel *channel, Ticket *ticket)
{
    MemoryChannel *self = memory_channel_of(channel);
    GQueue completed = G_QUEUE_INIT;
    gboolean was_kept;
    gboolean waited;

    memory_channel_lock(self);
    was_kept = ticket->channel != NULL;
    waited = was_kept && ticket->rest_until_us == 0;
    if (was_kept)
        memory_channel_forget_ticket(self, ticket);
    if (was_kept && !waited)
        g_queue_push_tail_link(&completed, &ticket->link);
    if (waited)
        memory_channel_settle(self, &completed); /* it may have been in the way of smaller ones */
    g_mutex_unlock(&self->lock);
    if (waited) {
        memory_channel_drop_run(ticket);
        g_clear_pointer(&ticket->batch, batch_unref);
    }
    memory_channel_complete(self, &completed, NULL);
    return waited;
}

/* ---- take ---- */

static Lease *
memory_channel_take(Channel *channel, const TakeLimits *limits, gint64 deadline_us)
{
    MemoryChannel *self = memory_channel_of(channel);
    g_autoptr(MemoryLease) lease = memory_lease_new(channel);

    memory_channel_lock(self);
    if (take_waiters_wait(&self->waiters, &self->lock, &self->queue.stock, limits, deadline_us)) {
        memory_queue_take(&self->queue, limits, &lease->base, &lease->runs, &lease->spare);
        take_waiters_taken(&self->waiters);
        memory_channel_settle(self, NULL);
    }
    g_mutex_unlock(&self->lock);
    if (lease->base.n_events == 0)
        return NULL;
    return &g_steal_pointer(&lease)->base;
}

static void
memory_channel_observe_residence(const MemoryChannel *self, const MemoryLease *lease, guint n)
{
    gint64 now_us = clock_now_us();

    for (const GList *link = lease->runs.head; n > 0; link = link->next) {
        const MemoryRun *run = link->data;
        guint count = MIN(n, run->count);

        metric_observe_us(self->base.base.metrics, CHANNEL_RESIDENCE_TIME,
                          now_us - run->entry->put_us, count);
        n -= count;
    }
}

static void
memory_channel_commit(Lease *base, guint n_events)
{
    MemoryChannel *self = memory_channel_of(base->channel);
    MemoryLease *lease = (MemoryLease *) base;
    gsize n_bytes = base->n_bytes;
    GQueue spent = G_QUEUE_INIT;
    GQueue completed = G_QUEUE_INIT;

    memory_channel_observe_residence(self, lease, n_events);
    lease_forget(base, n_events);
    memory_channel_lock(self);
    memory_queue_commit(&self->queue, &lease->runs, n_events, &spent);
    if (lease->runs.head != NULL)
        base->first = ((const MemoryRun *) lease->runs.head->data)->seq;
    memory_rest_note_committed(&self->rest, n_bytes - base->n_bytes, &completed);
    memory_channel_settle(self, &completed);
    g_mutex_unlock(&self->lock);
    memory_runs_free(&spent);
    memory_channel_complete(self, &completed, NULL);
}

static void
memory_channel_rollback(Lease *base)
{
    MemoryChannel *self = memory_channel_of(base->channel);
    g_autoptr(MemoryLease) lease = (MemoryLease *) base;

    if (base->n_events == 0)
        return;
    memory_channel_lock(self);
    memory_queue_restore(&self->queue, base, &lease->runs);
    memory_channel_settle(self, NULL);
    g_mutex_unlock(&self->lock);
}

static void
memory_channel_wake(Channel *channel)
{
    MemoryChannel *self = memory_channel_of(channel);

    memory_channel_lock(self);
    take_waiters_wake_all(&self->waiters);
    g_mutex_unlock(&self->lock);
}

static guint64
memory_channel_n_events(Channel *channel)
{
    MemoryChannel *self = memory_channel_of(channel);
    guint64 n_events;

    memory_channel_lock(self);
    n_events = self->queue.used_events;
    g_mutex_unlock(&self->lock);
    return n_events;
}

/* ---- life cycle ---- */

static gboolean
memory_channel_open(Component *component, GError **error G_GNUC_UNUSED)
{
    MemoryChannel *self = (MemoryChannel *) component;

    g_mutex_init(&self->lock);
    take_waiters_init(&self->waiters);
    memory_queue_init(&self->queue, self->base.capacity, self->base.byte_capacity);
    self->is_open = TRUE;
    channel_show_capacity(&self->base);
    return TRUE;
}

/* Events stay, for n_events to tell; they go with the channel itself. */
static void
memory_channel_close(Component *component)
{
    MemoryChannel *self = (MemoryChannel *) component;
    g_autoptr(GError) error =
        g_error_new(CHANNEL_ERROR, CHANNEL_ERROR_CLOSED, "channel '%s' is closed", component->name);
    GQueue waiting = G_QUEUE_INIT;
    GQueue resting = G_QUEUE_INIT;

    memory_channel_lock(self);
    self->is_open = FALSE;
    memory_channel_forget_all(self, &self->pending, &waiting);
    memory_channel_forget_all(self, &self->rest.tickets, &resting);
    g_mutex_unlock(&self->lock);
    memory_channel_complete(self, &waiting, error);
    memory_channel_complete(self, &resting, NULL);
}

static void
memory_channel_finalize(Component *component)
{
    MemoryChannel *self = (MemoryChannel *) component;

    memory_queue_clear(&self->queue);
    g_mutex_clear(&self->lock);
}

static const OptionSpec memory_channel_options[] = {
    { .name = "byte-capacity",
      OPTION_AT(SIZE, MemoryChannel, base.byte_capacity),
      .fallback = "256MiB",
      .min = 4096,
      .help = "Bytes of memory that the events may take at the most." },
    { 0 },
};

const ChannelType memory_channel = {
    .base = {
        .name = "memory",
        .summary = "Holds events in memory: fast, and lost if the process dies.",
        .instance_size = sizeof(MemoryChannel),
        .options = memory_channel_options,
        .open = memory_channel_open,
        .close = memory_channel_close,
        .finalize = memory_channel_finalize,
    },
    .put = memory_channel_put,
    .put_cancel = memory_channel_put_cancel,
    .take = memory_channel_take,
    .commit = memory_channel_commit,
    .rollback = memory_channel_rollback,
    .wake = memory_channel_wake,
    .n_events = memory_channel_n_events,
};
