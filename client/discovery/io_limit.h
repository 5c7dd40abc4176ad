/* io_limit.h - what ends an asynchronous operation of GIO before it is done: its time is over, or
 * nobody wants it any more. */
#pragma once

#include <gio/gio.h>

typedef struct {
    GCancellable *cancel; /* for the operation */
    GCancellable *stop;   /* the owner's, or NULL */
    gulong stop_handler;
    GSource *timer;
    gboolean is_late;
} IoLimit;

/* In the thread's default main context. stop may be NULL. */
void io_limit_init(IoLimit *self, gint64 timeout_us, GCancellable *stop);
void io_limit_clear(IoLimit *self);
/* What the operation failed with, or that it took too long. (transfer full) */
GError *io_limit_explain(const IoLimit *self, GError *error /* (transfer full) */);
