/* batch.h - the unit that moves through the agent: N encoded events in one immutable buffer.
 *
 * A batch that arrived as a compact appendBatch frame is that frame's buffer. Reference counts are
 * atomic; everything else is fixed once the batch exists, so any thread may read it. */
#pragma once

#include <glib.h>

#include "base/buffer_pool.h"
#include "base/event_bytes.h"
#include "base/span.h"

typedef struct {
    gatomicrefcount refs;
    guint n_events;
    gsize allocated;     /* bytes, offsets included: what channels charge */
    const guint8 *bytes; /* event i stands at bytes + offsets[i] .. offsets[i + 1] */
    Buffer *buffer;      /* owner of bytes, NULL when they follow the offsets */
    gboolean in_buffer;  /* the batch itself stands behind its bytes */
    guint32 offsets[];   /* n_events + 1 */
} Batch;

/* Events first .. first + count of a batch, in order. The batch is borrowed. */
typedef struct {
    Batch *batch;
    guint first;
    guint count;
} BatchSlice;

/* A batch is as large as what came in: each of these returns NULL if there is no memory for it.
 *
 * offsets has n_events + 1 entries, rising, all events canonical. The events are copied out and the
 * buffer released if they fill less than half of it. */
Batch *batch_new_from_buffer(Buffer *buffer /* (transfer full) */, const guint32 *offsets,
                             guint n_events);
Batch *batch_new_copy(const guint8 *bytes, const guint32 *offsets, guint n_events);
Batch *batch_new_single(const EventHeader *headers, guint n_headers, ByteSpan body);
Batch *batch_ref(Batch *self);
void batch_unref(Batch *self);

/* What a batch would be charged: its events in a buffer of buffer_capacity bytes, or, if that is 0,
 * n_bytes of events in memory that fits. */
gsize batch_allocated_for(guint n_events, gsize n_bytes, gsize buffer_capacity);

void batch_view(const Batch *self, guint index, EventView *ret_view);

static inline ByteSpan
batch_span(const Batch *self, guint first, guint count)
{
    return byte_span(self->bytes + self->offsets[first],
                     self->offsets[first + count] - self->offsets[first]);
}

/* Of all its events, without offsets. */
static inline gsize
batch_n_bytes(const Batch *self)
{
    return batch_span(self, 0, self->n_events).length;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Batch, batch_unref)
