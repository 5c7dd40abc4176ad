/* sink_search.h - a sink's search for poison: the leases that are kept aside for it. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"
#include "agent/core/poison.h"
#include "agent/core/sink.h"

typedef struct {
    Poison *poison;
    GQueue aside; /* SearchSuspect *, in the order of their refusals */
} SinkSearch;

void sink_search_init(SinkSearch *self);
void sink_search_clear(SinkSearch *self); /* puts back */

gboolean sink_search_keeps_any(const SinkSearch *self);
/* A suspect to be sent now, NULL if none is. (transfer full) */
Lease *sink_search_next_suspect(SinkSearch *self);
/* A lease just taken: NULL when it has been kept aside. (transfer full) */
Lease *sink_search_note_taken(SinkSearch *self, Lease *lease /* (transfer full) */);

void sink_search_note_acknowledged(SinkSearch *self, const Lease *lease, guint n_events,
                                   const AnsweredBy *by);
/* The lease is kept aside, and *lease then NULL, if the advice says so. */
PoisonAdvice sink_search_note_refused(SinkSearch *self, Lease **lease, const AnsweredBy *by,
                                      const GError *error);
void sink_search_note_alone(SinkSearch *self);
/* Puts back what is kept aside: one thing went wrong, or the agent stops. */
void sink_search_pause(SinkSearch *self);

/* A lease of one event that is poison, and why; NULL if none is. (transfer full) It stays poison
 * until it is noted as rejected. */
Lease *sink_search_next_poison(SinkSearch *self, GError **ret_why);
void sink_search_note_rejected(SinkSearch *self, guint64 seq);
