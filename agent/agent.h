/* agent.h - a running agent: starts and stops its parts in order, on a lifecycle thread. */
#pragma once

#include <glib.h>

#include "agent/agent_config.h"

typedef struct Agent Agent;

Agent *agent_new(AgentConfig *config /* (transfer full) */);
void agent_free(Agent *self);

/* Opens everything, then starts channels, sinks, sources. All or nothing. */
gboolean agent_start(Agent *self, GError **error);
/* Sources stop and answer, channels that would lose their content are drained, sinks stop, by
 * shutdown-timeout. Returns the number of events lost; logs what became of the rest. Stopping twice
 * is the same as once. */
guint64 agent_stop(Agent *self);

const AgentConfig *agent_config(const Agent *self);
/* NULL when healthy, else a sentence. (transfer full) Any thread. */
char *agent_trouble(Agent *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Agent, agent_free)
