/* events.h - batches from texts and back, for tests. */
#pragma once

#include <glib.h>

#include "base/batch.h"

/* One event a text, up to NULL: "body", or "key=value,key=value:body". */
Batch *batch_of(const char *first, ...) G_GNUC_NULL_TERMINATED;
/* count events with the bodies "first", "first + 1", ... */
Batch *batch_of_numbers(guint first, guint count);
/* Bodies of size bytes, count times. */
Batch *batch_of_size(guint count, gsize size);

/* The same form, events apart by a space; a NUL shows as \0. (transfer full) */
char *batch_to_text(const Batch *batch);
char *slices_to_text(const BatchSlice *slices, guint n_slices);
