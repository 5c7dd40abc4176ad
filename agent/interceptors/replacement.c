/* replacement.c - a replacement text in the manner of Java: $1, ${name} and \x. */
#include "agent/interceptors/replacement.h"

#include <string.h>

typedef struct {
    GString *text; /* literal, or */
    guint group;   /* this group, if text is NULL */
} ReplacementPart;

struct Replacement {
    GArray *parts; /* ReplacementPart */
};

static void
part_clear(gpointer data)
{
    ReplacementPart *part = data;

    if (part->text != NULL)
        g_string_free(part->text, TRUE);
}

void
replacement_free(Replacement *self)
{
    g_array_unref(self->parts);
    g_free(self);
}

/* ---- reading the text ---- */

static void
add_literal(Replacement *self, char letter)
{
    ReplacementPart *last = self->parts->len > 0
                                ? &g_array_index(self->parts, ReplacementPart, self->parts->len - 1)
                                : NULL;

    if (last == NULL || last->text == NULL) {
        ReplacementPart part = { .text = g_string_new(NULL) };

        g_array_append_val(self->parts, part);
        last = &g_array_index(self->parts, ReplacementPart, self->parts->len - 1);
    }
    g_string_append_c(last->text, letter);
}

static void
add_group(Replacement *self, guint group)
{
    ReplacementPart part = { .group = group };

    g_array_append_val(self->parts, part);
}

static void
refuse(GError **error, const char *why)
{
    g_set_error_literal(error, REGEX_ERROR, REGEX_ERROR_SYNTAX, why);
}

/* Behind "${". Returns the first byte behind "}". */
static const char *
read_group_name(Replacement *self, const char *text, const Regex *regex, GError **error)
{
    const char *end = strchr(text, '}');
    g_autofree char *name = NULL;
    int group;

    if (end == NULL || end == text) {
        refuse(error, "has a ${ without a name and }; write ${name}, or \\$ for a dollar");
        return NULL;
    }
    name = g_strndup(text, (gsize) (end - text));
    group = regex_group_of_name(regex, name);
    if (group < 0) {
        g_set_error(error, REGEX_ERROR, REGEX_ERROR_SYNTAX,
                    "refers to a group '%s' that the pattern does not have", name);
        return NULL;
    }
    add_group(self, (guint) group);
    return end + 1;
}

/* Behind "$", at a digit: as many digits as there are groups for. */
static const char *
read_group_number(Replacement *self, const char *text, const Regex *regex, GError **error)
{
    guint n_groups = regex_n_groups(regex);
    guint group = (guint) (*text++ - '0');

    if (group > n_groups) {
        g_set_error(error, REGEX_ERROR, REGEX_ERROR_SYNTAX,
                    "refers to group %u, but the pattern has %u", group, n_groups);
        return NULL;
    }
    while (g_ascii_isdigit(*text) && group * 10 + (guint) (*text - '0') <= n_groups)
        group = group * 10 + (guint) (*text++ - '0');
    add_group(self, group);
    return text;
}

/* Reads one unit; the next one's place, or NULL. */
static const char *
read_unit(Replacement *self, const char *text, const Regex *regex, GError **error)
{
    if (*text == '\\') {
        if (text[1] == '\0') {
            refuse(error, "ends in a single \\; write \\\\ for a backslash");
            return NULL;
        }
        add_literal(self, text[1]);
        return text + 2;
    }
    if (*text != '$') {
        add_literal(self, *text);
        return text + 1;
    }
    if (text[1] == '{')
        return read_group_name(self, text + 2, regex, error);
    if (g_ascii_isdigit(text[1]))
        return read_group_number(self, text + 1, regex, error);
    refuse(error, "has a $ without a group; write $1, or \\$ for a dollar");
    return NULL;
}

Replacement *
replacement_new(const char *text, const Regex *regex, GError **error)
{
    g_autoptr(Replacement) self = g_new0(Replacement, 1);

    self->parts = g_array_new(FALSE, FALSE, sizeof(ReplacementPart));
    g_array_set_clear_func(self->parts, part_clear);
    while (*text != '\0') {
        text = read_unit(self, text, regex, error);
        if (text == NULL)
            return NULL;
    }
    return g_steal_pointer(&self);
}

/* ---- use ---- */

static ByteSpan
replacement_part_span(const ReplacementPart *self, const RegexSearch *found)
{
    ByteSpan group;

    if (self->text != NULL)
        return byte_span(self->text->str, self->text->len);
    return regex_search_group(found, self->group, &group) ? group : byte_span(NULL, 0);
}

gboolean
replacement_append(const Replacement *self, const RegexSearch *found, EventEdit *event)
{
    for (guint i = 0; i < self->parts->len; i++) {
        const ReplacementPart *part = &g_array_index(self->parts, ReplacementPart, i);

        if (!event_edit_append_body(event, replacement_part_span(part, found)))
            return FALSE;
    }
    return TRUE;
}
