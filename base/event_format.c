/* event_format.c - events as text, as JSON without loss, and as Flume prints headers. */
#include "base/event_format.h"

#include <string.h>

#include "base/json_writer.h"

const char *const event_format_names[] = { "text", "json", "headers-and-text", NULL };

static void
append_span(GString *out, ByteSpan span)
{
    g_string_append_len(out, (const char *) span.data, (gssize) span.length);
}

static void
append_text(const EventView *event, GString *out)
{
    append_span(out, event->body);
    g_string_append_c(out, '\n');
}

static void
append_headers_and_text(const EventView *event, GString *out)
{
    const char *separator = "{";
    EventHeaderIter iter;
    EventHeader header;

    if (event->n_headers == 0)
        g_string_append_c(out, '{');
    event_header_iter_init(&iter, event);
    while (event_header_iter_next(&iter, &header)) {
        g_string_append(out, separator);
        append_span(out, header.key);
        g_string_append_c(out, '=');
        append_span(out, header.value);
        separator = ", ";
    }
    g_string_append(out, "} ");
    append_text(event, out);
}

/* g_utf8_validate takes NUL for the end, so it sees what stands between them. */
static gboolean
is_utf8(ByteSpan text)
{
    gsize ascii = byte_span_ascii_length(text);

    text = byte_span(text.data + ascii, text.length - ascii);
    while (text.length > 0) {
        const guint8 *nul = memchr(text.data, '\0', text.length);
        gsize length = nul != NULL ? (gsize) (nul - text.data) : text.length;

        if (!g_utf8_validate_len((const char *) text.data, length, NULL))
            return FALSE;
        length += nul != NULL ? 1 : 0;
        text = byte_span(text.data + length, text.length - length);
    }
    return TRUE;
}

static void
append_base64(GString *out, ByteSpan bytes)
{
    g_autofree char *text = g_base64_encode(bytes.data, bytes.length);

    g_string_append_printf(out, "\"%s\"", text);
}

static gboolean
header_is_utf8(const EventHeader *header)
{
    return is_utf8(header->key) && is_utf8(header->value);
}

/* Those that are UTF-8, or those that are not. */
static guint
append_json_headers(const EventView *event, gboolean utf8,
                    void (*append)(GString *out, ByteSpan text), GString *out)
{
    EventHeaderIter iter;
    EventHeader header;
    guint n = 0;

    event_header_iter_init(&iter, event);
    while (event_header_iter_next(&iter, &header)) {
        if (header_is_utf8(&header) != utf8)
            continue;
        if (n++ > 0)
            g_string_append_c(out, ',');
        append(out, header.key);
        g_string_append_c(out, ':');
        append(out, header.value);
    }
    return n;
}

static void
append_json(const EventView *event, GString *out)
{
    g_string_append(out, "{\"headers\":{");
    if (append_json_headers(event, TRUE, json_append_quoted, out) < event->n_headers) {
        g_string_append(out, "},\"headers_base64\":{");
        append_json_headers(event, FALSE, append_base64, out);
    }
    if (is_utf8(event->body)) {
        g_string_append(out, "},\"body\":");
        json_append_quoted(out, event->body);
    } else {
        g_string_append(out, "},\"body_base64\":");
        append_base64(out, event->body);
    }
    g_string_append(out, "}\n");
}

void
event_format_append(EventFormat format, const EventView *event, GString *out)
{
    static void (*const appenders[])(const EventView *event, GString *out) = {
        [EVENT_FORMAT_TEXT] = append_text,
        [EVENT_FORMAT_JSON] = append_json,
        [EVENT_FORMAT_HEADERS_AND_TEXT] = append_headers_and_text,
    };

    appenders[format](event, out);
}
