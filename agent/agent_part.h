/* agent_part.h - a mapping with a `type` as a part of the agent. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"

/* The part with its options; component_configure is the caller's, who may have to wire it before.
 * Without a type, or with an unknown one, the part has the options of its kind alone, so that the
 * rest of the file can still be checked. NULL if the node is not a mapping. Each is a problem. */
Component *agent_part_new(ComponentKind kind, const char *name, const char *path,
                          const YamlNode *node, Problems *problems);
/* What a source has that says nothing of a selector. */
Component *agent_part_new_default_selector(const char *name, const char *path, Problems *problems);

/* Where a problem with a part as a whole is shown: at its name. */
const YamlNode *agent_part_place(const YamlNode *node);
/* The item of a list of names as it stands in the file. */
const YamlNode *agent_part_place_of_item(const Component *part, const char *option, guint index);
