/* source_runner.h - starts and stops one source, on a thread of its own if the source wants one. */
#pragma once

#include "agent/core/source.h"

typedef struct SourceRunner SourceRunner;

SourceRunner *source_runner_new(Source *source);
gboolean source_runner_start(SourceRunner *self, GError **error);
/* Returns when the source has ended. Stopping twice is the same as once. */
void source_runner_stop(SourceRunner *self, gint64 answer_deadline_us, gint64 deadline_us);
void source_runner_free(SourceRunner *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SourceRunner, source_runner_free)
