/* replacement.h - a replacement text in the manner of Java: $1, ${name} and \x. */
#pragma once

#include <glib.h>

#include "agent/core/event_edit.h"
#include "base/regex.h"

typedef struct Replacement Replacement;

/* Groups are those of the regular expression. NULL and a sentence for the user if the text refers
 * to one that does not exist, or ends in the middle. */
Replacement *replacement_new(const char *text, const Regex *regex, GError **error);
void replacement_free(Replacement *self);

/* Appends it to the new body of the event, as it is for what was found last in the old one; a
 * group that took no part is empty. FALSE: the event has failed. */
gboolean replacement_append(const Replacement *self, const RegexSearch *found, EventEdit *event);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Replacement, replacement_free)
