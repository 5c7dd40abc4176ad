/* yaml_syntax.c - libyaml's complaint about a text, put into words, with what to do about it. */
#include "base/yaml_syntax.h"

#include <string.h>

typedef struct {
    const char
        *complaint;      /* of libyaml, or a part of it; NULL ends the table with the last resort */
    const char *letters; /* one of which stands at the place; NULL: any */
    const char *remedy;
} Remedy;

static const Remedy remedies[] = {
    { "cannot start any token", "\t", "indent with spaces, not with tabs" },
    { "a tab character", NULL, "indent with spaces, not with tabs" },
    { "cannot start any token", "%@`", "put a value that begins with % @ or ` in quotes" },
    { "expected ',' or", "{", "inside { } and [ ] put a value with ${NAME} or %{NAME} in quotes" },
    { "unknown escape character", NULL, "write \\\\ for a backslash, or use single quotes" },
    { "alphabetic or numeric", NULL, "put a value that begins with * or & in quotes" },
    { "mapping values are not allowed", NULL,
      "put a value that holds ': ' in quotes, or correct the indentation" },
    { "control characters", NULL, "remove it, or write it as \"\\x..\" in double quotes" },
    { "undefined tag handle", NULL, "put a value that begins with ! in quotes" },
    { "incompatible YAML document", NULL, "write %YAML 1.1 or 1.2, or leave that line out" },
    { NULL, NULL, "check the indentation, the quotes and the brackets" },
};

/* The character that stands at the place, '\0' at the end. */
static char
letter_at(const char *text, gsize length, gsize index)
{
    const char *end = text + length;

    while (index-- > 0 && text < end)
        text = g_utf8_next_char(text);
    return text < end ? *text : '\0';
}

static const char *
remedy_of(const char *complaint, char letter)
{
    const Remedy *remedy = remedies;

    for (; remedy->complaint != NULL; remedy++)
        if (strstr(complaint, remedy->complaint) != NULL &&
            (remedy->letters == NULL ||
             (letter != '\0' && strchr(remedy->letters, letter) != NULL)))
            break;
    return remedy->remedy;
}

/* libyaml reads ahead and has no mark for a bad byte, but its offset. */
static yaml_mark_t
mark_of_offset(const char *text, gsize offset)
{
    yaml_mark_t mark = { 0 };

    for (const char *c = text; c < text + offset; c = g_utf8_next_char(c)) {
        mark.index++;
        mark.column++;
        if (*c == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

void
yaml_syntax_problem(const yaml_parser_t *parser, const char *text, gsize length, Problems *problems)
{
    yaml_mark_t mark = parser->problem_mark;
    g_autofree char *context = NULL;

    if (parser->error == YAML_MEMORY_ERROR)
        g_error("libyaml: out of memory");
    if (parser->error == YAML_READER_ERROR)
        mark = mark_of_offset(text, MIN(parser->problem_offset, length));
    if (parser->context != NULL)
        context = g_strdup_printf(" (%s that begins in line %" G_GSIZE_FORMAT ")", parser->context,
                                  parser->context_mark.line + 1);
    problems_add_at(problems, (int) mark.line + 1, (int) mark.column + 1, "", "%s%s; %s",
                    parser->problem, context == NULL ? "" : context,
                    remedy_of(parser->problem, letter_at(text, length, mark.index)));
}
