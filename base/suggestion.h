/* suggestion.h - what to tell someone who wrote a word that does not exist. */
#pragma once

#include <glib.h>

/* "did you mean 'sinks'?", or, if none is near, what there is: "sections are: agent, sources", or
 * "there are no sections". plural names the candidates (NULL-terminated). (transfer full) */
char *suggestion_for(const char *word, const char *const *candidates, const char *plural);
/* The second half alone. (transfer full) */
char *suggestion_list(const char *const *candidates, const char *plural);
