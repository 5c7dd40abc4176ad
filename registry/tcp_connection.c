/* tcp_connection.c - one connection: its socket, its answers, its patience, its end. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "registry/tcp_server_private.h"

/* Who asks for more than this before having read it gets the rest of the answers after that. */
#define OUTPUT_ENOUGH (256 * 1024)
/* How long a connection is served before others have their turn. */
#define TURN_US (5 * 1000)

/* ---- the end ---- */

static void
drop_input(TcpConnection *self)
{
    self->has_more = FALSE;
    if (self->input == NULL)
        return;
    self->server->held_bytes -= self->input->len;
    g_clear_pointer(&self->input, g_byte_array_unref);
}

/* Who does not read stands in line from when an answer did not go out at once. */
static void
count_output(TcpConnection *self)
{
    TcpServer *server = self->server;
    gsize unsent = self->output != NULL ? self->output->len : 0;

    if (unsent > 0 && self->unsent_bytes == 0)
        g_queue_push_tail_link(&server->unsent, &self->of_unsent);
    else if (unsent == 0 && self->unsent_bytes > 0)
        g_queue_unlink(&server->unsent, &self->of_unsent);
    server->unsent_bytes += unsent;
    server->unsent_bytes -= self->unsent_bytes;
    self->unsent_bytes = unsent;
    if (server->unsent_bytes > server->options.held_max)
        loop_timer_set(server->loop, &server->relief, 0);
}

static void
leave(TcpConnection *self, const char *why)
{
    if (self->has_left)
        return;
    self->has_left = TRUE;
    self->server->protocol->left(self, why);
}

void
tcp_connection_close(TcpConnection *self, const char *why)
{
    TcpServer *server = self->server;

    leave(self, why);
    drop_input(self);
    g_clear_pointer(&self->output, g_byte_array_unref);
    count_output(self);
    loop_timer_clear(server->loop, &self->timer);
    loop_remove(server->loop, &self->watch);
    close(self->watch.fd);
    g_queue_unlink(&server->connections, &self->link);
    g_free(self->peer);
    g_free(self);
}

void
tcp_connection_relieve(TcpServer *server)
{
    while (server->unsent_bytes > server->options.held_max) {
        TcpConnection *longest = server->unsent.head->data;

        tcp_connection_note_refusal(longest, REFUSAL_RESOURCES, "answers that nobody reads");
        tcp_connection_close(longest, "it does not read its answers");
    }
}

void
tcp_connection_end(TcpConnection *self, const char *why)
{
    leave(self, why);
    drop_input(self);
    self->is_ending = TRUE;
    loop_timer_set(self->server->loop, &self->timer,
                   loop_now_us(self->server->loop) + self->server->options.linger_us);
}

void
tcp_connection_note_refusal(TcpConnection *self, RefusalReason reason, const char *detail)
{
    refusals_add(self->server->refusals, reason, self->peer, detail);
}

/* ---- answers ---- */

GByteArray *
tcp_connection_output(TcpConnection *self)
{
    if (self->output == NULL)
        self->output = g_byte_array_new();
    return self->output;
}

static gboolean
would_block(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* FALSE: it cannot be written to any more. */
static gboolean
flush(TcpConnection *self)
{
    ssize_t sent;

    if (self->output == NULL)
        return TRUE;
    sent = send(self->watch.fd, self->output->data, self->output->len, MSG_NOSIGNAL);
    if (sent < 0 && !would_block())
        return FALSE;
    if (sent == (ssize_t) self->output->len)
        g_clear_pointer(&self->output, g_byte_array_unref);
    else if (sent > 0)
        g_byte_array_remove_range(self->output, 0, (guint) sent);
    return TRUE;
}

void
tcp_connection_stop(TcpConnection *self, const char *why)
{
    (void) flush(self);
    tcp_connection_close(self, why);
}

/* ---- what came in ---- */

static gboolean
is_turn_over(const TcpConnection *self, gint64 turn_ends_us)
{
    return (self->output != NULL && self->output->len >= OUTPUT_ENOUGH) ||
           clock_now_us() > turn_ends_us;
}

/* How many bytes were used up. */
static gsize
take_all(TcpConnection *self, ByteSpan bytes)
{
    gint64 turn_ends_us = clock_now_us() + TURN_US;
    gsize used = 0, more = 1;

    while (more > 0 && used < bytes.length && !self->is_ending &&
           !is_turn_over(self, turn_ends_us)) {
        more =
            self->server->protocol->take(self, byte_span(bytes.data + used, bytes.length - used));
        used += more;
    }
    self->has_more = more > 0 && used < bytes.length && !self->is_ending;
    return self->is_ending ? bytes.length : used;
}

/* What is left over waits for its rest. */
static void
keep(TcpConnection *self, GByteArray *rest)
{
    TcpServer *server = self->server;

    if (server->held_bytes + rest->len > server->options.held_max) {
        g_byte_array_unref(rest);
        server->protocol->crowded(self);
        return;
    }
    self->input = rest;
    server->held_bytes += rest->len;
}

static void
take_first_bytes(TcpConnection *self, ByteSpan fresh)
{
    gsize used = take_all(self, fresh);
    GByteArray *rest;

    if (used == fresh.length)
        return;
    rest = g_byte_array_sized_new((guint) (fresh.length - used));
    g_byte_array_append(rest, fresh.data + used, (guint) (fresh.length - used));
    keep(self, rest);
}

/* fresh may be empty: what was left over is looked at again. */
static void
take_further_bytes(TcpConnection *self, ByteSpan fresh)
{
    GByteArray *joined = g_steal_pointer(&self->input);
    gsize used;

    self->server->held_bytes -= joined->len;
    if (fresh.length > 0)
        g_byte_array_append(joined, fresh.data, (guint) fresh.length);
    used = take_all(self, byte_span(joined->data, joined->len));
    if (used == joined->len) {
        g_byte_array_unref(joined);
        return;
    }
    if (used > 0)
        g_byte_array_remove_range(joined, 0, (guint) used);
    keep(self, joined);
}

static void
take_bytes(TcpConnection *self, ByteSpan fresh)
{
    if (self->is_ending)
        return;
    if (self->input == NULL)
        take_first_bytes(self, fresh);
    else
        take_further_bytes(self, fresh);
}

/* ---- the socket ---- */

/* Sends what there is, and waits for what comes next. */
static void
go_on(TcpConnection *self)
{
    Loop *loop = self->server->loop;

    if (!flush(self)) {
        tcp_connection_close(self, g_strerror(errno));
        return;
    }
    count_output(self);
    if (self->output != NULL || self->has_more) {
        loop_change(loop, &self->watch, EPOLLOUT);
        return;
    }
    if (self->is_ending && self->read_ended) {
        tcp_connection_close(self, NULL);
        return;
    }
    if (self->is_ending)
        shutdown(self->watch.fd, SHUT_WR);
    loop_change(loop, &self->watch, EPOLLIN);
}

void
tcp_connection_send(TcpConnection *self)
{
    go_on(self);
}

static void
take_end(TcpConnection *self)
{
    self->read_ended = TRUE;
    if (!self->is_ending)
        self->server->protocol->read_ended(self);
    go_on(self);
}

static void
on_ready(LoopWatch *watch, guint32 events)
{
    TcpConnection *self =
        (TcpConnection *) ((char *) watch - G_STRUCT_OFFSET(TcpConnection, watch));
    TcpServer *server = self->server;
    ssize_t got;

    /* What an error is shows in the next call; one that waits to write makes that first. */
    if (self->output != NULL) {
        if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0)
            go_on(self);
        return;
    }
    if (self->has_more) {
        take_further_bytes(self, byte_span(NULL, 0));
        go_on(self);
        return;
    }
    got = recv(watch->fd, server->scratch, sizeof server->scratch, 0);
    if (got < 0 && would_block())
        return;
    if (got < 0) {
        tcp_connection_close(self, g_strerror(errno));
        return;
    }
    if (got == 0) {
        take_end(self);
        return;
    }
    take_bytes(self, byte_span(server->scratch, (gsize) got));
    go_on(self);
}

/* ---- patience ---- */

static gint64
idle_until_us(const TcpConnection *self)
{
    return self->active_us + self->patience_us;
}

void
tcp_connection_set_patience(TcpConnection *self, gint64 patience_us)
{
    self->patience_us = patience_us;
    loop_timer_set(self->server->loop, &self->timer, idle_until_us(self));
}

void
tcp_connection_be_active(TcpConnection *self)
{
    self->active_us = loop_now_us(self->server->loop);
}

/* Set once for a long time, and only looked at anew when that is over: a heartbeat costs nothing.
 */
static void
on_timer(LoopTimer *timer)
{
    TcpConnection *self =
        (TcpConnection *) ((char *) timer - G_STRUCT_OFFSET(TcpConnection, timer));

    if (self->is_ending) {
        tcp_connection_close(self, NULL);
        return;
    }
    if (loop_now_us(self->server->loop) < idle_until_us(self)) {
        loop_timer_set(self->server->loop, timer, idle_until_us(self));
        return;
    }
    tcp_connection_note_refusal(self, REFUSAL_IDLE, NULL);
    tcp_connection_close(self, "it was idle for too long");
}

void
tcp_connection_open(TcpServer *server, int fd, const char *peer)
{
    TcpConnection *self = g_malloc0(server->protocol->connection_size);
    g_autoptr(GError) error = NULL;

    self->server = server;
    self->watch = (LoopWatch){ .fd = fd, .events = EPOLLIN, .ready = on_ready };
    if (!loop_add(server->loop, &self->watch, &error)) {
        refusals_add(server->refusals, REFUSAL_RESOURCES, peer, error->message);
        close(fd);
        g_free(self);
        return;
    }
    self->peer = g_strdup(peer);
    self->timer.expired = on_timer;
    self->active_us = loop_now_us(server->loop);
    self->link.data = self;
    self->of_unsent.data = self;
    g_queue_push_tail_link(&server->connections, &self->link);
    server->protocol->opened(self);
}
