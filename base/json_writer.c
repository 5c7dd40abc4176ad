/* json_writer.c - writes JSON into a GString; commas and escapes by itself. */
#include "base/json_writer.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void
json_writer_init(JsonWriter *self, GString *out)
{
    self->out = out;
    self->comma = FALSE;
}

/* The comma and the key before a value. */
static void
begin_value(JsonWriter *self, ByteSpan key)
{
    if (self->comma)
        g_string_append_c(self->out, ',');
    self->comma = TRUE;
    if (key.data == NULL)
        return;
    json_append_quoted(self->out, key);
    g_string_append_c(self->out, ':');
}

static void
begin_value_of_text(JsonWriter *self, const char *key)
{
    begin_value(self, key == NULL ? byte_span(NULL, 0) : byte_span_of_text(key));
}

void
json_open(JsonWriter *self, const char *key, char bracket)
{
    begin_value_of_text(self, key);
    g_string_append_c(self->out, bracket);
    self->comma = FALSE;
}

void
json_close(JsonWriter *self, char bracket)
{
    g_string_append_c(self->out, bracket);
    self->comma = TRUE;
}

void
json_text(JsonWriter *self, const char *key, const char *text)
{
    begin_value_of_text(self, key);
    if (text == NULL)
        g_string_append(self->out, "null");
    else
        json_append_quoted(self->out, byte_span_of_text(text));
}

void
json_int(JsonWriter *self, const char *key, gint64 number)
{
    begin_value_of_text(self, key);
    g_string_append_printf(self->out, "%" G_GINT64_FORMAT, number);
}

void
json_bool(JsonWriter *self, const char *key, gboolean truth)
{
    begin_value_of_text(self, key);
    g_string_append(self->out, truth ? "true" : "false");
}

void
json_bytes(JsonWriter *self, ByteSpan key, ByteSpan value)
{
    begin_value(self, key);
    json_append_quoted(self->out, value);
}

static void
append_control(GString *out, guint8 c)
{
    static const char short_forms[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
    };

    if (short_forms[c] == '\0')
        g_string_append_printf(out, "\\u%04x", c);
    else
        g_string_append_printf(out, "\\%c", short_forms[c]);
}

/* text is valid UTF-8. */
static void
append_escaped(GString *out, const guint8 *text, const guint8 *end)
{
    const guint8 *start = text;

    for (; text < end; text++) {
        if (*text >= 0x20 && *text != '"' && *text != '\\')
            continue;
        g_string_append_len(out, (const char *) start, text - start);
        start = text + 1;
        if (*text < 0x20) {
            append_control(out, *text);
        } else {
            g_string_append_c(out, '\\');
            g_string_append_c(out, (char) *text);
        }
    }
    g_string_append_len(out, (const char *) start, end - start);
}

void
json_append_quoted(GString *out, ByteSpan text)
{
    gsize ascii = byte_span_ascii_length(text);
    const guint8 *at = ascii > 0 ? text.data + ascii : text.data; /* an empty text may be NULL */
    gsize left = text.length - ascii;

    g_string_append_c(out, '"');
    append_escaped(out, text.data, at);
    while (left > 0) {
        const char *valid_end;

        g_utf8_validate_len((const char *) at, left, &valid_end);
        append_escaped(out, at, (const guint8 *) valid_end);
        left -= (gsize) ((const guint8 *) valid_end - at);
        at = (const guint8 *) valid_end;
        if (left == 0)
            break;
        /* GLib takes a NUL for the end of a text; anything else that stops it is not UTF-8. */
        g_string_append(out, *at == 0 ? "\\u0000" : REPLACEMENT);
        at++;
        left--;
    }
    g_string_append_c(out, '"');
}
