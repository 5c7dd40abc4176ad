/* frame_loop.c - one loop of the server with its thread: connections that are due, the stop, the
 * end. */
#include "base/log.h"
#include "thrift/frame_server_private.h"

/* Idle buffers that all loops together may keep: some large batches, none of them for long. */
#define MAX_IDLE_BUFFERS ((gsize) 32 * 1024 * 1024)

static void
stop_accepting(FrameServer *server)
{
    frame_acceptor_stop(server);
    for (guint i = 1; i < server->n_loops; i++)
        loop_post(server->loops[i].loop, &server->loops[i].stop);
}

static void
stop(LoopJob *job)
{
    FrameLoop *self = (FrameLoop *) (gpointer) ((char *) job - offsetof(FrameLoop, stop));
    FrameConnection *connection = self->connections;

    self->stopping = TRUE;
    if (self == self->server->loops)
        stop_accepting(self->server);
    loop_timer_set(self->loop, &self->answer_deadline, self->server->answer_deadline_us);
    loop_timer_set(self->loop, &self->deadline, self->server->deadline_us);
    while (connection != NULL) {
        FrameConnection *next = connection->next; /* it may close, the others stay */

        frame_connection_stop(connection);
        connection = next;
    }
    frame_loop_quit_when_empty(self);
}

static void
answer_deadline_came(LoopTimer *timer)
{
    frame_request_expire_all(
        (FrameLoop *) (gpointer) ((char *) timer - offsetof(FrameLoop, answer_deadline)));
}

/* Requests that are still out are waited for: their tickets are completed, or cancelled. */
static void
deadline_came(LoopTimer *timer)
{
    FrameLoop *self = (FrameLoop *) (gpointer) ((char *) timer - offsetof(FrameLoop, deadline));

    while (self->connections != NULL)
        frame_connection_close(self->connections);
}

void
frame_loop_quit_when_empty(FrameLoop *self)
{
    if (self->stopping && self->n_kept == 0)
        loop_quit(self->loop);
}

void
frame_loop_settle_due(FrameLoop *self)
{
    while (self->due != NULL) {
        FrameConnection *connection = self->due;

        self->due = connection->next_due;
        connection->is_due = FALSE;
        frame_connection_proceed(connection);
        frame_connection_unref(connection);
    }
}

void
frame_loop_count_closed(FrameLoop *self)
{
    FrameServer *server = self->server;

    atomic_fetch_sub(&self->n_connections, 1);
    atomic_fetch_sub(&server->n_connections, 1);
    server->handler.connections_changed(-1, server->user);
    frame_acceptor_connection_closed(server);
}

/* ---- life ---- */

static gsize
max_idle_buffers(const FrameServer *server)
{
    return MIN(server->options.receive_memory, MAX_IDLE_BUFFERS) / server->options.threads;
}

gboolean
frame_loop_init(FrameLoop *self, FrameServer *server, GError **error)
{
    self->server = server;
    self->loop = loop_new(error);
    if (self->loop == NULL)
        return FALSE;
    self->processor = frame_processor_new();
    self->pool = buffer_pool_new(max_idle_buffers(server));
    walk_init(&self->walk);
    self->scratch = g_malloc(FRAME_SCRATCH_BYTES);
    self->answers = g_byte_array_new();
    self->stop.run = stop;
    self->answer_deadline.expired = answer_deadline_came;
    self->deadline.expired = deadline_came;
    self->returned_job.run = frame_request_run_returned;
    frame_pace_init(self);
    return TRUE;
}

void
frame_loop_clear(FrameLoop *self)
{
    g_assert(self->thread == NULL);
    frame_request_free_spare(self);
    g_byte_array_unref(self->answers);
    g_free(self->scratch);
    walk_clear(&self->walk);
    buffer_pool_unref(self->pool);
    g_object_unref(self->processor);
    loop_free(self->loop);
}

static gpointer
run(gpointer user)
{
    FrameLoop *self = user;

    log_name_thread(self->server->options.name);
    loop_run(self->loop);
    return NULL;
}

gboolean
frame_loop_start(FrameLoop *self, GError **error)
{
    self->thread = g_thread_try_new(NULL, run, self, error);
    return self->thread != NULL;
}

void
frame_loop_stop_alone(FrameLoop *self)
{
    loop_post(self->loop, &self->stop);
    frame_loop_join(self);
}

void
frame_loop_join(FrameLoop *self)
{
    g_clear_pointer(&self->thread, g_thread_join);
}
