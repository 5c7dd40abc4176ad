/* source_runner.h - starts and stops one source, on a thread of its own if the source wants one. */
#pragma once

#include "agent/core/source.h"

typedef struct SourceRunner SourceRunner;

SourceRunner *source_runner_new(Source *source);
gboolean source_runner_start(SourceRunner *self, GError **error);
/* In two steps, so that all sources stop at the same time: the first returns at once, the second
 * when the source has ended. Nothing happens to one that has not started. */
void source_runner_begin_stop(SourceRunner *self, gint64 answer_deadline_us, gint64 deadline_us);
void source_runner_finish_stop(SourceRunner *self);
void source_runner_free(SourceRunner *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SourceRunner, source_runner_free)
