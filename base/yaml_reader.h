/* yaml_reader.h - libyaml's events made into nodes; for yaml_tree alone. */
#pragma once

#include <glib.h>

#include "base/yaml_tree.h"

/* As yaml_tree_parse; the text is UTF-8 without a byte order mark. */
YamlNode *yaml_read(const char *text, gsize length, Problems *problems);
