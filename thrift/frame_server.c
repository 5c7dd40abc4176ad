/* frame_server.c - sets the loops up, starts them and stops them. */
#include "thrift/frame_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include "thrift/frame_server_private.h"

FrameServer *
frame_server_new(const FrameServerOptions *options, const FrameHandler *handler, gpointer user)
{
    FrameServer *self = g_new0(FrameServer, 1);

    self->options = *options;
    self->options.name = g_strdup(options->name);
    self->options.listen = endpoint_copy(options->listen);
    self->handler = *handler;
    self->user = user;
    self->listen_fd = -1;
    self->memory = receive_memory_new(options->receive_memory);
    self->loops = g_new0(FrameLoop, options->threads);
    return self;
}

void
frame_server_free(FrameServer *self)
{
    if (self == NULL)
        return;
    g_assert(!self->started);
    for (guint i = 0; i < self->n_loops; i++)
        frame_loop_clear(&self->loops[i]);
    g_free(self->loops);
    if (self->listen_fd >= 0)
        close(self->listen_fd);
    receive_memory_free(self->memory);
    g_clear_pointer(&self->bound, endpoint_free);
    endpoint_free((Endpoint *) self->options.listen);
    g_free((char *) self->options.name);
    g_free(self);
}

void
frame_server_report(FrameServer *self, FrameReason reason, const char *peer, const char *detail)
{
    self->handler.report(reason, peer, detail, self->user);
}

/* ---- start ---- */

gboolean
frame_server_open(FrameServer *self, GError **error)
{
    source_processor_prepare_types();
    g_type_ensure(frame_processor_get_type());
    self->listen_fd = endpoint_listen(self->options.listen, SOMAXCONN, &self->bound, error);
    return self->listen_fd >= 0;
}

const Endpoint *
frame_server_bound(const FrameServer *self)
{
    return self->bound;
}

gboolean
frame_server_start(FrameServer *self, GError **error)
{
    for (guint i = 0; i < self->options.threads; i++) {
        if (!frame_loop_init(&self->loops[i], self, error))
            return FALSE;
        self->n_loops++;
    }
    if (!frame_acceptor_start(self, error))
        return FALSE;
    /* Loop 0 last: it accepts, and hands connections to the others. */
    for (guint i = self->n_loops; i > 0; i--) {
        if (!frame_loop_start(&self->loops[i - 1], error)) {
            for (guint running = i; running < self->n_loops; running++)
                frame_loop_stop_alone(&self->loops[running]);
            return FALSE;
        }
    }
    self->started = TRUE;
    return TRUE;
}

void
frame_server_begin_stop(FrameServer *self, gint64 answer_deadline_us, gint64 deadline_us)
{
    if (!self->started)
        return;
    self->answer_deadline_us = answer_deadline_us;
    self->deadline_us = deadline_us;
    /* Loop 0 stops accepting, then tells the others: what it handed over has arrived by then. */
    loop_post(self->loops[0].loop, &self->loops[0].stop);
}

void
frame_server_finish_stop(FrameServer *self)
{
    if (!self->started)
        return;
    for (guint i = 0; i < self->n_loops; i++)
        frame_loop_join(&self->loops[i]);
    self->started = FALSE;
}
