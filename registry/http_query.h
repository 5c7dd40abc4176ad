/* http_query.h - the parameters of a URL, as Go's programs take them apart. */
#pragma once

#include <glib.h>

typedef struct HttpQuery HttpQuery;

/* What stands behind '?', still escaped; NULL is none. NULL if it cannot be read: an escape that is
 * none, or ';' between parameters. */
HttpQuery *http_query_parse(const char *text);
void http_query_free(HttpQuery *self);

/* The first value of a key; NULL if the key is absent. What cannot be in a C string is U+FFFD. */
const char *http_query_get(const HttpQuery *self, const char *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpQuery, http_query_free)
