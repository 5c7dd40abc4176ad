/* nsq_json.c - texts as NSQ's programs write them into JSON. */
#include "registry/wire/nsq_json.h"

#include <string.h>

#include "registry/wire/json_escape.h"

void
nsq_json_append_text(GString *out, const char *text)
{
    g_string_append_c(out, '"');
    for (; *text != '\0'; text = g_utf8_next_char(text)) {
        gunichar c = g_utf8_get_char(text);
        const char *escape = json_short_escape(c);

        if (escape != NULL)
            g_string_append(out, escape);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029)
            g_string_append_printf(out, "\\u%04x", c);
        else
            g_string_append_len(out, text, g_utf8_next_char(text) - text);
    }
    g_string_append_c(out, '"');
}

void
nsq_json_append_key(GString *out, const char *key)
{
    if (out->len > 0 && strchr("{[", out->str[out->len - 1]) == NULL)
        g_string_append_c(out, ',');
    nsq_json_append_text(out, key);
    g_string_append_c(out, ':');
}

void
nsq_json_append_member(GString *out, const char *key, const char *text)
{
    nsq_json_append_key(out, key);
    nsq_json_append_text(out, text);
}

void
nsq_json_append_number(GString *out, const char *key, gint64 number)
{
    nsq_json_append_key(out, key);
    g_string_append_printf(out, "%" G_GINT64_FORMAT, number);
}
