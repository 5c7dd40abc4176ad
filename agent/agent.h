/* agent.h - a running agent: opens, starts and stops its parts in order. */
#pragma once

#include <glib.h>

#include "agent/agent_config.h"

typedef struct Agent Agent;

/* start and stop wait, so they belong on a lifecycle thread; one of them at a time. The rest may be
 * called by any thread meanwhile. */
Agent *agent_new(AgentConfig *config /* (transfer full) */);
void agent_free(Agent *self); /* stopped, or never started */

/* Opens everything, then starts channels, sinks, sources; then registries are told. All or nothing.
 */
gboolean agent_start(Agent *self, GError **error);
/* Registries are told, sources stop and answer, channels that would lose their content are drained,
 * sinks stop, by shutdown-timeout. Returns the number of events lost; logs what became of the rest.
 * Stopping twice is the same as once. */
guint64 agent_stop(Agent *self);

/* Where the agent answers HTTP, for registries. */
void agent_set_http_port(Agent *self, guint16 port);

const AgentConfig *agent_config(const Agent *self);
/* Wall clock, milliseconds since 1970; 0 before agent_start. */
gint64 agent_started_ms(const Agent *self);
/* NULL when healthy, else a line for each thing that is wrong. (transfer full) */
char *agent_trouble(Agent *self);
/* Events in channels: those that a restart finds again, and those that it does not. None before the
 * agent has started. */
void agent_count_events(Agent *self, guint64 *ret_durable, guint64 *ret_volatile);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Agent, agent_free)
