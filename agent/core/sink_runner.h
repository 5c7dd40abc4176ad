/* sink_runner.h - the thread of one sink: back-off, ticks, and the ways to stop. */
#pragma once

#include "agent/core/sink.h"

typedef struct SinkRunner SinkRunner;

SinkRunner *sink_runner_new(Sink *sink);
gboolean sink_runner_start(SinkRunner *self, GError **error);
/* Stop in three steps: finish, wait, interrupt. None does anything to a runner that does not run.
 * Between two waits comes reroute, if it takes long.
 *
 * drain: attempts what is in the channel until it is empty, nobody else's lease of it is open, or
 * interrupt comes; back-off is cut to a tenth of a second. Without drain: one last attempt, at
 * once, and the rest stays in the channel. */
void sink_runner_finish(SinkRunner *self, gboolean drain);
gboolean sink_runner_wait(SinkRunner *self, gint64 deadline_us); /* FALSE: still running */
/* What was not answered since then is put back, if another sink of the group may take it, or
 * another destination of this one; and the drain goes on. */
void sink_runner_reroute(SinkRunner *self, gint64 since_us);
/* Interrupts the sink, rolls back; returns when the thread has ended. */
void sink_runner_interrupt(SinkRunner *self);
/* Of a runner that has ended or was never started. */
void sink_runner_free(SinkRunner *self);

/* NULL while healthy, or while another of its group delivers; else why not (static): what the sink
 * itself says, or that events wait and nothing was delivered for 30 s. */
const char *sink_runner_trouble(SinkRunner *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SinkRunner, sink_runner_free)
