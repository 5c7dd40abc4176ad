/* http_query.c - the parameters of a URL, as Go's programs take them apart. */
#include "registry/http_query.h"

#include <string.h>

#include "base/text_hash.h"

struct HttpQuery {
    GHashTable *values; /* key → first value */
};

/* NULL: an escape is none. (transfer full) */
static char *
unescape(const char *text, gsize length)
{
    g_autoptr(GString) out = g_string_sized_new(length);

    for (gsize i = 0; i < length; i++) {
        int high, low;

        if (text[i] == '+') {
            g_string_append_c(out, ' ');
            continue;
        }
        if (text[i] != '%') {
            g_string_append_c(out, text[i]);
            continue;
        }
        high = i + 1 < length ? g_ascii_xdigit_value(text[i + 1]) : -1;
        low = i + 2 < length ? g_ascii_xdigit_value(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return NULL;
        if ((high << 4 | low) == 0)
            g_string_append(out, "\xef\xbf\xbd");
        else
            g_string_append_c(out, (char) (high << 4 | low));
        i += 2;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static gboolean
add_parameter(HttpQuery *self, const char *text)
{
    const char *equals = strchr(text, '=');
    gsize key_length = equals != NULL ? (gsize) (equals - text) : strlen(text);
    g_autofree char *key = NULL;
    g_autofree char *value = NULL;

    if (*text == '\0')
        return TRUE;
    if (strchr(text, ';') != NULL)
        return FALSE;
    key = unescape(text, key_length);
    value = equals != NULL ? unescape(equals + 1, strlen(equals + 1)) : g_strdup("");
    if (key == NULL || value == NULL)
        return FALSE;
    if (!g_hash_table_contains(self->values, key))
        g_hash_table_insert(self->values, g_steal_pointer(&key), g_steal_pointer(&value));
    return TRUE;
}

HttpQuery *
http_query_parse(const char *text)
{
    g_autoptr(HttpQuery) self = g_new0(HttpQuery, 1);
    g_auto(GStrv) parameters = g_strsplit(text != NULL ? text : "", "&", -1);

    self->values = g_hash_table_new_full(text_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; parameters[i] != NULL; i++)
        if (!add_parameter(self, parameters[i]))
            return NULL;
    return g_steal_pointer(&self);
}

void
http_query_free(HttpQuery *self)
{
    if (self == NULL)
        return;
    g_hash_table_unref(self->values);
    g_free(self);
}

const char *
http_query_get(const HttpQuery *self, const char *key)
{
    return g_hash_table_lookup(self->values, key);
}
