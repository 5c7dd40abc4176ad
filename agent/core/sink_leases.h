/* sink_leases.h - the leases of one sink that are on their way to its destination, the oldest
 * first. A sink that does not pipeline has one, and delivers it when it is collected. */
#pragma once

#include <glib.h>

#include "agent/core/sink.h"

typedef struct {
    Sink *sink;
    GQueue under_way; /* SinkAttempt * */
} SinkLeases;

/* What became of one. What was acknowledged is not committed yet. */
typedef struct {
    Lease *lease; /* (transfer full) rolls back when the outcome is cleared */
    Verdict verdict;
    guint done;
    AnsweredBy by;
    GError *error; /* NULL when DELIVERED */
} SinkOutcome;

void sink_leases_init(SinkLeases *self, Sink *sink);
/* None is under way. */
void sink_leases_clear(SinkLeases *self);

gboolean sink_leases_are_none(const SinkLeases *self);
/* Whether one more may be submitted although others are under way. */
gboolean sink_leases_have_room(const SinkLeases *self);
void sink_leases_submit(SinkLeases *self, Lease *lease /* (transfer full) */);
/* Ends the oldest; there is one. deadline_us is no later than the attempt's own. */
void sink_leases_collect(SinkLeases *self, gint64 deadline_us, SinkOutcome *ret_outcome);

void sink_outcome_clear(SinkOutcome *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SinkOutcome, sink_outcome_clear)
