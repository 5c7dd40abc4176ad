/* toml_reader.h - the flat files that NSQ's programs are configured with: key = value, a line each.
 */
#pragma once

#include <glib.h>

#include "base/problems.h"

/* Called for each key outside of a [table], with its value as text: a string without its quotes, or
 * a number or truth as it was written. */
typedef void (*TomlVisitor)(const char *key, const char *value, int line, gpointer user);

/* FALSE with problems: what is no such file. */
gboolean toml_read(const char *text, TomlVisitor visit, gpointer user, Problems *problems);
