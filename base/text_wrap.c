/* text_wrap.c - a paragraph as lines of a width. */
#include "base/text_wrap.h"

char *
text_wrap(const char *text, const char *margin, guint columns)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    GString *out = g_string_new(NULL);
    gsize column = 0;

    for (guint i = 0; words[i] != NULL; i++) {
        gsize length = (gsize) g_utf8_strlen(words[i], -1);
        gboolean is_first = column == 0 || column + 1 + length > columns;

        if (is_first && column > 0)
            g_string_append_c(out, '\n');
        g_string_append(out, is_first ? margin : " ");
        g_string_append(out, words[i]);
        column = (is_first ? (gsize) g_utf8_strlen(margin, -1) : column + 1) + length;
    }
    g_string_append_c(out, '\n');
    return g_string_free(out, FALSE);
}
