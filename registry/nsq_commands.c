/* nsq_commands.c - the bytes of one nsqd into commands, and those into the table, one after the
 * other. */
#include <string.h>

#include "registry/nsq_server_private.h"
#include "registry/wire/nsq_command.h"
#include "registry/wire/nsq_name.h"

static gint64
now_us(const NsqConnection *self)
{
    return loop_now_us(tcp_server_loop(self->base.server));
}

static void
carried_out(NsqConnection *self, NsqVerb verb)
{
    metric_add_value(self->server->metrics, NSQ_COMMANDS, verb, 1);
    tcp_connection_be_active(&self->base);
}

/* ---- answers ---- */

static void
answer(NsqConnection *self, const char *payload, gsize length)
{
    nsq_frame_append(tcp_connection_output(&self->base), payload, length);
}

/* An answer after which the connection ends; detail, for the log, may be NULL. */
static void
refuse(NsqConnection *self, RefusalReason reason, const char *payload, gsize length,
       const char *detail)
{
    g_autofree char *text = g_strndup(payload, MIN(length, LOGGED_BYTES_MAX));
    g_autofree char *said =
        detail != NULL ? g_strdup_printf("%s: %s", text, detail) : g_steal_pointer(&text);

    answer(self, payload, length);
    tcp_connection_note_refusal(&self->base, reason, said);
    tcp_connection_end(&self->base, said);
}

static void
refuse_text(NsqConnection *self, RefusalReason reason, const char *payload)
{
    refuse(self, reason, payload, strlen(payload), NULL);
}

/* ---- commands ---- */

static void
ping(NsqConnection *self)
{
    if (self->node != NULL)
        nsq_table_hear(self->server->table, self->node, now_us(self));
    carried_out(self, NSQ_PING);
    answer(self, "OK", 2);
}

/* The connection goes on, with what the node has registered before: nsqd does not look at the
 * answer, and would register all of that anew. */
static void
note_full(NsqConnection *self, const char *topic)
{
    static const char payload[] = "E_INVALID the registry is full";
    g_autofree char *detail = g_strdup_printf("topic '%s': %s", topic, payload);

    answer(self, payload, sizeof payload - 1);
    tcp_connection_note_refusal(&self->base, REFUSAL_RESOURCES, detail);
}

/* FALSE after refusing it. */
static gboolean
change_table(NsqConnection *self, NsqVerb verb, const char *topic, const char *channel)
{
    NsqTable *table = self->server->table;

    if (verb == NSQ_UNREGISTER) {
        nsq_table_unregister(table, self->node, topic, channel);
        return TRUE;
    }
    if (nsq_table_register(table, self->node, topic, channel))
        return TRUE;
    note_full(self, topic);
    return FALSE;
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
    if (!change_table(self, command->verb, topic, command->channel.length > 0 ? channel : NULL))
        return;
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
        nsq_identity_parse(body.data, body.length, self->base.peer, &refusal, &error);

    if (identity == NULL) {
        refuse(self, REFUSAL_BAD_BODY, refusal, strlen(refusal), error->message);
        return;
    }
    self->was_identified = TRUE;
    self->node = nsq_table_add_node(server->table, identity, now_us(self));
    self->state = STATE_LINE;
    carried_out(self, NSQ_IDENTIFY);
    tcp_connection_set_patience(&self->base, server->options.idle_us);
    answer(self, server->self_json, strlen(server->self_json));
}

/* ---- bytes into commands ---- */

static gsize
take_magic(NsqConnection *self, ByteSpan bytes)
{
    if (bytes.length < NSQ_MAGIC_LENGTH)
        return 0;
    self->state = STATE_LINE;
    tcp_connection_be_active(&self->base);
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

gsize
nsq_commands_take(TcpConnection *connection, ByteSpan bytes)
{
    NsqConnection *self = (NsqConnection *) connection;

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
    }
    g_assert_not_reached();
}

void
nsq_commands_end(TcpConnection *connection)
{
    NsqConnection *self = (NsqConnection *) connection;

    if (self->state == STATE_BODY_SIZE)
        refuse_text(self, REFUSAL_BAD_BODY, "E_BAD_BODY IDENTIFY failed to read body size");
    else if (self->state == STATE_BODY)
        refuse_text(self, REFUSAL_BAD_BODY, "E_BAD_BODY IDENTIFY failed to read body");
    else
        tcp_connection_end(connection, "the node closed the connection");
}

void
nsq_commands_crowd(TcpConnection *connection)
{
    refuse_text((NsqConnection *) connection, REFUSAL_RESOURCES,
                "E_INVALID too many unfinished commands");
}
