/* text_wrap.h - a paragraph as lines of a width. */
#pragma once

#include <glib.h>

/* (transfer full) The words of text behind margin, in lines of so many characters at the most; a
 * word that is longer has a line of its own. The last line, too, ends in a newline. */
char *text_wrap(const char *text, const char *margin, guint columns);
