/* agent_process.h - the life of `leat run`: signals, HTTP and the service manager around one agent.
 */
#pragma once

#include "agent/agent_config.h"

/* Runs the agent until SIGTERM or SIGINT on the calling thread, which must be the main one. TRUE
 * after a clean stop; FALSE: it could not start, or did not stop in time. A second signal ends the
 * process at once, with status 1. */
gboolean agent_process_run(AgentConfig *config /* (transfer full) */);
