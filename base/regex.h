/* regex.h - regular expressions over raw bytes, whose searches come to an end.
 *
 * Patterns are Perl's, by PCRE2. A dot stops at \n and \r, and at no other byte: any other may be
 * part of a letter in UTF-8. */
#pragma once

#include <glib.h>

#include "base/span.h"

#define REGEX_ERROR (regex_error_quark())
GQuark regex_error_quark(void);
typedef enum { REGEX_ERROR_SYNTAX } RegexError;

char *regex_library_version(void); /* (transfer full) "10.42 2022-12-11" */

typedef struct Regex Regex; /* immutable: any number of threads may search with it */

/* The error says where and why: "at char 3: missing closing parenthesis". */
Regex *regex_new(const char *pattern, GError **error);
void regex_free(Regex *self);
const char *regex_pattern(const Regex *self);
guint regex_n_groups(const Regex *self);
int regex_group_of_name(const Regex *self, const char *name); /* -1 if there is none */

typedef enum {
    REGEX_FOUND,
    REGEX_NOT_FOUND,
    REGEX_GAVE_UP, /* it went through too many ways to match, or may not go on */
} RegexResult;

/* Asked before each step of a search, of which a long one has many: none takes longer than some
 * tenths of a second. FALSE makes it give up. */
typedef gboolean (*RegexMayGoOn)(gpointer user);

/* All matches in a subject, one after the other. Borrows everything; nothing to free. */
typedef struct {
    const Regex *regex;
    ByteSpan subject;
    RegexMayGoOn may_go_on; /* may be NULL */
    gpointer user;

    gsize from;          /* where the next match may begin */
    const gsize *groups; /* offsets of the last match, on the thread's scratch */
    guint n_groups;      /* of them, with the whole match */
    const char *why;     /* after REGEX_GAVE_UP, for people */
} RegexSearch;

void regex_search_init(RegexSearch *self, const Regex *regex, ByteSpan subject,
                       RegexMayGoOn may_go_on, gpointer user);
/* The first match, then the one after it. What was found stays readable until the thread searches
 * again. After REGEX_GAVE_UP the search is over. */
RegexResult regex_search_next(RegexSearch *self);
/* Group 0 is the whole match. FALSE if the group took no part in it. */
gboolean regex_search_group(const RegexSearch *self, guint group, ByteSpan *ret_bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Regex, regex_free)
