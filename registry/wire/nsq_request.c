/* nsq_request.c - NSQ's look-up protocol V1 from a node's side. */
#include "registry/wire/nsq_request.h"

#include <gio/gio.h>
#include <string.h>

#include "registry/wire/nsq_json.h"

#define ANSWER_SHOWN 200 /* bytes of a refusal */

static void
append_text(GByteArray *out, const char *text)
{
    g_byte_array_append(out, (const guint8 *) text, (guint) strlen(text));
}

static char *
node_to_json(const NsqIntroduction *node)
{
    GString *out = g_string_new("{");

    nsq_json_append_member(out, "broadcast_address", node->broadcast_address);
    nsq_json_append_member(out, "hostname", node->hostname);
    nsq_json_append_number(out, "http_port", node->http_port);
    nsq_json_append_number(out, "tcp_port", node->tcp_port);
    nsq_json_append_member(out, "version", node->version);
    g_string_append_c(out, '}');
    return g_string_free(out, FALSE);
}

void
nsq_request_append_identify(GByteArray *out, const NsqIntroduction *node)
{
    g_autofree char *json = node_to_json(node);

    append_text(out, NSQ_MAGIC "IDENTIFY\n");
    nsq_frame_append(out, json, strlen(json));
}

static void
append_line(GByteArray *out, const char *verb, const char *topic)
{
    append_text(out, verb);
    append_text(out, topic);
    append_text(out, "\n");
}

void
nsq_request_append_register(GByteArray *out, const char *topic)
{
    append_line(out, "REGISTER ", topic);
}

void
nsq_request_append_unregister(GByteArray *out, const char *topic)
{
    append_line(out, "UNREGISTER ", topic);
}

void
nsq_request_append_ping(GByteArray *out)
{
    append_text(out, "PING\n");
}

/* ---- answers ---- */

static gboolean
refuse_length(const guint8 *prefix, guint32 length, GError **error)
{
    if (memcmp(prefix, "HTTP", NSQ_LENGTH_PREFIX) == 0)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                            "it speaks HTTP; write the address of its TCP port, which is 4160 "
                            "unless it was told another");
    else
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "it is no nsqlookupd: its answer would have %u bytes", length);
    return FALSE;
}

gboolean
nsq_answer_take(ByteSpan *input, ByteSpan *ret_payload, GError **error)
{
    guint32 length;

    if (input->length < NSQ_LENGTH_PREFIX)
        return FALSE;
    memcpy(&length, input->data, sizeof length);
    length = GUINT32_FROM_BE(length);
    if (length > NSQ_ANSWER_MAX)
        return refuse_length(input->data, length, error);
    if (input->length - NSQ_LENGTH_PREFIX < length)
        return FALSE;
    *ret_payload = byte_span(input->data + NSQ_LENGTH_PREFIX, length);
    *input = byte_span(ret_payload->data + length, input->length - NSQ_LENGTH_PREFIX - length);
    return TRUE;
}

gboolean
nsq_answer_check(NsqVerb request, ByteSpan payload, GError **error)
{
    g_autofree char *shown = NULL;
    g_autofree char *text = NULL;

    if (request == NSQ_IDENTIFY ? payload.length > 0 && payload.data[0] == '{'
                                : byte_span_equal(payload, byte_span_of_text("OK")))
        return TRUE;
    shown = g_strndup((const char *) payload.data, MIN(payload.length, ANSWER_SHOWN));
    text = g_utf8_make_valid(shown, -1);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "it answers '%s'", text);
    return FALSE;
}
