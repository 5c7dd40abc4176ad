/* properties_reader.c - files of Java's properties: key=value, a line each. */
#include "registry/properties_reader.h"

#include <string.h>

#define SPACE " \t\f\r"

/* How many backslashes are at the end. */
static gsize
count_backslashes(const GString *line)
{
    gsize n = 0;

    while (n < line->len && line->str[line->len - 1 - n] == '\\')
        n++;
    return n;
}

static gboolean
is_comment(const char *line)
{
    return *line == '#' || *line == '!' || *line == '\0';
}

/* \uXXXX of the basic plane alone, as nothing else is of use in a configuration. */
static gboolean
append_code(GString *out, const char **at)
{
    gunichar code = 0;

    for (int i = 0; i < 4; i++) {
        int digit = g_ascii_xdigit_value(*++*at);

        if (digit < 0)
            return FALSE;
        code = code * 16 + (gunichar) digit;
    }
    if (code == 0 || !g_unichar_validate(code))
        return FALSE;
    g_string_append_unichar(out, code);
    return TRUE;
}

/* Behind the backslash. */
static gboolean
append_escape(GString *out, const char **at)
{
    static const char names[] = "nrtf";
    static const char bytes[] = "\n\r\t\f";
    const char *name = **at != '\0' ? strchr(names, **at) : NULL;

    if (**at == 'u')
        return append_code(out, at);
    g_string_append_c(out, name != NULL ? bytes[name - names] : **at);
    return TRUE;
}

/* Up to the end, or to a byte of ends that is not escaped. (transfer full) */
static char *
read_word(const char **at, const char *ends)
{
    g_autoptr(GString) out = g_string_new(NULL);

    for (; **at != '\0' && strchr(ends, **at) == NULL; ++*at) {
        if (**at != '\\') {
            g_string_append_c(out, **at);
            continue;
        }
        if (*++*at == '\0' || !append_escape(out, at))
            return NULL;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static gboolean
read_property(const char *line, int number, PropertyVisitor visit, gpointer user)
{
    const char *at = line;
    g_autofree char *key = read_word(&at, "=:" SPACE);
    g_autofree char *value = NULL;

    at += strspn(at, SPACE);
    if (*at == '=' || *at == ':')
        at++;
    at += strspn(at, SPACE);
    value = read_word(&at, "");
    if (key == NULL || value == NULL)
        return FALSE;
    visit(key, g_strchomp(value), number, user);
    return TRUE;
}

gboolean
properties_read(const char *text, PropertyVisitor visit, gpointer user, int *ret_line)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    *ret_line = 0;
    if (!g_utf8_validate(text, -1, NULL))
        return FALSE;
    for (int i = 0; lines[i] != NULL; i++) {
        g_autoptr(GString) line = g_string_new(lines[i] + strspn(lines[i], SPACE));
        int number = i + 1;

        g_string_truncate(line, strlen(g_strchomp(line->str)));
        if (is_comment(line->str))
            continue;
        while (count_backslashes(line) % 2 == 1 && lines[i + 1] != NULL) {
            const char *next = lines[++i];

            g_string_truncate(line, line->len - 1);
            g_string_append(line, next + strspn(next, SPACE));
            g_string_truncate(line, strlen(g_strchomp(line->str)));
        }
        *ret_line = number;
        if (!read_property(line->str, number, visit, user))
            return FALSE;
    }
    return TRUE;
}
