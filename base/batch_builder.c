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
    guint32 *offsets; /* n_events + 1 are in use */
    guint n_events;
    guint max_events; /* that offsets has room for */
    gboolean failed;
    gsize expected_bytes; /* capacity to begin a batch with */
};

BatchBuilder *
batch_builder_new(gsize expected_bytes, guint expected_events)
{
    BatchBuilder *self = g_new0(BatchBuilder, 1);

    self->expected_bytes = MAX(expected_bytes, 64);
    self->max_events = MAX(expected_events, 1);
    self->offsets = g_try_malloc(((gsize) self->max_events + 1) * sizeof(guint32));
    if (self->offsets == NULL) {
        self->max_events = 1;
        self->offsets = g_new(guint32, 2);
    }
    self->offsets[0] = 0;
    return self;
}

void
batch_builder_free(BatchBuilder *self)
{
    g_free(self->bytes);
    g_free(self->offsets);
    g_free(self);
}

guint
batch_builder_n_events(const BatchBuilder *self)
{
    return self->n_events;
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

    return batch_allocated_for(self->n_events + n_events, total, total >= KEEP_FROM ? total : 0);
}

/* ---- adding ---- */

static gboolean
has_room_for_bytes(BatchBuilder *self, gsize size)
{
    gsize capacity;
    guint8 *bytes;

    g_assert(size <= G_MAXUINT32 - self->n_bytes);
    if (size <= self->capacity - self->n_bytes)
        return TRUE;
    capacity = MAX(self->n_bytes + size, MAX(self->capacity * 2, self->expected_bytes));
    bytes = g_try_realloc(self->bytes, capacity);
    if (bytes == NULL)
        return FALSE;
    self->bytes = bytes;
    self->capacity = capacity;
    return TRUE;
}

static gboolean
has_room_for_events(BatchBuilder *self, guint count)
{
    guint64 max_events;
    guint32 *offsets;

    if (count <= self->max_events - self->n_events)
        return TRUE;
    max_events = MAX((guint64) self->n_events + count, (guint64) self->max_events * 2);
    max_events = MIN(max_events, G_MAXUINT);
    offsets = g_try_realloc(self->offsets, (max_events + 1) * sizeof(guint32));
    if (offsets == NULL)
        return FALSE;
    self->offsets = offsets;
    self->max_events = (guint) max_events;
    return TRUE;
}

/* FALSE: these are forgotten, and so is all that comes. */
static gboolean
has_room(BatchBuilder *self, guint count, gsize size)
{
    if (!self->failed)
        self->failed = !has_room_for_bytes(self, size) || !has_room_for_events(self, count);
    return !self->failed;
}

/* shift is added to each end. */
static void
append_encoded(BatchBuilder *self, ByteSpan events, const guint32 *ends, guint count, guint32 shift)
{
    guint32 *out;

    if (count == 0 || !has_room(self, count, events.length))
        return;
    memcpy(self->bytes + self->n_bytes, events.data, events.length);
    out = self->offsets + self->n_events + 1;
    for (guint i = 0; i < count; i++)
        out[i] = ends[i] + shift;
    self->n_bytes += events.length;
    self->n_events += count;
}

void
batch_builder_add_slice(BatchBuilder *self, const Batch *batch, guint first, guint count)
{
    append_encoded(self, batch_span(batch, first, count), batch->offsets + first + 1, count,
                   (guint32) self->n_bytes - batch->offsets[first]);
}

void
batch_builder_add_encoded(BatchBuilder *self, ByteSpan events, const guint32 *ends, guint count)
{
    append_encoded(self, events, ends, count, (guint32) self->n_bytes);
}

void
batch_builder_add_event(BatchBuilder *self, const EventHeader *headers, guint n_headers,
                        ByteSpan body)
{
    gsize size = event_bytes_size(headers, n_headers, body);

    if (!has_room(self, 1, size))
        return;
    event_bytes_write(self->bytes + self->n_bytes, headers, n_headers, body);
    self->n_bytes += size;
    self->offsets[++self->n_events] = (guint32) self->n_bytes;
}

/* ---- the batch ---- */

static Buffer *
take_bytes(BatchBuilder *self)
{
    Buffer *buffer = g_new0(Buffer, 1);
    guint8 *fitting = g_try_realloc(self->bytes, self->n_bytes);

    buffer->data = fitting != NULL ? fitting : self->bytes;
    buffer->capacity = fitting != NULL ? self->n_bytes : self->capacity;
    self->bytes = NULL;
    self->capacity = 0;
    return buffer;
}

Batch *
batch_builder_try_finish(BatchBuilder *self)
{
    Batch *batch = NULL;

    self->expected_bytes = MAX(self->n_bytes, 64);
    if (self->failed)
        self->failed = FALSE;
    else if (self->n_bytes >= KEEP_FROM)
        batch = batch_new_from_buffer(take_bytes(self), self->offsets, self->n_events);
    else
        batch = batch_new_copy(self->bytes, self->offsets, self->n_events);
    self->n_bytes = 0;
    self->n_events = 0;
    return batch;
}

Batch *
batch_builder_finish(BatchBuilder *self)
{
    Batch *batch = batch_builder_try_finish(self);

    if (batch == NULL)
        g_error("no memory for a batch of events");
    return batch;
}
