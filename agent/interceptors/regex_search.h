/* regex_search.h - regular expressions over raw bytes, with an end to their patience. */
#pragma once

#include <glib.h>

#include "agent/core/interceptor.h"

typedef enum {
    SEARCH_FOUND,
    SEARCH_NONE,
    SEARCH_GAVE_UP, /* at the library's limit for backtracking: reported, leave the event alone */
} SearchResult;

/* Compiles to machine code what GLib would compile at the first match, which two threads must not
 * do at once; for open. */
void regex_search_prepare(GRegex *regex);

/* The first match. ret_match (transfer full) is set in any case and borrows the subject; it may be
 * NULL. */
SearchResult regex_search(const Interceptor *self, const GRegex *regex, ByteSpan subject,
                          GMatchInfo **ret_match);
/* The one after it. */
SearchResult regex_search_next(const Interceptor *self, GMatchInfo *match);

/* FALSE if the group took no part in the match. */
gboolean regex_search_group(const GMatchInfo *match, guint group, ByteSpan subject,
                            ByteSpan *ret_bytes);
