/* nsq_command.c - one line of NSQ's look-up protocol V1, and the frames of its answers. */
#include "registry/wire/nsq_command.h"

#include <string.h>

#include "registry/wire/nsq_name.h"

static const char *const verb_words[] = {
    [NSQ_PING] = "PING",
    [NSQ_IDENTIFY] = "IDENTIFY",
    [NSQ_REGISTER] = "REGISTER",
    [NSQ_UNREGISTER] = "UNREGISTER",
};

static gboolean
is_space(guint8 byte)
{
    return g_ascii_isspace((char) byte) || byte == '\v';
}

static ByteSpan
strip(ByteSpan line)
{
    while (line.length > 0 && is_space(line.data[0]))
        line = byte_span(line.data + 1, line.length - 1);
    while (line.length > 0 && is_space(line.data[line.length - 1]))
        line.length--;
    return line;
}

/* Up to the next space, which is taken too. FALSE if nothing is left, not even an empty word. */
static gboolean
next_word(ByteSpan *rest, gboolean *at_end, ByteSpan *ret_word)
{
    const guint8 *space;
    gsize length;

    if (*at_end)
        return FALSE;
    space = rest->length > 0 ? memchr(rest->data, ' ', rest->length) : NULL;
    length = space != NULL ? (gsize) (space - rest->data) : rest->length;
    *ret_word = byte_span(rest->data, length);
    *at_end = space == NULL;
    if (space != NULL)
        *rest = byte_span(space + 1, rest->length - length - 1);
    return TRUE;
}

NsqCommand
nsq_command_parse(ByteSpan line)
{
    NsqCommand self = { .verb = NSQ_UNKNOWN };
    ByteSpan rest = strip(line);
    gboolean at_end = FALSE;

    next_word(&rest, &at_end, &self.word);
    for (guint verb = 0; verb < NSQ_UNKNOWN; verb++)
        if (byte_span_equal(self.word, byte_span_of_text(verb_words[verb])))
            self.verb = (NsqVerb) verb;
    self.has_topic = next_word(&rest, &at_end, &self.topic);
    if (self.has_topic)
        next_word(&rest, &at_end, &self.channel);
    return self;
}

static gboolean
refuse_name(const NsqCommand *self, const char *code, const char *kind, ByteSpan name,
            GString *ret_answer)
{
    g_string_printf(ret_answer, "%s %s %s name '", code, verb_words[self->verb], kind);
    g_string_append_len(ret_answer, (const char *) name.data, (gssize) name.length);
    g_string_append(ret_answer, "' is not valid");
    return FALSE;
}

gboolean
nsq_command_check_names(const NsqCommand *self, GString *ret_answer)
{
    if (!self->has_topic) {
        g_string_printf(ret_answer, "E_INVALID %s insufficient number of params",
                        verb_words[self->verb]);
        return FALSE;
    }
    if (!nsq_name_is_valid(self->topic))
        return refuse_name(self, "E_BAD_TOPIC", "topic", self->topic, ret_answer);
    if (self->channel.length > 0 && !nsq_name_is_valid(self->channel))
        return refuse_name(self, "E_BAD_CHANNEL", "channel", self->channel, ret_answer);
    return TRUE;
}

void
nsq_frame_append(GByteArray *out, const char *payload, gsize length)
{
    guint32 prefix = GUINT32_TO_BE((guint32) length);

    g_byte_array_append(out, (const guint8 *) &prefix, sizeof prefix);
    g_byte_array_append(out, (const guint8 *) payload, (guint) length);
}
