/* memory_queue.c - events in order of sequence numbers, counted and charged; no lock, no waiting.
 */
#include "agent/channels/memory_queue.h"

#include "base/clock.h"

#define SMALL_BATCH_BYTES ((gsize) 16 * 1024)
#define TAIL_FIRST_BYTES ((gsize) 4 * 1024)
#define TAIL_MAX_BYTES ((gsize) 64 * 1024)

/* ---- runs ---- */

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

void
memory_runs_free(GQueue *spent)
{
    GList *link;

    while ((link = g_queue_pop_head_link(spent)) != NULL)
        memory_run_free(link->data);
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

/* ---- put ---- */

void
memory_queue_init(MemoryQueue *self, guint64 capacity, guint64 byte_capacity)
{
    *self = (MemoryQueue){ .capacity = capacity, .byte_capacity = byte_capacity };
    self->tail = batch_builder_new(TAIL_FIRST_BYTES, 64);
}

gboolean
memory_queue_is_small(const Batch *batch)
{
    return batch_n_bytes(batch) < SMALL_BATCH_BYTES;
}

gsize
memory_queue_least_charge(const Batch *batch)
{
    return memory_queue_is_small(batch)
               ? batch_allocated_for(batch->n_events, batch_n_bytes(batch), 0)
               : batch->allocated;
}

static gsize
memory_queue_tail_charge(const MemoryQueue *self)
{
    return batch_builder_n_events(self->tail) > 0 ? batch_builder_allocated(self->tail) : 0;
}

/* Makes the tail a run. */
static void
memory_queue_seal_tail(MemoryQueue *self)
{
    g_autoptr(Batch) batch = NULL;
    MemoryRun *run;

    if (batch_builder_n_events(self->tail) == 0)
        return;
    self->used_bytes -= memory_queue_tail_charge(self);
    batch = batch_builder_finish(self->tail);
    self->used_bytes += batch->allocated;
    run = memory_run_new(batch, self->tail_put_us);
    run->seq = self->tail_seq;
    g_queue_push_tail_link(&self->runs, &run->link);
}

static gboolean
memory_queue_append_to_tail(MemoryQueue *self, const Batch *batch)
{
    gsize n_bytes = batch_n_bytes(batch);
    gsize used_bytes;

    if (batch_builder_n_bytes(self->tail) + n_bytes > TAIL_MAX_BYTES)
        memory_queue_seal_tail(self);
    used_bytes = self->used_bytes - memory_queue_tail_charge(self) +
                 batch_builder_allocated_with(self->tail, batch->n_events, n_bytes);
    if (used_bytes > self->byte_capacity)
        return FALSE;
    if (batch_builder_n_events(self->tail) == 0) {
        self->tail_seq = self->next_seq;
        self->tail_put_us = clock_now_us();
    }
    batch_builder_add_slice(self->tail, batch, 0, batch->n_events);
    self->used_bytes = used_bytes;
    return TRUE;
}

static gboolean
memory_queue_append_run(MemoryQueue *self, MemoryRun **run)
{
    gsize charged = (*run)->entry->charged;

    if (self->used_bytes + charged > self->byte_capacity)
        return FALSE;
    memory_queue_seal_tail(self);
    self->used_bytes += charged;
    (*run)->seq = self->next_seq;
    g_queue_push_tail_link(&self->runs, &g_steal_pointer(run)->link);
    return TRUE;
}

gboolean
memory_queue_admit(MemoryQueue *self, Batch *batch, MemoryRun **run)
{
    if (self->used_events + batch->n_events > self->capacity)
        return FALSE;
    if (!(*run != NULL ? memory_queue_append_run(self, run)
                       : memory_queue_append_to_tail(self, batch)))
        return FALSE;
    self->next_seq += batch->n_events;
    self->used_events += batch->n_events;
    self->stock.n_events += batch->n_events;
    self->stock.n_bytes += batch_n_bytes(batch);
    return TRUE;
}

gint64
memory_queue_oldest_us(const MemoryQueue *self)
{
    const MemoryRun *first = self->runs.head != NULL ? self->runs.head->data : NULL;

    return first != NULL ? first->entry->put_us : self->tail_put_us;
}

/* ---- take ---- */

/* FALSE if there are no more runs; otherwise the lease is full. */
static gboolean
memory_queue_take_runs(MemoryQueue *self, const TakeLimits *limits, Lease *lease, GQueue *taken,
                       MemoryRun **spare)
{
    while (self->runs.head != NULL) {
        MemoryRun *run = self->runs.head->data;
        guint count = lease_count_for(lease, limits, run->entry->batch, run->first, run->count);
        gboolean is_cut = count < run->count;

        if (count == 0)
            return TRUE;
        if (is_cut) {
            memory_run_cut(run, count, *spare);
            run = g_steal_pointer(spare);
        } else {
            g_queue_unlink(&self->runs, &run->link);
        }
        g_queue_push_tail_link(taken, &run->link);
        lease_add_slice(lease, run->entry->batch, run->first, run->count, run->seq);
        if (is_cut)
            return TRUE;
    }
    return FALSE;
}

void
memory_queue_take(MemoryQueue *self, const TakeLimits *limits, Lease *lease, GQueue *taken,
                  MemoryRun **spare)
{
    if (!memory_queue_take_runs(self, limits, lease, taken, spare)) {
        memory_queue_seal_tail(self);
        memory_queue_take_runs(self, limits, lease, taken, spare);
    }
    self->stock.n_events -= lease->n_events;
    self->stock.n_bytes -= lease->n_bytes;
}

/* ---- rollback ---- */

/* Makes one run of two neighbours that were cut apart. Returns what holds the right one now. */
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
memory_queue_restore(MemoryQueue *self, const Lease *lease, GQueue *runs)
{
    GList *before = self->runs.head;
    GList *link;

    while ((link = g_queue_pop_head_link(runs)) != NULL) {
        MemoryRun *run = link->data;

        while (before != NULL && ((const MemoryRun *) before->data)->seq < run->seq)
            before = before->next;
        before = memory_queue_insert(self, run, before)->link.next;
    }
    self->stock.n_events += lease->n_events;
    self->stock.n_bytes += lease->n_bytes;
}

/* ---- commit ---- */

/* Forgets the first count events of a run. */
static void
memory_queue_commit_run(MemoryQueue *self, MemoryRun *run, guint count)
{
    MemoryEntry *entry = run->entry;

    run->first += count;
    run->seq += count;
    run->count -= count;
    entry->uncommitted -= count;
    self->used_events -= count;
    if (entry->uncommitted == 0)
        self->used_bytes -= entry->charged;
    else if (run->count == 0)
        run->entry = NULL; /* another run has it */
}

void
memory_queue_commit(MemoryQueue *self, GQueue *runs, guint n_events, GQueue *spent)
{
    while (n_events > 0) {
        MemoryRun *run = runs->head->data;
        guint count = MIN(n_events, run->count);

        memory_queue_commit_run(self, run, count);
        n_events -= count;
        if (run->count == 0) {
            g_queue_unlink(runs, &run->link);
            g_queue_push_tail_link(spent, &run->link);
        }
    }
}

void
memory_queue_clear(MemoryQueue *self)
{
    GQueue spent = G_QUEUE_INIT;

    while (self->runs.head != NULL)
        memory_queue_commit(self, &self->runs, ((MemoryRun *) self->runs.head->data)->count,
                            &spent);
    memory_runs_free(&spent);
    g_clear_pointer(&self->tail, batch_builder_free);
}
