/* batch.c - batches: one allocation for what is ours, or a buffer that is kept as it came, with
 * what is ours behind it where there is room. */
#include "base/batch.h"

#include <glib.h>
#include <string.h>

/* What malloc takes for size bytes, its own word included. */
static gsize
memory_taken(gsize size)
{
    return (size + sizeof(gsize) + 15) & ~(gsize) 15;
}

static gsize
head_size(guint n_events)
{
    return sizeof(Batch) + ((gsize) n_events + 1) * sizeof(guint32);
}

gsize
batch_allocated_for(guint n_events, gsize n_bytes, gsize buffer_capacity)
{
    if (buffer_capacity == 0)
        return memory_taken(head_size(n_events) + n_bytes);
    return memory_taken(head_size(n_events)) + memory_taken(sizeof(Buffer)) +
           memory_taken(buffer_capacity);
}

static Batch *
batch_alloc(guint n_events, gsize n_bytes)
{
    Batch *self = g_try_malloc(head_size(n_events) + n_bytes);

    if (self == NULL)
        return NULL;
    *self = (Batch){
        .n_events = n_events,
        .allocated = batch_allocated_for(n_events, n_bytes, 0),
        .bytes = (const guint8 *) self + head_size(n_events),
    };
    g_atomic_ref_count_init(&self->refs);
    return self;
}

/* For the events that end at used in a buffer. One that came over the network mostly has room for
 * this behind them; memory of its own, freed by another thread, would cost more than the copy. */
static Batch *
batch_alloc_beside(const Buffer *buffer, gsize used, guint n_events)
{
    gsize at = (used + G_ALIGNOF(Batch) - 1) / G_ALIGNOF(Batch) * G_ALIGNOF(Batch);
    Batch *self;

    if (at + head_size(n_events) > buffer->capacity) {
        self = batch_alloc(n_events, 0);
        if (self != NULL)
            self->allocated = batch_allocated_for(n_events, used, buffer->capacity);
        return self;
    }
    self = (Batch *) (gpointer) (buffer->data + at);
    *self = (Batch){
        .n_events = n_events,
        .allocated = memory_taken(sizeof(Buffer)) + memory_taken(buffer->capacity),
        .in_buffer = TRUE,
    };
    g_atomic_ref_count_init(&self->refs);
    return self;
}

static guint8 *
own_bytes(Batch *self)
{
    return (guint8 *) self + head_size(self->n_events);
}

Batch *
batch_new_copy(const guint8 *bytes, const guint32 *offsets, guint n_events)
{
    guint32 first = offsets[0];
    gsize n_bytes = offsets[n_events] - first;
    Batch *self = batch_alloc(n_events, n_bytes);

    if (self == NULL)
        return NULL;
    for (guint i = 0; i <= n_events; i++)
        self->offsets[i] = offsets[i] - first;
    if (n_bytes > 0)
        memcpy(own_bytes(self), bytes + first, n_bytes);
    return self;
}

Batch *
batch_new_from_buffer(Buffer *buffer, const guint32 *offsets, guint n_events)
{
    g_autoptr(Buffer) owned = buffer;
    gsize used = offsets[n_events] - offsets[0];
    Batch *self;

    if (used < owned->capacity / 2)
        return batch_new_copy(owned->data, offsets, n_events);

    self = batch_alloc_beside(owned, offsets[n_events], n_events);
    if (self == NULL)
        return NULL;
    memcpy(self->offsets, offsets, ((gsize) n_events + 1) * sizeof(guint32));
    self->bytes = owned->data;
    self->buffer = g_steal_pointer(&owned);
    return self;
}

Batch *
batch_new_single(const EventHeader *headers, guint n_headers, ByteSpan body)
{
    gsize size = event_bytes_size(headers, n_headers, body);
    Batch *self;

    g_assert(size <= G_MAXUINT32);
    self = batch_alloc(1, size);
    if (self == NULL)
        return NULL;
    self->offsets[0] = 0;
    self->offsets[1] = (guint32) size;
    event_bytes_write(own_bytes(self), headers, n_headers, body);
    return self;
}

Batch *
batch_ref(Batch *self)
{
    g_atomic_ref_count_inc(&self->refs);
    return self;
}

void
batch_unref(Batch *self)
{
    Buffer *buffer = self->buffer;

    if (!g_atomic_ref_count_dec(&self->refs))
        return;
    if (!self->in_buffer)
        g_free(self);
    if (buffer != NULL)
        buffer_release(buffer);
}

void
batch_view(const Batch *self, guint index, EventView *ret_view)
{
    ByteSpan event = batch_span(self, index, 1);

    event_view_init(ret_view, event.data, event.length);
}
