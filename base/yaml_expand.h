/* yaml_expand.h - ${NAME} and ${NAME:-default} in a scalar; for yaml_tree alone. */
#pragma once

#include <glib.h>

#include "base/problems.h"

/* (transfer full) The text with its variables expanded. NULL after adding at least one problem at
 * where. */
char *yaml_expand(const char *text, const YamlNode *where, const char *path, Problems *problems);
