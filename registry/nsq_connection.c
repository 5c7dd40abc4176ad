/* nsq_connection.c - one connection of one nsqd: its bytes into commands, and those into the table.
 *
 * One command after the other is carried out and answered. While an answer has not gone out,
 * nothing is read: whoever does not read is not listened to. A refusal is answered and ends the
 * connection; the client gets a moment to read it, since closing with unread bytes would take it
 * back. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "registry/nsq_server_private.h"
#include "registry/wire/nsq_command.h"
#include "registry/wire/nsq_name.h"

/* What a client may put into a line of the log. */
#define LOGGED_BYTES_MAX 160

typedef enum {
    STATE_MAGIC,
    STATE_LINE,
    STATE_BODY_SIZE,
    STATE_BODY,
    STATE_ENDING, /* what comes in is thrown away */
} ConnectionState;

struct NsqConnection {
    LoopWatch watch;
    LoopTimer timer;
    NsqServer *server;
    GList link;
    char *peer;
    NsqNode *node; /* NULL before IDENTIFY and after the end */

    ConnectionState state;
    gboolean was_identified;
    gboolean read_ended; /* the client will send no more */
    gsize body_length;
    gint64 active_us;   /* the last time a command was there whole */
    GByteArray *input;  /* NULL: nothing is left over */
    GByteArray *output; /* NULL: all has gone out */
};

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

/* Answers go out, then the connection ends; its node has left. */
static void
begin_end(NsqConnection *self, const char *why)
{
    leave(self, why);
    drop_input(self);
    self->state = STATE_ENDING;
    loop_timer_set(self->server->loop, &self->timer,
                   loop_now_us(self->server->loop) + self->server->options.linger_us);
}

/* ---- answers ---- */

static void
answer(NsqConnection *self, const char *payload, gsize length)
{
    if (self->output == NULL)
        self->output = g_byte_array_new();
    nsq_frame_append(self->output, payload, length);
}

static void
refuse(NsqConnection *self, RefusalReason reason, const char *payload, gsize length,
       const char *detail)
{
    g_autofree char *text = g_strndup(payload, MIN(length, LOGGED_BYTES_MAX));
    g_autofree char *said =
        detail != NULL ? g_strdup_printf("%s: %s", text, detail) : g_steal_pointer(&text);

    answer(self, payload, length);
    refusals_add(self->server->refusals, reason, self->peer, said);
    begin_end(self, said);
}

static void
refuse_text(NsqConnection *self, RefusalReason reason, const char *payload)
{
    refuse(self, reason, payload, strlen(payload), NULL);
}

static void
carried_out(NsqConnection *self, NsqVerb verb)
{
    metric_add_value(self->server->metrics, NSQ_COMMANDS, verb, 1);
    self->active_us = loop_now_us(self->server->loop);
}

/* ---- commands ---- */

static gint64
idle_until_us(const NsqConnection *self)
{
    const NsqServerOptions *options = &self->server->options;

    return self->active_us + (self->node != NULL ? options->idle_us : options->hurry_us);
}

static void
ping(NsqConnection *self)
{
    if (self->node != NULL)
        nsq_table_hear(self->server->table, self->node, loop_now_us(self->server->loop));
    carried_out(self, NSQ_PING);
    answer(self, "OK", 2);
}

static void
register_or_unregister(NsqConnection *self, const NsqCommand *command)
{
    g_autoptr(GString) refusal = g_string_new(NULL);
    char topic[NSQ_NAME_MAX + 1], channel[NSQ_NAME_MAX + 1];

    if (self->node == NULL) {
        refuse_text(self, REFUSAL_BAD_COMMAND, "E_INVALID client must IDENTIFY");
        return;
    }
    if (!nsq_command_check_names(command, refusal)) {
        refuse(self, command->has_topic ? REFUSAL_BAD_NAME : REFUSAL_BAD_COMMAND, refusal->str,
               refusal->len, NULL);
        return;
    }
    g_strlcpy(topic, (const char *) command->topic.data, command->topic.length + 1);
    if (command->channel.length > 0)
        g_strlcpy(channel, (const char *) command->channel.data, command->channel.length + 1);
    if (command->verb == NSQ_REGISTER)
        nsq_table_register(self->server->table, self->node, topic,
                           command->channel.length > 0 ? channel : NULL);
    else
        nsq_table_unregister(self->server->table, self->node, topic,
                             command->channel.length > 0 ? channel : NULL);
    carried_out(self, command->verb);
    answer(self, "OK", 2);
}

static void
refuse_unknown(NsqConnection *self, ByteSpan word)
{
    g_autoptr(GString) text = g_string_new("E_INVALID invalid command ");

    if (word.length > 0)
        g_string_append_len(text, (const char *) word.data, (gssize) word.length);
    refuse(self, REFUSAL_BAD_COMMAND, text->str, text->len, NULL);
}

static void
take_line(NsqConnection *self, ByteSpan line)
{
    NsqCommand command = nsq_command_parse(line);

    switch (command.verb) {
    case NSQ_PING:
        ping(self);
        return;
    case NSQ_IDENTIFY:
        if (self->was_identified)
            refuse_text(self, REFUSAL_BAD_COMMAND, "E_INVALID cannot IDENTIFY again");
        else
            self->state = STATE_BODY_SIZE;
        return;
    case NSQ_REGISTER:
    case NSQ_UNREGISTER:
        register_or_unregister(self, &command);
        return;
    case NSQ_UNKNOWN:
        refuse_unknown(self, command.word);
        return;
    }
}

static void
take_body(NsqConnection *self, ByteSpan body)
{
    NsqServer *server = self->server;
    const char *refusal;
    g_autoptr(GError) error = NULL;
    NsqIdentity *identity =
        nsq_identity_parse(body.data, body.length, self->peer, &refusal, &error);

    if (identity == NULL) {
        refuse(self, REFUSAL_BAD_BODY, refusal, strlen(refusal), error->message);
        return;
    }
    self->was_identified = TRUE;
    self->node = nsq_table_add_node(server->table, identity, loop_now_us(server->loop));
    self->state = STATE_LINE;
    carried_out(self, NSQ_IDENTIFY);
    loop_timer_set(server->loop, &self->timer, idle_until_us(self));
    answer(self, server->self_json, strlen(server->self_json));
}

/* ---- bytes into commands ---- */

static gsize
take_magic(NsqConnection *self, ByteSpan bytes)
{
    if (bytes.length < NSQ_MAGIC_LENGTH)
        return 0;
    self->state = STATE_LINE;
    self->active_us = loop_now_us(self->server->loop);
    if (memcmp(bytes.data, NSQ_MAGIC, NSQ_MAGIC_LENGTH) != 0)
        refuse_text(self, REFUSAL_BAD_PROTOCOL, "E_BAD_PROTOCOL");
    return NSQ_MAGIC_LENGTH;
}

static gsize
take_line_of(NsqConnection *self, ByteSpan bytes)
{
    const guint8 *end = memchr(bytes.data, '\n', MIN(bytes.length, NSQ_LINE_MAX + 1));

    if (end == NULL && bytes.length > NSQ_LINE_MAX) {
        refuse_text(self, REFUSAL_TOO_LONG, "E_INVALID command is too long");
        return bytes.length;
    }
    if (end == NULL)
        return 0;
    take_line(self, byte_span(bytes.data, (gsize) (end - bytes.data)));
    return (gsize) (end - bytes.data) + 1;
}

static gsize
take_body_size(NsqConnection *self, ByteSpan bytes)
{
    guint32 size;

    if (bytes.length < NSQ_LENGTH_PREFIX)
        return 0;
    memcpy(&size, bytes.data, NSQ_LENGTH_PREFIX);
    self->body_length = GUINT32_FROM_BE(size);
    self->state = STATE_BODY;
    if (self->body_length > NSQ_BODY_MAX)
        refuse_text(self, REFUSAL_TOO_LONG, "E_BAD_BODY IDENTIFY failed to read body size");
    else if (self->body_length == 0)
        take_body(self, byte_span(bytes.data, 0));
    return NSQ_LENGTH_PREFIX;
}

/* How many bytes were used up; 0: more must come first. */
static gsize
take_some(NsqConnection *self, ByteSpan bytes)
{
    switch (self->state) {
    case STATE_MAGIC:
        return take_magic(self, bytes);
    case STATE_LINE:
        return take_line_of(self, bytes);
    case STATE_BODY_SIZE:
        return take_body_size(self, bytes);
    case STATE_BODY:
        if (bytes.length < self->body_length)
            return 0;
        take_body(self, byte_span(bytes.data, self->body_length));
        return self->body_length;
    case STATE_ENDING:
        return bytes.length;
    }
    g_assert_not_reached();
}

static gsize
take_all(NsqConnection *self, ByteSpan bytes)
{
    gsize used = 0;

    while (used < bytes.length) {
        gsize more = take_some(self, byte_span(bytes.data + used, bytes.length - used));

        if (more == 0)
            break;
        used += more;
    }
    return used;
}

/* What is left over waits for its rest. */
static void
keep(NsqConnection *self, GByteArray *rest)
{
    NsqServer *server = self->server;

    if (server->held_bytes + rest->len > NSQ_HELD_MAX) {
        g_byte_array_unref(rest);
        refuse_text(self, REFUSAL_RESOURCES, "E_INVALID too many unfinished commands");
        return;
    }
    self->input = rest;
    server->held_bytes += rest->len;
}

static void
take_first_bytes(NsqConnection *self, ByteSpan fresh)
{
    gsize used = take_all(self, fresh);
    GByteArray *rest;

    if (used == fresh.length)
        return;
    rest = g_byte_array_sized_new((guint) (fresh.length - used));
    g_byte_array_append(rest, fresh.data + used, (guint) (fresh.length - used));
    keep(self, rest);
}

static void
take_further_bytes(NsqConnection *self, ByteSpan fresh)
{
    GByteArray *joined = g_steal_pointer(&self->input);
    gsize used;

    self->server->held_bytes -= joined->len;
    g_byte_array_append(joined, fresh.data, (guint) fresh.length);
    used = take_all(self, byte_span(joined->data, joined->len));
    if (used == joined->len) {
        g_byte_array_unref(joined);
        return;
    }
    g_byte_array_remove_range(joined, 0, (guint) used);
    keep(self, joined);
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
        refuse_text(self, REFUSAL_BAD_BODY, "E_BAD_BODY IDENTIFY failed to read body size");
    else if (self->state == STATE_BODY)
        refuse_text(self, REFUSAL_BAD_BODY, "E_BAD_BODY IDENTIFY failed to read body");
    else if (self->state != STATE_ENDING)
        begin_end(self, "the node closed the connection");
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
    if (self->input == NULL)
        take_first_bytes(self, byte_span(server->scratch, (gsize) got));
    else
        take_further_bytes(self, byte_span(server->scratch, (gsize) got));
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
    if (loop_now_us(self->server->loop) < idle_until_us(self)) {
        loop_timer_set(self->server->loop, timer, idle_until_us(self));
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
    loop_timer_set(server->loop, &self->timer, idle_until_us(self));
}
