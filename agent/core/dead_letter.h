/* dead_letter.h - the way of an event that its destination never takes into another channel. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"

typedef struct DeadLetter DeadLetter;

DeadLetter *dead_letter_new(Channel *channel, const char *sink_name);
void dead_letter_free(DeadLetter *self);

/* Puts the event, with headers leat.error and leat.sink, and waits for room as long as the
 * channel's put-timeout says. FALSE: it is not there. */
gboolean dead_letter_put(DeadLetter *self, const BatchSlice *event, const char *why,
                         GError **error);
/* Any thread: a put that waits, and every later one that would have to, fails at once. */
void dead_letter_interrupt(DeadLetter *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DeadLetter, dead_letter_free)
