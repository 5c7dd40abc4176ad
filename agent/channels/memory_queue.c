/* memory_queue.c - runs of events in order of sequence numbers; no locks, no limits. */
#include "agent/channels/memory_queue.h"

MemoryRun *
memory_run_new_empty(void)
{
    MemoryRun *self = g_new0(MemoryRun, 1);

    self->link.data = self;
    return self;
}

MemoryRun *
memory_run_new(Batch *batch, gint64 put_us)
{
    MemoryRun *self = memory_run_new_empty();

    self->entry = g_new0(MemoryEntry, 1);
    self->entry->batch = batch_ref(batch);
    self->entry->uncommitted = batch->n_events;
    self->entry->charged = batch->allocated;
    self->entry->put_us = put_us;
    self->count = batch->n_events;
    return self;
}

void
memory_run_free(MemoryRun *self)
{
    if (self->entry != NULL) {
        batch_unref(self->entry->batch);
        g_free(self->entry);
    }
    g_free(self);
}

static gsize
memory_run_n_bytes(const MemoryRun *self, guint count)
{
    return batch_span(self->entry->batch, self->first, count).length;
}

void
memory_queue_push(MemoryQueue *self, MemoryRun *run)
{
    g_queue_push_tail_link(&self->runs, &run->link);
}

/* How many leading events of a run fit into max_bytes. */
static guint
memory_run_count_within(const MemoryRun *self, gsize max_bytes)
{
    guint low = 0;
    guint high = self->count;

    if (memory_run_n_bytes(self, self->count) <= max_bytes)
        return self->count;
    while (high - low > 1) {
        guint middle = low + (high - low) / 2;

        if (memory_run_n_bytes(self, middle) <= max_bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static guint
memory_run_count_for(const MemoryRun *self, const TakeLimits *limits, const Lease *lease)
{
    guint left = MAX(limits->max_events, 1) - lease->n_events;
    gsize bytes_left = limits->max_bytes > lease->n_bytes ? limits->max_bytes - lease->n_bytes : 0;
    guint count = MIN(left, memory_run_count_within(self, bytes_left));

    return lease->n_events == 0 ? MAX(count, 1) : count; /* one event goes even if it is larger */
}

/* Cuts the first count events off into spare. */
static void
memory_run_cut(MemoryRun *self, guint count, MemoryRun *spare)
{
    spare->entry = self->entry;
    spare->first = self->first;
    spare->seq = self->seq;
    spare->count = count;
    self->first += count;
    self->seq += count;
    self->count -= count;
}

gboolean
memory_queue_take(MemoryQueue *self, const TakeLimits *limits, Lease *lease, GQueue *taken,
                  MemoryRun **spare)
{
    while (self->runs.head != NULL) {
        MemoryRun *run = self->runs.head->data;
        guint count = memory_run_count_for(run, limits, lease);

        if (count == 0)
            return TRUE;
        if (count < run->count) {
            memory_run_cut(run, count, *spare);
            run = g_steal_pointer(spare);
        } else {
            g_queue_unlink(&self->runs, &run->link);
        }
        g_queue_push_tail_link(taken, &run->link);
        lease_add_slice(lease, run->entry->batch, run->first, run->count, run->seq);
        if (*spare == NULL)
            return TRUE;
    }
    return FALSE;
}

/* Makes one run of two neighbours that were cut apart. */
static MemoryRun *
memory_queue_join(MemoryQueue *self, MemoryRun *left, MemoryRun *right)
{
    if (left->entry != right->entry || left->seq + left->count != right->seq)
        return right;
    left->count += right->count;
    g_queue_unlink(&self->runs, &right->link);
    g_free(right);
    return left;
}

/* Returns the run that holds these events now. */
static MemoryRun *
memory_queue_insert(MemoryQueue *self, MemoryRun *run, GList *before)
{
    g_queue_insert_before_link(&self->runs, before, &run->link);
    if (run->link.prev != NULL)
        run = memory_queue_join(self, run->link.prev->data, run);
    if (run->link.next != NULL)
        memory_queue_join(self, run, run->link.next->data);
    return run;
}

void
memory_queue_restore(MemoryQueue *self, GQueue *runs)
{
    GList *before = self->runs.head;
    GList *link;

    while ((link = g_queue_pop_head_link(runs)) != NULL) {
        MemoryRun *run = link->data;

        while (before != NULL && ((MemoryRun *) before->data)->seq < run->seq)
            before = before->next;
        before = memory_queue_insert(self, run, before)->link.next;
    }
}

gsize
memory_runs_commit(GQueue *runs, guint n_events, GQueue *spent)
{
    gsize released = 0;

    while (n_events > 0) {
        MemoryRun *run = runs->head->data;
        MemoryEntry *entry = run->entry;
        guint count = MIN(n_events, run->count);

        n_events -= count;
        run->first += count;
        run->seq += count;
        run->count -= count;
        entry->uncommitted -= count;
        if (run->count > 0)
            break;
        g_queue_unlink(runs, &run->link);
        g_queue_push_tail_link(spent, &run->link);
        if (entry->uncommitted == 0)
            released += entry->charged;
        else
            run->entry = NULL;
    }
    return released;
}

void
memory_runs_free(GQueue *runs)
{
    GList *link;

    while ((link = g_queue_pop_head_link(runs)) != NULL)
        memory_run_free(link->data);
}

void
memory_queue_clear(MemoryQueue *self)
{
    GQueue spent = G_QUEUE_INIT;
    guint n_events = 0;

    for (const GList *link = self->runs.head; link != NULL; link = link->next)
        n_events += ((const MemoryRun *) link->data)->count;
    memory_runs_commit(&self->runs, n_events, &spent);
    memory_runs_free(&spent);
}
