/* put_state.h - one batch on its way into several channels at once. */
#pragma once

#include <glib.h>

#include "agent/core/channel_processor.h"
#include "agent/core/route.h"

/* Takes over the route; channels and source as given to the processor. */
PutState *put_state_new(Put *put, Route *route /* (transfer full) */, Channel *const *channels,
                        Component *source);
void put_state_free(PutState *self);

/* Puts into all required channels, until one refuses. TRUE: nothing is under way, the outcome
 * stands. FALSE: ready comes, or has come, and put has its deadline. */
gboolean put_state_start(PutState *self);
/* As channel_processor_expire. */
gboolean put_state_expire(PutState *self);
/* Once nothing is under way: the outcome; puts into the optional channels if the required ones took
 * it. */
gboolean put_state_finish(PutState *self, GError **error);

/* What the owner of a put that was cancelled is told. */
GError *put_timeout_error(Channel *channel);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PutState, put_state_free)
