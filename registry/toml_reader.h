/* toml_reader.h - the flat files that NSQ's programs are configured with: key = value, a line each.
 */
#pragma once

#include <glib.h>

#include "base/problems.h"

/* Called for each key with its value as text: a string without its quotes, or a number, truth or
 * list as it was written. in_table: it stands below a [table]. */
typedef void (*TomlVisitor)(const char *key, const char *value, gboolean in_table, int line,
                            gpointer user);

/* FALSE with problems: what is no such file. */
gboolean toml_read(const char *text, TomlVisitor visit, gpointer user, Problems *problems);
