/* batch_builder.h - collects encoded events, copied as bytes, into a new batch. One thread at a
 * time. The events of one batch together stay below 4 GiB: the caller sees to it. When there is no
 * memory for an event, it and what is added after it is forgotten, and the finish says so. */
#pragma once

#include <glib.h>

#include "base/batch.h"

typedef struct BatchBuilder BatchBuilder;

BatchBuilder *batch_builder_new(gsize expected_bytes, guint expected_events);
void batch_builder_free(BatchBuilder *self);

guint batch_builder_n_events(const BatchBuilder *self);
gsize batch_builder_n_bytes(const BatchBuilder *self); /* bytes of events so far */
gsize batch_builder_allocated(
    const BatchBuilder *self); /* what a finished batch would be charged at the most */
/* What allocated would become after adding n_events in n_bytes. */
gsize batch_builder_allocated_with(const BatchBuilder *self, guint n_events, gsize n_bytes);

void batch_builder_add_slice(BatchBuilder *self, const Batch *batch, guint first, guint count);
/* Encoded events that stand one behind the other; ends counts from the first byte. */
void batch_builder_add_encoded(BatchBuilder *self, ByteSpan events, const guint32 *ends,
                               guint count);
void batch_builder_add_event(BatchBuilder *self, const EventHeader *headers, guint n_headers,
                             ByteSpan body);

/* The batch of everything added since the last finish, in memory that fits; the builder is empty
 * again and may be used on. A batch of no events is legal. NULL: there was no memory for it. */
Batch *batch_builder_try_finish(BatchBuilder *self);
/* Never NULL: for batches that are small, or without which there is no point in going on. */
Batch *batch_builder_finish(BatchBuilder *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BatchBuilder, batch_builder_free)
