/* toml_reader.c - the part of TOML that flat files of keys and values use. */
#include "registry/toml_reader.h"

#include <string.h>

static const char *
skip_space(const char *at)
{
    return at + strspn(at, " \t\r");
}

static gboolean
is_over(const char *at)
{
    at = skip_space(at);
    return *at == '\0' || *at == '#';
}

/* At the quote; NULL if the string has no end on its line, or an escape that is none. */
static char *
read_string(const char **at)
{
    static const char names[] = "\"\\bfnrt";
    static const char bytes[] = "\"\\\b\f\n\r\t";
    g_autoptr(GString) out = g_string_new(NULL);
    char quote = *(*at)++;

    for (; **at != '\0' && **at != quote; (*at)++) {
        const char *name;

        if (quote == '\'' || **at != '\\') {
            g_string_append_c(out, **at);
            continue;
        }
        (*at)++;
        name = **at != '\0' ? strchr(names, **at) : NULL;
        if (name == NULL)
            return NULL;
        g_string_append_c(out, bytes[name - names]);
    }
    if (**at != quote)
        return NULL;
    (*at)++;
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static char *
read_word(const char **at)
{
    gsize length = strcspn(*at, " \t\r#");
    char *word = length > 0 ? g_strndup(*at, length) : NULL;

    *at += length;
    return word;
}

static gboolean
read_pair(const char *line, char **ret_key, char **ret_value)
{
    const char *at = line;
    gsize length = strspn(at, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-");
    g_autofree char *key = g_strndup(at, length);
    g_autofree char *value = NULL;

    at = skip_space(at + length);
    if (length == 0 || *at != '=')
        return FALSE;
    at = skip_space(at + 1);
    value = *at == '"' || *at == '\'' ? read_string(&at) : read_word(&at);
    if (value == NULL || !is_over(at))
        return FALSE;
    *ret_key = g_steal_pointer(&key);
    *ret_value = g_steal_pointer(&value);
    return TRUE;
}

gboolean
toml_read(const char *text, TomlVisitor visit, gpointer user, Problems *problems)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    gboolean in_table = FALSE;

    for (int i = 0; lines[i] != NULL; i++) {
        const char *line = skip_space(lines[i]);
        g_autofree char *key = NULL;
        g_autofree char *value = NULL;

        if (is_over(line))
            continue;
        if (*line == '[') {
            in_table = TRUE;
            continue;
        }
        if (!read_pair(line, &key, &value))
            problems_add_at(problems, i + 1, (int) (line - lines[i]) + 1, "",
                            "this is no 'key = value'; write tcp_address = \"0.0.0.0:4160\"");
        else if (!in_table)
            visit(key, value, i + 1, user);
    }
    return problems_count(problems) == 0;
}
