/* agent_config_registration.h - the section `registration`: which source is announced where. */
#pragma once

#include "agent/agent_config.h"

/* After the sources. The list may be missing. */
void agent_config_read_registration(AgentConfig *self, const YamlNode *root, Problems *problems);
/* Configures them, and finds those that would take turns at one place in a registry. */
void agent_config_configure_registrations(const AgentConfig *self, Problems *problems);
