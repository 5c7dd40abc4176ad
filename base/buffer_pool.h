/* buffer_pool.h - reusable byte buffers, so that a large frame does not cost page faults.
 * Thread-safe.
 *
 * Sizes are rounded up to classes at most a quarter apart. Idle buffers are bounded by max_idle
 * bytes and given back to the system after two to four seconds without use (by a timer on the
 * default GMainContext, which exists only while something is idle). */
#pragma once

#include <glib.h>

typedef struct BufferPool BufferPool;

typedef struct {
    guint8 *data;
    gsize capacity;   /* bytes at data: what a buffer is charged for */
    BufferPool *pool; /* NULL: plain memory */
} Buffer;

BufferPool *buffer_pool_new(gsize max_idle);
/* Buffers that are still out stay valid and are freed when they come back. */
void buffer_pool_unref(BufferPool *self);
gsize buffer_pool_capacity_for(gsize size); /* what a buffer of at least size would be charged */
/* (transfer full) At least size bytes, not zeroed. NULL: the system has no memory for it, not even
 * after the pool has given back what was idle. */
Buffer *buffer_pool_get(BufferPool *self, gsize size);
void buffer_release(Buffer *self); /* any thread */
gsize buffer_pool_idle_bytes(BufferPool *self);
void buffer_pool_trim(BufferPool *self);        /* frees what is idle now */
void buffer_pool_trim_unused(BufferPool *self); /* what was idle ever since the last call */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BufferPool, buffer_pool_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Buffer, buffer_release)
