/* suggestion.c - what to tell someone who wrote a word that does not exist. */
#include "base/suggestion.h"

#include "base/problems.h"

/* More names than this do not help on one line. */
#define LISTED_MAX 16

char *
suggestion_list(const char *const *candidates, const char *plural)
{
    GString *text;

    if (candidates[0] == NULL)
        return g_strdup_printf("there are no %s", plural);
    text = g_string_new(NULL);
    g_string_append_printf(text, "%s are: ", plural);
    for (guint i = 0; candidates[i] != NULL; i++) {
        if (i == LISTED_MAX) {
            g_string_append_printf(text, " and %u more", g_strv_length((GStrv) candidates) - i);
            break;
        }
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", candidates[i]);
    }
    return g_string_free(text, FALSE);
}

char *
suggestion_for(const char *word, const char *const *candidates, const char *plural)
{
    const char *nearest = problems_nearest(word, candidates);

    if (nearest != NULL)
        return g_strdup_printf("did you mean '%s'?", nearest);
    return suggestion_list(candidates, plural);
}
