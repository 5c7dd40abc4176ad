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

/* A list of one line; NULL if it has no end there. */
static char *
read_list(const char **at)
{
    const char *start = *at;
    int depth = 0;

    do {
        g_autofree char *text = NULL;

        if (**at == '"' || **at == '\'') {
            text = read_string(at);
            if (text == NULL)
                return NULL;
            continue;
        }
        depth += **at == '[' ? 1 : **at == ']' ? -1 : 0;
        (*at)++;
    } while (depth > 0 && **at != '\0');
    return depth == 0 ? g_strndup(start, (gsize) (*at - start)) : NULL;
}

static char *
read_value(const char **at)
{
    switch (**at) {
    case '"':
    case '\'':
        return read_string(at);
    case '[':
        return read_list(at);
    default:
        return read_word(at);
    }
}

/* ret_at: where in the line the value begins. */
static gboolean
read_pair(const char *line, char **ret_key, char **ret_value, const char **ret_at)
{
    const char *at = line;
    gsize length = strspn(at, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-");
    g_autofree char *key = g_strndup(at, length);
    g_autofree char *value = NULL;

    at = skip_space(at + length);
    if (length == 0 || *at != '=')
        return FALSE;
    at = skip_space(at + 1);
    *ret_at = at;
    value = read_value(&at);
    if (value == NULL || !is_over(at))
        return FALSE;
    *ret_key = g_steal_pointer(&key);
    *ret_value = g_steal_pointer(&value);
    return TRUE;
}

/* Numbers and truths alone do without quotes; TOML's times too, but no key here has one. */
static gboolean
lacks_quotes(const char *at, const char *value)
{
    static const char plain[] =
        "^(true|false|0x[0-9A-Fa-f_]+|0o[0-7_]+|0b[01_]+|"
        "[+-]?(inf|nan|[0-9][0-9_]*(\\.[0-9][0-9_]*)?([eE][+-]?[0-9_]+)?))$";

    return *at != '"' && *at != '\'' && *at != '[' && !g_regex_match_simple(plain, value, 0, 0);
}

gboolean
toml_read(const char *text, TomlVisitor visit, gpointer user, Problems *problems)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    gboolean in_table = FALSE;

    for (int i = 0; lines[i] != NULL; i++) {
        const char *line = skip_space(lines[i]);
        const char *at;
        g_autofree char *key = NULL;
        g_autofree char *value = NULL;

        if (is_over(line))
            continue;
        if (*line == '[')
            in_table = TRUE;
        else if (!read_pair(line, &key, &value, &at))
            problems_add_at(problems, i + 1, (int) (line - lines[i]) + 1, "",
                            "this is no 'key = value'; write tcp_address = \"0.0.0.0:4160\"");
        else if (lacks_quotes(at, value))
            problems_add_at(problems, i + 1, (int) (at - lines[i]) + 1, key,
                            "'%s' is no number and neither true nor false; write it in quotes, "
                            "\"%s\"",
                            value, value);
        else
            visit(key, value, in_table, i + 1, user);
    }
    return problems_count(problems) == 0;
}
