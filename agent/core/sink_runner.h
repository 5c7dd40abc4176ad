/* sink_runner.h - the thread of one sink: takes leases, delivers, commits, retries with back-off.
 */
#pragma once

#include "agent/core/sink.h"

typedef struct SinkRunner SinkRunner;

SinkRunner *sink_runner_new(Sink *sink);
void sink_runner_start(SinkRunner *self);
/* Stop in two steps. drain: take at once whatever is in the channel, attempt without back-off, and
 * end when the channel is empty; without drain: a last attempt for the lease in hand. */
void sink_runner_finish(SinkRunner *self, gboolean drain);
gboolean sink_runner_wait(SinkRunner *self, gint64 deadline_us); /* FALSE: still running */
/* Interrupts the sink, rolls back; returns when the thread has ended. */
void sink_runner_interrupt(SinkRunner *self);
void sink_runner_free(SinkRunner *self);

/* NULL while healthy; else why not (static): events wait and nothing was delivered for 30 s. */
const char *sink_runner_trouble(const SinkRunner *self);
