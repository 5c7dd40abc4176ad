/* properties_reader.h - files of Java's properties: key=value, a line each. */
#pragma once

#include <glib.h>

typedef void (*PropertyVisitor)(const char *key, const char *value, int line, gpointer user);

/* Called for each property in order. Keys end at '=', ':' or white space; '#' and '!' begin a
 * comment, a backslash at the end of a line joins the next one to it. FALSE, with the line, at an
 * escape that is none, or at bytes that are no UTF-8. */
gboolean properties_read(const char *text, PropertyVisitor visit, gpointer user, int *ret_line);
