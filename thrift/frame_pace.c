/* frame_pace.c - while somebody waits for receive memory, those who have some must use it.
 *
 * A frame of which nothing comes, or so little that it would not be there within frame-timeout, is
 * ended after a second instead of at that timeout; so is one that waits itself and of which nothing
 * comes. So clients that stall, however many, cost the others a second. Nobody is judged before
 * somebody has waited so long. */
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "thrift/frame_server_private.h"

#define PATIENCE_US (1 * G_USEC_PER_SEC)

/* Every look at a loop costs a walk through its connections. */
#define SHORTEST_INTERVAL_US (G_USEC_PER_SEC / 10)

/* What the kernel takes of any connection before we read, and never less. */
#define SMALLEST_WINDOW ((gsize) 16 * 1024)

/* Of the frame; a connection that waits may have some of it in what it holds. */
static gsize
bytes_here(const FrameConnection *self)
{
    return self->frame_filled + (self->held != NULL ? self->held_size - self->held_used : 0);
}

/* Whether its peer does what it can, as far as we see: what has come and was not read is not the
 * peer's fault. One that waits is not read at all, but it can fill the window. */
static gboolean
is_sending(const FrameConnection *self, gint64 now_us)
{
    double timeout_us = (double) self->loop->server->options.frame_timeout_us;
    double due_share = (double) (now_us - self->active_us) / timeout_us;
    int n_unread = 0;

    if (ioctl(self->watch.fd, FIONREAD, &n_unread) < 0 || n_unread <= 0)
        return FALSE;
    return !self->waiting ||
           (double) bytes_here(self) + n_unread >=
               MIN((double) SMALLEST_WINDOW, due_share * (double) self->frame_length);
}

/* When as much of frame-timeout will be over as there is of the frame. */
static gint64
share_due_us(const FrameConnection *self)
{
    double share = (double) self->frame_filled / (double) self->frame_length;
    double timeout_us = (double) self->loop->server->options.frame_timeout_us;

    return clock_after_us(self->frame_started_us,
                          (gint64) MIN(share * timeout_us, (double) G_MAXINT32 * G_USEC_PER_SEC));
}

gint64
frame_pace_due_us(const FrameConnection *self)
{
    gint64 silent_us = clock_after_us(self->active_us, PATIENCE_US);

    if (!self->waiting && self->reserved == 0)
        return CLOCK_NEVER;
    if (self->unsent != NULL)
        return clock_after_us(MAX(self->unsent_since_us, self->sent_us), PATIENCE_US);
    if (bytes_here(self) >= self->frame_length)
        return CLOCK_NEVER;
    if (self->waiting)
        return silent_us;
    return MIN(silent_us,
               MAX(clock_after_us(self->frame_started_us, PATIENCE_US), share_due_us(self)));
}

static void
end_behind(FrameConnection *self)
{
    g_autofree char *here = quantity_size_to_text_beside(bytes_here(self), self->frame_length);
    g_autofree char *length = quantity_size_to_text_beside(self->frame_length, bytes_here(self));
    g_autofree char *detail = NULL;

    if (self->unsent != NULL) {
        frame_connection_report(
            self, FRAME_CLOSED_NOT_READING,
            "the client does not read its answers, while others waited for receive-memory");
        frame_connection_close(self);
        return;
    }
    detail = g_strdup_printf("of a frame of %s only %s came in time, while others waited for "
                             "receive-memory",
                             length, here);
    frame_connection_end(self, FRAME_CLOSED_SLOW_FRAME, detail);
    frame_connection_proceed(self);
}

/* Returns when the connection is to be judged again. */
static gint64
judge(FrameConnection *self, gint64 now_us)
{
    gint64 due_us = frame_pace_due_us(self);

    if (due_us > now_us)
        return due_us;
    if (self->unsent == NULL && is_sending(self, now_us))
        return now_us;
    end_behind(self);
    return CLOCK_NEVER;
}

static void
look_at_all(LoopTimer *timer)
{
    FrameLoop *loop = (FrameLoop *) (gpointer) ((char *) timer - offsetof(FrameLoop, pace));
    FrameServer *server = loop->server;
    gint64 now_us = loop_now_us(loop->loop);
    gint64 next_us = now_us + PATIENCE_US; /* of those who begin from now on */
    FrameConnection *connection = loop->connections;

    if (!receive_memory_has_waiters(server->memory)) {
        atomic_store(&loop->is_pacing, FALSE);
        /* Who came to wait in between has found us still at it. */
        if (receive_memory_has_waiters(server->memory))
            frame_pace_begin(server);
        return;
    }
    while (connection != NULL) {
        FrameConnection *next = connection->next; /* it may close, the others stay */

        next_us = MIN(next_us, judge(connection, now_us));
        connection = next;
    }
    loop_timer_set(loop->loop, &loop->pace, MAX(next_us, now_us + SHORTEST_INTERVAL_US));
}

static void
begin(LoopJob *job)
{
    FrameLoop *loop = (FrameLoop *) (gpointer) ((char *) job - offsetof(FrameLoop, pace_job));

    loop_timer_set(loop->loop, &loop->pace, loop_now_us(loop->loop) + PATIENCE_US);
}

void
frame_pace_begin(FrameServer *server)
{
    for (guint i = 0; i < server->n_loops; i++) {
        FrameLoop *loop = &server->loops[i];

        if (!atomic_load(&loop->is_pacing) && !atomic_exchange(&loop->is_pacing, TRUE))
            loop_post(loop->loop, &loop->pace_job);
    }
}

void
frame_pace_init(FrameLoop *loop)
{
    loop->pace_job.run = begin;
    loop->pace.expired = look_at_all;
}
