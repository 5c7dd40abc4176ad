/* agent_config_check.h - what is wrong between parts that are right by themselves. */
#pragma once

#include "agent/agent_config.h"

/* Before the parts are configured. root is the file's tree: what it says too little of is not
 * complained about twice. */
void agent_config_check(const AgentConfig *self, const YamlNode *root, Problems *problems);
