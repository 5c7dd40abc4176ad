/* sequence_source.c - numbered events at a given rate, to see and test an agent without a client.
 */
#include "agent/core/source.h"
#include "base/backoff.h"
#include "base/batch_builder.h"
#include "base/clock.h"

#define FIRST_BACKOFF_US (10 * 1000)
#define MAX_BACKOFF_US (5 * G_USEC_PER_SEC)

typedef struct {
    Source base;
    guint64 rate;
    guint64 count;
    guint64 batch_size;
    guint64 size;

    /* The thread's own. */
    BatchBuilder *builder;
    GString *body;
    guint64 next; /* number of the next event */
    gint64 begin_us;

    GMutex lock; /* guards interrupted */
    GCond woken;
    gboolean interrupted;
} SequenceSource;

static const OptionSpec sequence_source_options[] = {
    { .name = "rate",
      OPTION_AT(COUNT, SequenceSource, rate),
      .fallback = "1000",
      .help = "Events a second; 0 is as fast as the channels take them." },
    { .name = "count",
      OPTION_AT(COUNT, SequenceSource, count),
      .fallback = "0",
      .help = "Stop after this many events; 0 is never." },
    { .name = "batch-size",
      OPTION_AT(COUNT, SequenceSource, batch_size),
      .fallback = "1",
      .min = 1,
      .max = 100000,
      .help = "Events that are put into the channels together." },
    { .name = "size",
      OPTION_AT(SIZE, SequenceSource, size),
      .fallback = "0",
      .max = 1 << 20,
      .help = "Make each body at least this long, with dots behind the number." },
    { 0 },
};

static gboolean
sequence_source_open(Component *component, GError **error G_GNUC_UNUSED)
{
    SequenceSource *self = (SequenceSource *) component;

    g_mutex_init(&self->lock);
    g_cond_init(&self->woken);
    self->body = g_string_sized_new(self->size + 32);
    self->builder = batch_builder_new(self->batch_size * (self->size + 32), self->batch_size);
    return TRUE;
}

static void
sequence_source_close(Component *component)
{
    SequenceSource *self = (SequenceSource *) component;

    g_clear_pointer(&self->builder, batch_builder_free);
    g_string_free(self->body, TRUE);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->woken);
}

/* FALSE when interrupted. */
static gboolean
sequence_source_wait(SequenceSource *self, gint64 until_us)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    while (!self->interrupted && g_cond_wait_until(&self->woken, &self->lock, until_us))
        ;
    return !self->interrupted;
}

static Batch *
sequence_source_build(SequenceSource *self)
{
    guint64 left = self->count == 0 ? G_MAXUINT64 : self->count - self->next;
    guint n_events = (guint) MIN(self->batch_size, left);

    for (guint i = 0; i < n_events; i++) {
        g_string_printf(self->body, "%" G_GUINT64_FORMAT, self->next + i);
        while (self->body->len < self->size)
            g_string_append_c(self->body, '.');
        batch_builder_add_event(self->builder, NULL, 0,
                                byte_span(self->body->str, self->body->len));
    }
    return batch_builder_finish(self->builder);
}

/* The same batch until it is taken. FALSE when interrupted. */
static gboolean
sequence_source_put(SequenceSource *self, Batch *batch)
{
    Backoff backoff;

    backoff_init(&backoff, FIRST_BACKOFF_US, MAX_BACKOFF_US);
    for (;;) {
        g_autoptr(GError) error = NULL;

        if (source_put(&self->base, batch, &error))
            return TRUE;
        component_report(&self->base.base, REPORT_REFUSED, NULL, error->message);
        if (!sequence_source_wait(self, clock_deadline_us(backoff_next_delay_us(&backoff))))
            return FALSE;
    }
}

/* When a batch that ends before event number `next` may go out. */
static gint64
sequence_source_due_us(const SequenceSource *self)
{
    if (self->rate == 0)
        return 0;
    return self->begin_us + (gint64) ((double) self->next / (double) self->rate * G_USEC_PER_SEC);
}

static void
sequence_source_run(Source *source)
{
    SequenceSource *self = (SequenceSource *) source;

    self->begin_us = clock_now_us();
    while (self->count == 0 || self->next < self->count) {
        g_autoptr(Batch) batch = sequence_source_build(self);

        if (!sequence_source_wait(self, sequence_source_due_us(self)) ||
            !sequence_source_put(self, batch))
            return;
        self->next += batch->n_events;
    }
}

static void
sequence_source_interrupt(Source *source)
{
    SequenceSource *self = (SequenceSource *) source;

    g_mutex_lock(&self->lock);
    self->interrupted = TRUE;
    g_cond_signal(&self->woken);
    g_mutex_unlock(&self->lock);
    source_interrupt_put(source);
}

static gsize
sequence_source_largest_batch(const Source *source)
{
    const SequenceSource *self = (const SequenceSource *) source;

    return self->batch_size * (self->size + 32);
}

const SourceType sequence_source = {
    .base = {
        .name = "sequence",
        .summary = "Makes numbered events, to see and test an agent without a client.",
        .instance_size = sizeof(SequenceSource),
        .options = sequence_source_options,
        .open = sequence_source_open,
        .close = sequence_source_close,
    },
    .run = sequence_source_run,
    .interrupt = sequence_source_interrupt,
    .largest_batch = sequence_source_largest_batch,
};
