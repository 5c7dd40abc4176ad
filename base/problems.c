/* problems.c - everything wrong with one file, collected so that all of it can be shown at once. */
#include "base/problems.h"

#include <string.h>

/* Longer words are no slip of the finger, and the search is quadratic. */
#define NEAREST_MAX_LENGTH 64

/* Nobody reads more at once, and a file that is wrong as a whole would fill the log. */
#define SHOWN_MAX 100

typedef struct {
    int line;
    int column;
    char *text; /* "path: what" */
} Problem;

struct Problems {
    char *file;
    GPtrArray *list; /* Problem * */
};

static void
problem_free(gpointer data)
{
    Problem *self = data;

    g_free(self->text);
    g_free(self);
}

Problems *
problems_new(const char *file)
{
    Problems *self = g_new0(Problems, 1);

    self->file = g_strdup(file);
    self->list = g_ptr_array_new_with_free_func(problem_free);
    return self;
}

void
problems_free(Problems *self)
{
    if (self == NULL)
        return;
    g_ptr_array_unref(self->list);
    g_free(self->file);
    g_free(self);
}

static void G_GNUC_PRINTF(5, 0)
    problems_add_va(Problems *self, int line, int column, const char *path, const char *format,
                    va_list arguments)
{
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    Problem *problem = g_new0(Problem, 1);

    problem->line = line;
    problem->column = column;
    problem->text = *path == '\0' ? g_steal_pointer(&what) : g_strdup_printf("%s: %s", path, what);
    g_ptr_array_add(self->list, problem);
}

void
problems_add_at(Problems *self, int line, int column, const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    problems_add_va(self, line, column, path, format, arguments);
    va_end(arguments);
}

void
problems_add(Problems *self, const YamlNode *where, const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    problems_add_va(self, where == NULL ? 0 : where->line, where == NULL ? 0 : where->column, path,
                    format, arguments);
    va_end(arguments);
}

gsize
problems_count(const Problems *self)
{
    return self->list->len;
}

gboolean
problems_name(const Problems *self, const char *path)
{
    g_autofree char *prefix = g_strdup_printf("%s: ", path);

    for (guint i = 0; i < self->list->len; i++)
        if (g_str_has_prefix(((const Problem *) self->list->pdata[i])->text, prefix))
            return TRUE;
    return FALSE;
}

static gint
problem_compare(gconstpointer a, gconstpointer b)
{
    const Problem *first = *(const Problem *const *) a;
    const Problem *second = *(const Problem *const *) b;

    if (first->line != second->line)
        return first->line < second->line ? -1 : 1;
    return first->column - second->column;
}

/* A value from the file stands in the message: it must neither break the line nor reach the
 * terminal as a control sequence. */
static void
append_one_line(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);

        if (c == '\n')
            g_string_append(out, "\\n");
        else if (c == '\t')
            g_string_append(out, "\\t");
        else if (g_unichar_iscntrl(c))
            g_string_append_printf(out, "\\x%02x", c);
        else
            g_string_append_unichar(out, c);
    }
}

char *
problems_to_text(Problems *self)
{
    GString *out = g_string_new(NULL);

    g_ptr_array_sort(self->list, problem_compare); /* stable: GLib sorts by merging */
    for (guint i = 0; i < self->list->len && i < SHOWN_MAX; i++) {
        const Problem *problem = g_ptr_array_index(self->list, i);

        append_one_line(out, self->file);
        if (problem->line > 0)
            g_string_append_printf(out, ":%d:%d", problem->line, problem->column);
        g_string_append(out, ": ");
        append_one_line(out, problem->text);
        g_string_append_c(out, '\n');
    }
    if (self->list->len > SHOWN_MAX) {
        append_one_line(out, self->file);
        g_string_append_printf(out, ": and %u more\n", self->list->len - SHOWN_MAX);
    }
    return g_string_free(out, FALSE);
}

static char
fold(char c)
{
    return c == '_' ? '-' : g_ascii_tolower(c);
}

/* Insertions, deletions, replacements and swaps of neighbours that make b of a. */
static guint
edit_distance(const char *a, gsize a_length, const char *b, gsize b_length)
{
    guint rows[3][NEAREST_MAX_LENGTH + 1];
    guint *before = rows[0], *above = rows[1], *row = rows[2];

    for (gsize j = 0; j <= b_length; j++)
        above[j] = (guint) j;
    for (gsize i = 1; i <= a_length; i++) {
        guint *spare = before;

        row[0] = (guint) i;
        for (gsize j = 1; j <= b_length; j++) {
            gboolean same = fold(a[i - 1]) == fold(b[j - 1]);
            guint best = above[j - 1] + (same ? 0 : 1);

            best = MIN(best, MIN(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                best = MIN(best, before[j - 2] + 1);
            row[j] = best;
        }
        before = above;
        above = row;
        row = spare;
    }
    return above[b_length];
}

const char *
problems_nearest(const char *word, const char *const *candidates)
{
    gsize word_length = strlen(word);
    const char *nearest = NULL;
    guint least = G_MAXUINT;

    if (word_length > NEAREST_MAX_LENGTH)
        return NULL;
    for (; *candidates != NULL; candidates++) {
        gsize length = strlen(*candidates);
        guint distance;

        if (length > NEAREST_MAX_LENGTH)
            continue;
        distance = edit_distance(word, word_length, *candidates, length);
        /* One slip in two to four letters, two in five to seven, and so on. */
        if (distance > (MAX(word_length, length) + 1) / 3 || distance >= MIN(word_length, length))
            continue;
        if (distance < least) {
            least = distance;
            nearest = *candidates;
        }
    }
    return nearest;
}
