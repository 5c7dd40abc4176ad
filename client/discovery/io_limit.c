/* io_limit.c - a timer and an owner's wish, both of which cancel. */
#include "client/discovery/io_limit.h"

static gboolean
on_late(gpointer user)
{
    IoLimit *self = user;

    self->is_late = TRUE;
    g_cancellable_cancel(self->cancel);
    return G_SOURCE_REMOVE;
}

static void
on_stop(GCancellable *stop G_GNUC_UNUSED, gpointer user)
{
    IoLimit *self = user;

    g_cancellable_cancel(self->cancel);
}

void
io_limit_init(IoLimit *self, gint64 timeout_us, GCancellable *stop)
{
    *self = (IoLimit){ .cancel = g_cancellable_new() };
    self->timer = g_timeout_source_new((guint) (timeout_us / 1000));
    g_source_set_callback(self->timer, on_late, self, NULL);
    g_source_attach(self->timer, g_main_context_get_thread_default());
    if (stop == NULL)
        return;
    self->stop = g_object_ref(stop);
    self->stop_handler = g_cancellable_connect(stop, G_CALLBACK(on_stop), self, NULL);
}

void
io_limit_clear(IoLimit *self)
{
    if (self->stop != NULL)
        g_cancellable_disconnect(self->stop, self->stop_handler);
    g_clear_object(&self->stop);
    g_source_destroy(self->timer);
    g_source_unref(self->timer);
    g_clear_object(&self->cancel);
}

GError *
io_limit_explain(const IoLimit *self, GError *error)
{
    if (!self->is_late || !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return error;
    g_error_free(error);
    return g_error_new_literal(G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "no answer in time");
}
