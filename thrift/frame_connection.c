/* frame_connection.c - the life of one connection: its turns, its answers, its deadlines, its end.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "thrift/frame_server_private.h"

/* After our last word, how long the peer may take to close. Closing before it has read that word
 * could destroy it, if the peer still sends: the kernel answers with a reset. */
#define LINGER_US (1 * G_USEC_PER_SEC)

/* ---- references ---- */

void
frame_connection_ref(FrameConnection *self)
{
    self->refs++;
}

void
frame_connection_unref(FrameConnection *self)
{
    FrameLoop *loop = self->loop;

    if (--self->refs > 0)
        return;
    g_free(self->peer);
    g_free(self);
    loop->n_kept--;
    frame_loop_quit_when_empty(loop);
}

const char *
frame_connection_peer(FrameConnection *self)
{
    if (self->peer == NULL)
        self->peer = endpoint_text_of_address(&self->address.any);
    return self->peer;
}

void
frame_connection_report(FrameConnection *self, FrameReason reason, const char *detail)
{
    frame_server_report(self->loop->server, reason, frame_connection_peer(self), detail);
}

/* ---- the end ---- */

void
frame_connection_close(FrameConnection *self)
{
    FrameLoop *loop = self->loop;

    if (self->state == CONNECTION_CLOSED)
        return;
    self->state = CONNECTION_CLOSED;
    frame_receive_drop(self);
    loop_timer_clear(loop->loop, &self->timer);
    loop_remove(loop->loop, &self->watch);
    close(self->watch.fd);
    g_clear_pointer(&self->unsent, g_byte_array_unref);

    if (self->previous != NULL)
        self->previous->next = self->next;
    else
        loop->connections = self->next;
    if (self->next != NULL)
        self->next->previous = self->previous;
    frame_loop_count_closed(loop);
    frame_connection_unref(self);
}

void
frame_connection_break(FrameConnection *self, const char *detail)
{
    if (self->state == CONNECTION_OPEN)
        frame_connection_report(self, FRAME_CLOSED_BROKEN, detail);
    frame_connection_close(self);
}

void
frame_connection_end(FrameConnection *self, FrameReason reason, const char *detail)
{
    if (self->state != CONNECTION_OPEN)
        return;
    self->state = CONNECTION_ENDING;
    frame_receive_drop(self);
    frame_connection_report(self, reason, detail);
}

void
frame_connection_end_for_memory(FrameConnection *self)
{
    g_autofree char *length = quantity_size_to_text(self->frame_length);
    g_autofree char *detail =
        g_strdup_printf("no memory for a request of %s; let the process have more (MemoryMax=, "
                        "ulimit -v), or lower receive-memory and the byte-capacity of channels",
                        length);

    frame_connection_end(self, FRAME_CLOSED_NO_MEMORY, detail);
}

/* Everything is answered. */
static void
finish(FrameConnection *self)
{
    gint64 now_us = loop_now_us(self->loop->loop);

    if (self->peer_closed || self->sent_us == 0 || now_us - self->sent_us > LINGER_US ||
        shutdown(self->watch.fd, SHUT_WR) < 0) {
        frame_connection_close(self);
        return;
    }
    self->state = CONNECTION_LINGERING;
    self->linger_until_us = now_us + LINGER_US;
}

static void
throw_away_what_comes(FrameConnection *self)
{
    ssize_t got = recv(self->watch.fd, self->loop->scratch, FRAME_SCRATCH_BYTES, 0);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        frame_connection_close(self);
}

/* ---- answers ---- */

/* Returns how much of it went out; breaks the connection if it is broken. */
static gsize
send_bytes(FrameConnection *self, const guint8 *data, gsize length)
{
    ssize_t sent = send(self->watch.fd, data, length, MSG_NOSIGNAL);

    if (sent >= 0) {
        self->sent_us = loop_now_us(self->loop->loop);
        return (gsize) sent;
    }
    if (errno != EAGAIN && errno != EINTR)
        frame_connection_break(self, g_strerror(errno));
    return 0;
}

static void
send_unsent(FrameConnection *self)
{
    if (self->unsent == NULL)
        return;
    self->n_sent +=
        send_bytes(self, self->unsent->data + self->n_sent, self->unsent->len - self->n_sent);
    if (self->unsent != NULL && self->n_sent == self->unsent->len)
        g_clear_pointer(&self->unsent, g_byte_array_unref);
}

static void
keep_unsent(FrameConnection *self, const guint8 *data, gsize length)
{
    if (self->unsent == NULL) {
        self->unsent = g_byte_array_new();
        self->n_sent = 0;
        self->unsent_since_us = loop_now_us(self->loop->loop);
    }
    g_byte_array_append(self->unsent, data, length);
}

void
frame_connection_flush(FrameConnection *self)
{
    GByteArray *answers = self->loop->answers;
    gsize sent = 0;

    g_byte_array_set_size(answers, 0);
    frame_request_collect(self, answers);
    if (answers->len == 0 || self->state == CONNECTION_CLOSED)
        return;
    if (self->unsent == NULL)
        sent = send_bytes(self, answers->data, answers->len);
    if (sent < answers->len && self->state != CONNECTION_CLOSED)
        keep_unsent(self, answers->data + sent, answers->len - sent);
}

void
frame_connection_mark_due(FrameConnection *self)
{
    if (self->in_turn || self->is_due)
        return;
    self->is_due = TRUE;
    frame_connection_ref(self);
    self->next_due = self->loop->due;
    self->loop->due = self;
}

/* ---- deadlines ---- */

gboolean
frame_connection_may_read(const FrameConnection *self)
{
    return self->state == CONNECTION_OPEN && !self->waiting && self->held == NULL &&
           self->unsent == NULL && self->n_requests < FRAME_MAX_REQUESTS;
}

static gint64
next_deadline_us(const FrameConnection *self)
{
    const FrameServerOptions *options = &self->loop->server->options;

    if (self->state == CONNECTION_LINGERING)
        return self->linger_until_us;
    if (self->unsent != NULL)
        return clock_after_us(self->unsent_since_us, options->frame_timeout_us);
    if (self->frame_started_us > 0)
        return clock_after_us(self->frame_started_us, options->frame_timeout_us);
    if (frame_connection_may_read(self) && self->oldest == NULL && options->idle_timeout_us > 0)
        return clock_after_us(MAX(self->active_us, self->sent_us), options->idle_timeout_us);
    return CLOCK_NEVER;
}

/* Time counts against the peer only while we read from it. */
static void
run_frame_clock(FrameConnection *self)
{
    if (!frame_connection_may_read(self) || self->n_prefix == 0)
        self->frame_started_us = 0;
    else if (self->frame_started_us == 0)
        self->frame_started_us = loop_now_us(self->loop->loop);
}

static void
ask_for_what_is_next(FrameConnection *self)
{
    guint32 events = 0;
    gint64 due_us;

    if (self->state == CONNECTION_ENDING && self->oldest == NULL && self->unsent == NULL)
        finish(self);
    if (self->state == CONNECTION_CLOSED)
        return;
    if (self->state == CONNECTION_LINGERING || frame_connection_may_read(self))
        events |= EPOLLIN;
    if (self->unsent != NULL)
        events |= EPOLLOUT;
    loop_change(self->loop->loop, &self->watch, events);

    run_frame_clock(self);
    due_us = next_deadline_us(self);
    /* A timer that is early finds out for itself: cheaper than moving it with every frame. */
    if (due_us < CLOCK_NEVER && (self->timer.position == 0 || due_us < self->timer.due_us))
        loop_timer_set(self->loop->loop, &self->timer, due_us);
}

static void
end_slow_frame(FrameConnection *self)
{
    g_autofree char *filled = quantity_size_to_text_beside(self->frame_filled, self->frame_length);
    g_autofree char *length = quantity_size_to_text_beside(self->frame_length, self->frame_filled);
    g_autofree char *detail =
        self->n_prefix < FRAME_PREFIX
            ? g_strdup("the length of a frame did not come within frame-timeout")
            : g_strdup_printf("%s of a frame of %s came within frame-timeout", filled, length);

    frame_connection_end(self, FRAME_CLOSED_SLOW_FRAME, detail);
}

static void
deadline_came(LoopTimer *timer)
{
    FrameConnection *self = (FrameConnection *) ((char *) timer - offsetof(FrameConnection, timer));

    frame_connection_ref(self);
    if (next_deadline_us(self) <= loop_now_us(self->loop->loop)) {
        if (self->state == CONNECTION_LINGERING) {
            frame_connection_close(self);
        } else if (self->unsent != NULL) {
            if (self->state == CONNECTION_OPEN)
                frame_connection_report(self, FRAME_CLOSED_NOT_READING,
                                        "the client does not read its answers");
            frame_connection_close(self);
        } else if (self->frame_started_us > 0) {
            end_slow_frame(self);
        } else {
            frame_connection_end(self, FRAME_CLOSED_IDLE, NULL);
        }
    }
    ask_for_what_is_next(self);
    frame_connection_unref(self);
}

/* ---- turns ---- */

void
frame_connection_proceed(FrameConnection *self)
{
    gboolean was_in_turn = self->in_turn;

    frame_connection_ref(self);
    self->in_turn = TRUE;
    frame_connection_flush(self);
    frame_receive_held(self);
    frame_connection_flush(self);
    ask_for_what_is_next(self);
    self->in_turn = was_in_turn;
    frame_connection_unref(self);
}

static void
socket_ready(LoopWatch *watch, guint32 events)
{
    FrameConnection *self = (FrameConnection *) watch;

    frame_connection_ref(self);
    self->in_turn = TRUE;
    if ((events & EPOLLOUT) != 0)
        send_unsent(self);
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        if (self->state == CONNECTION_LINGERING)
            throw_away_what_comes(self);
        else if (frame_connection_may_read(self))
            frame_receive(self);
        else if ((events & (EPOLLHUP | EPOLLERR)) != 0)
            frame_connection_break(self, "the client is gone before its answers");
    }
    frame_connection_proceed(self);
    self->in_turn = FALSE;
    frame_connection_unref(self);
}

void
frame_connection_stop(FrameConnection *self)
{
    frame_connection_end(self, FRAME_CLOSED_SHUTDOWN, NULL);
    frame_connection_proceed(self);
}

/* ---- the beginning ---- */

static void
arrive(LoopJob *job)
{
    FrameConnection *self = (FrameConnection *) ((char *) job - offsetof(FrameConnection, arrival));
    FrameLoop *loop = self->loop;
    g_autoptr(GError) error = NULL;

    loop->n_kept++;
    /* Loop 0 may have accepted it in the very turn in which it was told to stop. */
    if (loop->stopping || !loop_add(loop->loop, &self->watch, &error)) {
        frame_connection_report(self,
                                error != NULL ? FRAME_REFUSED_CONNECTION : FRAME_CLOSED_SHUTDOWN,
                                error != NULL ? error->message : NULL);
        close(self->watch.fd);
        frame_loop_count_closed(loop);
        frame_connection_unref(self);
        return;
    }
    self->next = loop->connections;
    if (self->next != NULL)
        self->next->previous = self;
    loop->connections = self;
    self->active_us = loop_now_us(loop->loop);
    ask_for_what_is_next(self);
}

void
frame_connection_open(FrameLoop *loop, int fd, const struct sockaddr *address, gsize length)
{
    FrameConnection *self = g_new0(FrameConnection, 1);

    self->watch = (LoopWatch){ .fd = fd, .events = EPOLLIN, .ready = socket_ready };
    self->timer.expired = deadline_came;
    self->arrival.run = arrive;
    self->waiter.granted.run = frame_receive_granted;
    self->waiter.loop = loop->loop;
    self->loop = loop;
    self->refs = 1;
    memcpy(&self->address, address, MIN(length, sizeof self->address));
    loop_post(loop->loop, &self->arrival);
}
