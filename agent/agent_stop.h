/* agent_stop.h - the order in which the parts of an agent stop, and what is lost by it. */
#pragma once

#include "agent/agent_config.h"

/* Stops what was started, within the timeout: sources (SourceRunner *) answer what is in hand,
 * sinks (SinkRunner *) drain the channels that would lose their content. */
void agent_stop_runners(GPtrArray *source_runners, GPtrArray *sink_runners,
                        const AgentConfig *config, gint64 timeout_us);
/* After that: counts and logs what is still in channels that lose it, and returns its number. */
guint64 agent_write_off(const AgentConfig *config);
