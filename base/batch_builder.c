/* batch_builder.c - events copied one behind the other; a large result keeps the memory it was
 * built in. */
#include "base/batch_builder.h"

#include <glib.h>
#include <string.h>

/* Below this a copy costs less than new memory for the next batch. */
#define KEEP_FROM ((gsize) 16 * 1024)

struct BatchBuilder {
    guint8 *bytes;
    gsize n_bytes;
    gsize capacity;
    GArray *offsets;      /* guint32, one more than there are events */
    gsize expected_bytes; /* capacity to begin a batch with */
};

BatchBuilder *
batch_builder_new(gsize expected_bytes, guint expected_events)
{
    BatchBuilder *self = g_new0(BatchBuilder, 1);

    self->expected_bytes = MAX(expected_bytes, 64);
    self->offsets = g_array_sized_new(FALSE, FALSE, sizeof(guint32), expected_events + 1);
    g_array_set_size(self->offsets, 1);
    g_array_index(self->offsets, guint32, 0) = 0;
    return self;
}

void
batch_builder_free(BatchBuilder *self)
{
    g_free(self->bytes);
    g_array_unref(self->offsets);
    g_free(self);
}

guint
batch_builder_n_events(const BatchBuilder *self)
{
    return self->offsets->len - 1;
}

gsize
batch_builder_n_bytes(const BatchBuilder *self)
{
    return self->n_bytes;
}

gsize
batch_builder_allocated(const BatchBuilder *self)
{
    return batch_builder_allocated_with(self, 0, 0);
}

gsize
batch_builder_allocated_with(const BatchBuilder *self, guint n_events, gsize n_bytes)
{
    gsize total = self->n_bytes + n_bytes;

    return batch_allocated_for(batch_builder_n_events(self) + n_events, total,
                               total >= KEEP_FROM ? total : 0);
}

/* Room for size more bytes, counted as used. */
static guint8 *
append_bytes(BatchBuilder *self, gsize size)
{
    gsize used = self->n_bytes;

    g_assert(size <= G_MAXUINT32 - used);
    if (size > self->capacity - used) {
        self->capacity = MAX(used + size, MAX(self->capacity * 2, self->expected_bytes));
        self->bytes = g_realloc(self->bytes, self->capacity);
    }
    self->n_bytes += size;
    return self->bytes + used;
}

/* shift is added to each end. */
static void
append_encoded(BatchBuilder *self, ByteSpan events, const guint32 *ends, guint count, guint32 shift)
{
    guint n_before = self->offsets->len;
    guint32 *out;

    memcpy(append_bytes(self, events.length), events.data, events.length);
    g_array_set_size(self->offsets, n_before + count);
    out = &g_array_index(self->offsets, guint32, n_before);
    for (guint i = 0; i < count; i++)
        out[i] = ends[i] + shift;
}

void
batch_builder_add_slice(BatchBuilder *self, const Batch *batch, guint first, guint count)
{
    if (count > 0)
        append_encoded(self, batch_span(batch, first, count), batch->offsets + first + 1, count,
                       (guint32) self->n_bytes - batch->offsets[first]);
}

void
batch_builder_add_encoded(BatchBuilder *self, ByteSpan events, const guint32 *ends, guint count)
{
    if (count > 0)
        append_encoded(self, events, ends, count, (guint32) self->n_bytes);
}

void
batch_builder_add_event(BatchBuilder *self, const EventHeader *headers, guint n_headers,
                        ByteSpan body)
{
    gsize size = event_bytes_size(headers, n_headers, body);
    guint32 end;

    event_bytes_write(append_bytes(self, size), headers, n_headers, body);
    end = (guint32) self->n_bytes;
    g_array_append_val(self->offsets, end);
}

static Buffer *
take_bytes(BatchBuilder *self)
{
    Buffer *buffer = g_new0(Buffer, 1);

    buffer->data = g_realloc(g_steal_pointer(&self->bytes), self->n_bytes);
    buffer->capacity = self->n_bytes;
    self->capacity = 0;
    return buffer;
}

Batch *
batch_builder_finish(BatchBuilder *self)
{
    const guint32 *offsets = (const guint32 *) (gpointer) self->offsets->data;
    guint n_events = batch_builder_n_events(self);
    Batch *batch;

    self->expected_bytes = MAX(self->n_bytes, 64);
    if (self->n_bytes >= KEEP_FROM)
        batch = batch_new_from_buffer(take_bytes(self), offsets, n_events);
    else
        batch = batch_new_copy(self->bytes, offsets, n_events);
    self->n_bytes = 0;
    g_array_set_size(self->offsets, 1);
    return batch;
}
