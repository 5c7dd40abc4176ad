/* yaml_expand.c - ${NAME} and ${NAME:-default} in a scalar. */
#include "base/yaml_expand.h"

#include <string.h>

#define MAX_EXPANDED_BYTES (1024 * 1024)
#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

typedef struct {
    const YamlNode *where;
    const char *path;
    Problems *problems;
    GString *out;
    gboolean failed;
} Expansion;

static void G_GNUC_PRINTF(2, 3) complain(Expansion *self, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    problems_add(self->problems, self->where, self->path, "%s", what);
    self->failed = TRUE;
}

/* inner is what stands between the braces. */
static void
expand_variable(Expansion *self, const char *inner)
{
    gsize name_length = strspn(inner, NAME_LETTERS);
    g_autofree char *name = g_strndup(inner, name_length);
    const char *rest = inner + name_length;
    const char *fallback = g_str_has_prefix(rest, ":-") ? rest + 2 : NULL;
    const char *value = g_getenv(name);

    if (name_length == 0 || g_ascii_isdigit(*name) || (*rest != '\0' && fallback == NULL))
        complain(self,
                 "'${%s}' is no variable; write ${NAME} or ${NAME:-default}, or $${ for the "
                 "text '${'",
                 inner);
    else if (fallback != NULL && strstr(fallback, "${") != NULL)
        complain(self, "the default of ${%s} holds another variable; a default is not expanded",
                 name);
    else if (value != NULL && !g_utf8_validate(value, -1, NULL))
        complain(self, "the environment variable %s is not UTF-8; set it to text", name);
    else if (fallback != NULL)
        g_string_append(self->out, value == NULL || *value == '\0' ? fallback : value);
    else if (value != NULL)
        g_string_append(self->out, value);
    else
        complain(self, "the environment variable %s is not set; set it, or write ${%s:-default}",
                 name, name);
}

char *
yaml_expand(const char *text, const YamlNode *where, const char *path, Problems *problems)
{
    g_autoptr(GString) out = g_string_new(NULL);
    Expansion self = { .where = where, .path = path, .problems = problems, .out = out };
    const char *dollar;

    for (; (dollar = strstr(text, "${")) != NULL;) {
        const char *end = strchr(dollar, '}');
        g_autofree char *inner = NULL;

        if (dollar > text && dollar[-1] == '$') {
            g_string_append_len(out, text, dollar - text - 1);
            g_string_append(out, "${");
            text = dollar + 2;
            continue;
        }
        g_string_append_len(out, text, dollar - text);
        if (end == NULL) {
            complain(&self, "'${' has no '}'; close it, or write $${ for the text '${'");
            break;
        }
        inner = g_strndup(dollar + 2, (gsize) (end - dollar) - 2);
        expand_variable(&self, inner);
        text = end + 1;
        if (out->len > MAX_EXPANDED_BYTES) {
            complain(&self, "the text is longer than 1 MiB once its variables are expanded; write "
                            "a shorter one");
            break;
        }
    }
    if (self.failed)
        return NULL;
    g_string_append(out, text);
    return g_string_free(g_steal_pointer(&out), FALSE);
}
