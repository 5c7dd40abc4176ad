/* agent_config_sinks.h - what sinks are wired to: channels, dead letters, groups. */
#pragma once

#include "agent/agent_config.h"

void agent_config_wire_sinks(AgentConfig *self, Problems *problems);
/* Dead letters that come back to the sink that rejected them. */
void agent_config_check_dead_letters(const AgentConfig *self, Problems *problems);
