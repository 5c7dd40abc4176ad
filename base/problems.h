/* problems.h - everything wrong with one file, collected so that all of it can be shown at once. */
#pragma once

#include <glib.h>

#include "base/yaml_tree.h"

Problems *problems_new(const char *file);
void problems_free(Problems *self);

/* what is a sentence with its remedy: "'64Mb' is not a size; write a number with KiB, MiB or GiB".
 * path names the value ("sinks.archive.roll-size"), "" for the file as a whole; line and column are
 * counted from 1, 0 if unknown. */
void problems_add_at(Problems *self, int line, int column, const char *path, const char *format,
                     ...) G_GNUC_PRINTF(5, 6);
void problems_add(Problems *self, const YamlNode *where, const char *path, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

gsize problems_count(const Problems *self);
/* Whether there is one of the value of this path itself. */
gboolean problems_name(const Problems *self, const char *path);
/* One line each, "file:line:col: path: what", in the order of the file; behind the first hundred
 * one that says how many more there are. */
char *problems_to_text(Problems *self);

/* ", did you mean 'compression'?"-style help: the candidate nearest to word, NULL if none is near.
 */
const char *problems_nearest(const char *word, const char *const *candidates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Problems, problems_free)
