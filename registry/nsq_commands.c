/* nsq_commands.c - the bytes of one nsqd into commands, and those into the table, one after the
 * other. */
#include <string.h>

#include "registry/nsq_connection_private.h"
#include "registry/wire/nsq_command.h"
#include "registry/wire/nsq_name.h"

static void
carried_out(NsqConnection *self, NsqVerb verb)
{
    metric_add_value(self->server->metrics, NSQ_COMMANDS, verb, 1);
    self->active_us = loop_now_us(self->server->loop);
}

/* ---- commands ---- */

static void
ping(NsqConnection *self)
{
    if (self->node != NULL)
        nsq_table_hear(self->server->table, self->node, loop_now_us(self->server->loop));
    carried_out(self, NSQ_PING);
    nsq_connection_answer(self, "OK", 2);
}

static void
register_or_unregister(NsqConnection *self, const NsqCommand *command)
{
    g_autoptr(GString) refusal = g_string_new(NULL);
    char topic[NSQ_NAME_MAX + 1], channel[NSQ_NAME_MAX + 1];

    if (self->node == NULL) {
        nsq_connection_refuse_text(self, REFUSAL_BAD_COMMAND, "E_INVALID client must IDENTIFY");
        return;
    }
    if (!nsq_command_check_names(command, refusal)) {
        nsq_connection_refuse(self, command->has_topic ? REFUSAL_BAD_NAME : REFUSAL_BAD_COMMAND,
                              refusal->str, refusal->len, NULL);
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
    nsq_connection_answer(self, "OK", 2);
}

static void
refuse_unknown(NsqConnection *self, ByteSpan word)
{
    g_autoptr(GString) text = g_string_new("E_INVALID invalid command ");

    if (word.length > 0)
        g_string_append_len(text, (const char *) word.data, (gssize) word.length);
    nsq_connection_refuse(self, REFUSAL_BAD_COMMAND, text->str, text->len, NULL);
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
            nsq_connection_refuse_text(self, REFUSAL_BAD_COMMAND,
                                       "E_INVALID cannot IDENTIFY again");
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
        nsq_connection_refuse(self, REFUSAL_BAD_BODY, refusal, strlen(refusal), error->message);
        return;
    }
    self->was_identified = TRUE;
    self->node = nsq_table_add_node(server->table, identity, loop_now_us(server->loop));
    self->state = STATE_LINE;
    carried_out(self, NSQ_IDENTIFY);
    loop_timer_set(server->loop, &self->timer, nsq_connection_idle_until_us(self));
    nsq_connection_answer(self, server->self_json, strlen(server->self_json));
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
        nsq_connection_refuse_text(self, REFUSAL_BAD_PROTOCOL, "E_BAD_PROTOCOL");
    return NSQ_MAGIC_LENGTH;
}

static gsize
take_line_of(NsqConnection *self, ByteSpan bytes)
{
    const guint8 *end = memchr(bytes.data, '\n', MIN(bytes.length, NSQ_LINE_MAX + 1));

    if (end == NULL && bytes.length > NSQ_LINE_MAX) {
        nsq_connection_refuse_text(self, REFUSAL_TOO_LONG, "E_INVALID command is too long");
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
        nsq_connection_refuse_text(self, REFUSAL_TOO_LONG,
                                   "E_BAD_BODY IDENTIFY failed to read body size");
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
        nsq_connection_refuse_text(self, REFUSAL_RESOURCES,
                                   "E_INVALID too many unfinished commands");
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

void
nsq_commands_take(NsqConnection *self, ByteSpan fresh)
{
    if (self->input == NULL)
        take_first_bytes(self, fresh);
    else
        take_further_bytes(self, fresh);
}
