/* fastjson.c - JSON as fastjson writes it. */
#include "registry/wire/fastjson.h"

#include <string.h>

#include "registry/wire/json_escape.h"
#include "registry/wire/json_reader.h"

static gboolean
needs_escape(gunichar c, gboolean standard)
{
    return c < 0x20 || (c >= 0x7f && (standard || c < 0xa0)) || c == 0x2028 || c == 0x2029;
}

static void
append_escaped(GString *out, gunichar c)
{
    if (c < 0x10000)
        g_string_append_printf(out, "\\u%04X", c);
    else
        g_string_append_printf(out, "\\u%04X\\u%04X", 0xd800 + ((c - 0x10000) >> 10),
                               0xdc00 + ((c - 0x10000) & 0x3ff));
}

/* text is UTF-8 and may hold NUL. */
static void
append_quoted(Fastjson *self, const char *text, gsize length)
{
    const char *end = text + length;

    g_string_append_c(self->out, '"');
    for (; text < end; text = g_utf8_next_char(text)) {
        gunichar c = *text == '\0' ? 0 : g_utf8_get_char(text);
        const char *escape = json_short_escape(c);

        if (escape != NULL)
            g_string_append(self->out, escape);
        else if (c == '/' && self->standard)
            g_string_append(self->out, "\\/");
        else if (needs_escape(c, self->standard))
            append_escaped(self->out, c);
        else
            g_string_append_len(self->out, text, g_utf8_next_char(text) - text);
    }
    g_string_append_c(self->out, '"');
}

/* The comma, unless a bracket, a key or a comma is right before; no value ends as one of them. */
static void
begin_child(Fastjson *self)
{
    if (self->out->len > 0 && strchr("{[:,", self->out->str[self->out->len - 1]) == NULL)
        g_string_append_c(self->out, ',');
}

static void
begin_value(Fastjson *self, const char *key)
{
    begin_child(self);
    if (key == NULL)
        return;
    g_string_append_c(self->out, '"');
    g_string_append(self->out, key);
    g_string_append(self->out, "\":");
}

void
fastjson_open(Fastjson *self, const char *key, char bracket)
{
    begin_value(self, key);
    g_string_append_c(self->out, bracket);
}

void
fastjson_close(Fastjson *self, char bracket)
{
    g_string_append_c(self->out, bracket);
}

void
fastjson_text(Fastjson *self, const char *key, const char *text)
{
    if (text == NULL)
        return;
    begin_value(self, key);
    append_quoted(self, text, strlen(text));
}

void
fastjson_int(Fastjson *self, const char *key, gint64 number)
{
    begin_value(self, key);
    g_string_append_printf(self->out, "%" G_GINT64_FORMAT, number);
}

void
fastjson_bool(Fastjson *self, const char *key, gboolean truth)
{
    begin_value(self, key);
    g_string_append(self->out, truth ? "true" : "false");
}

void
fastjson_key(Fastjson *self, const char *key)
{
    begin_child(self);
    append_quoted(self, key, strlen(key));
    g_string_append_c(self->out, ':');
}

void
fastjson_int_key(Fastjson *self, gint64 key)
{
    begin_child(self);
    g_string_append_printf(
        self->out, self->standard ? "\"%" G_GINT64_FORMAT "\":" : "%" G_GINT64_FORMAT ":", key);
}

/* ---- copies ---- */

static gboolean
is_integer(const GString *key)
{
    const char *digits = key->str + (key->str[0] == '-');

    return *digits != '\0' && digits + strspn(digits, "0123456789") == key->str + key->len;
}

static void
copy_key(Fastjson *self, const GString *key)
{
    begin_child(self);
    if (!self->standard && is_integer(key))
        g_string_append_len(self->out, key->str, (gssize) key->len);
    else
        append_quoted(self, key->str, key->len);
    g_string_append_c(self->out, ':');
}

static void
copy_value(Fastjson *self, JsonReader *reader, GString *scratch)
{
    JsonKind kind;
    ByteSpan written;

    if (!json_reader_peek(reader, &kind))
        return;
    begin_child(self);
    if (kind == JSON_OBJECT && json_reader_enter(reader, kind)) {
        g_string_append_c(self->out, '{');
        while (json_reader_next_key(reader, scratch)) {
            copy_key(self, scratch);
            copy_value(self, reader, scratch);
        }
        g_string_append_c(self->out, '}');
    } else if (kind == JSON_ARRAY && json_reader_enter(reader, kind)) {
        g_string_append_c(self->out, '[');
        while (json_reader_next(reader))
            copy_value(self, reader, scratch);
        g_string_append_c(self->out, ']');
    } else if (kind == JSON_STRING && json_reader_string(reader, scratch)) {
        append_quoted(self, scratch->str, scratch->len);
    } else if (json_reader_skip(reader, &written)) {
        g_string_append_len(self->out, (const char *) written.data, (gssize) written.length);
    }
}

void
fastjson_copy(Fastjson *self, const char *key, ByteSpan value)
{
    g_autoptr(GString) scratch = g_string_new(NULL);
    JsonReader reader;

    begin_value(self, key);
    json_reader_init(&reader, value, JSON_FASTJSON);
    copy_value(self, &reader, scratch);
}
