/* nsq_connection.c - one connection of one nsqd: its socket, its answers, its patience, its end.
 *
 * While an answer has not gone out, nothing is read: whoever does not read is not listened to. A
 * refusal is answered and ends the connection; the client gets a moment to read it, since closing
 * with unread bytes would take it back. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "registry/nsq_connection_private.h"
#include "registry/wire/nsq_command.h"

/* What a client may put into a line of the log. */
#define LOGGED_BYTES_MAX 160

/* ---- the end ---- */

static void
drop_input(NsqConnection *self)
{
    if (self->input == NULL)
        return;
    self->server->held_bytes -= self->input->len;
    g_clear_pointer(&self->input, g_byte_array_unref);
}

static void
leave(NsqConnection *self, const char *why)
{
    if (self->node != NULL)
        nsq_table_remove_node(self->server->table, g_steal_pointer(&self->node), why);
}

void
nsq_connection_close(NsqConnection *self, const char *why)
{
    NsqServer *server = self->server;

    leave(self, why);
    drop_input(self);
    g_clear_pointer(&self->output, g_byte_array_unref);
    loop_timer_clear(server->loop, &self->timer);
    loop_remove(server->loop, &self->watch);
    close(self->watch.fd);
    g_queue_unlink(&server->connections, &self->link);
    metric_subtract(server->metrics, NSQ_CONNECTIONS, 1);
    g_free(self->peer);
    g_free(self);
}

void
nsq_connection_begin_end(NsqConnection *self, const char *why)
{
    leave(self, why);
    drop_input(self);
    self->state = STATE_ENDING;
    loop_timer_set(self->server->loop, &self->timer,
                   loop_now_us(self->server->loop) + self->server->options.linger_us);
}

/* ---- answers ---- */

void
nsq_connection_answer(NsqConnection *self, const char *payload, gsize length)
{
    if (self->output == NULL)
        self->output = g_byte_array_new();
    nsq_frame_append(self->output, payload, length);
}

void
nsq_connection_refuse(NsqConnection *self, RefusalReason reason, const char *payload, gsize length,
                      const char *detail)
{
    g_autofree char *text = g_strndup(payload, MIN(length, LOGGED_BYTES_MAX));
    g_autofree char *said =
        detail != NULL ? g_strdup_printf("%s: %s", text, detail) : g_steal_pointer(&text);

    nsq_connection_answer(self, payload, length);
    refusals_add(self->server->refusals, reason, self->peer, said);
    nsq_connection_begin_end(self, said);
}

void
nsq_connection_refuse_text(NsqConnection *self, RefusalReason reason, const char *payload)
{
    nsq_connection_refuse(self, reason, payload, strlen(payload), NULL);
}

/* ---- patience ---- */

gint64
nsq_connection_idle_until_us(const NsqConnection *self)
{
    const NsqServerOptions *options = &self->server->options;

    return self->active_us + (self->node != NULL ? options->idle_us : options->hurry_us);
}

/* ---- the socket ---- */

static gboolean
would_block(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* FALSE: the connection is gone. */
static gboolean
flush(NsqConnection *self)
{
    ssize_t sent;

    if (self->output == NULL)
        return TRUE;
    sent = send(self->watch.fd, self->output->data, self->output->len, MSG_NOSIGNAL);
    if (sent < 0 && !would_block()) {
        nsq_connection_close(self, g_strerror(errno));
        return FALSE;
    }
    if (sent == (ssize_t) self->output->len)
        g_clear_pointer(&self->output, g_byte_array_unref);
    else if (sent > 0)
        g_byte_array_remove_range(self->output, 0, (guint) sent);
    return TRUE;
}

/* Sends what there is, and waits for what comes next. */
static void
go_on(NsqConnection *self)
{
    if (!flush(self))
        return;
    if (self->output != NULL) {
        loop_change(self->server->loop, &self->watch, EPOLLOUT);
        return;
    }
    if (self->state == STATE_ENDING && self->read_ended) {
        nsq_connection_close(self, NULL);
        return;
    }
    if (self->state == STATE_ENDING)
        shutdown(self->watch.fd, SHUT_WR);
    loop_change(self->server->loop, &self->watch, EPOLLIN);
}

static void
take_end(NsqConnection *self)
{
    self->read_ended = TRUE;
    if (self->state == STATE_BODY_SIZE)
        nsq_connection_refuse_text(self, REFUSAL_BAD_BODY,
                                   "E_BAD_BODY IDENTIFY failed to read body size");
    else if (self->state == STATE_BODY)
        nsq_connection_refuse_text(self, REFUSAL_BAD_BODY,
                                   "E_BAD_BODY IDENTIFY failed to read body");
    else if (self->state != STATE_ENDING)
        nsq_connection_begin_end(self, "the node closed the connection");
    go_on(self);
}

static void
on_ready(LoopWatch *watch, guint32 events)
{
    NsqConnection *self = (NsqConnection *) watch;
    NsqServer *server = self->server;
    ssize_t got;

    /* What an error is shows in the next call; one that waits to write makes that first. */
    if (self->output != NULL) {
        if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0)
            go_on(self);
        return;
    }
    got = recv(watch->fd, server->scratch, sizeof server->scratch, 0);
    if (got < 0 && would_block())
        return;
    if (got < 0) {
        nsq_connection_close(self, g_strerror(errno));
        return;
    }
    if (got == 0) {
        take_end(self);
        return;
    }
    nsq_commands_take(self, byte_span(server->scratch, (gsize) got));
    go_on(self);
}

/* Set once for a long time, and only looked at anew when that is over: a heartbeat costs nothing.
 */
static void
on_timer(LoopTimer *timer)
{
    NsqConnection *self =
        (NsqConnection *) ((char *) timer - G_STRUCT_OFFSET(NsqConnection, timer));

    if (self->state == STATE_ENDING) {
        nsq_connection_close(self, NULL);
        return;
    }
    if (loop_now_us(self->server->loop) < nsq_connection_idle_until_us(self)) {
        loop_timer_set(self->server->loop, timer, nsq_connection_idle_until_us(self));
        return;
    }
    refusals_add(self->server->refusals, REFUSAL_IDLE, self->peer, NULL);
    nsq_connection_close(self, "it was idle for too long");
}

void
nsq_connection_open(NsqServer *server, int fd, const char *peer)
{
    NsqConnection *self = g_new0(NsqConnection, 1);
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
    g_queue_push_tail_link(&server->connections, &self->link);
    metric_add(server->metrics, NSQ_CONNECTIONS, 1);
    loop_timer_set(server->loop, &self->timer, nsq_connection_idle_until_us(self));
}
