/* test_part.h - makes one part for a test from YAML text, as the configuration would. */
#pragma once

#include "agent/core/component.h"

/* yaml: its options, "" for none. The text must be right; the type need not be in the catalogue. */
Component *test_part_new(const ComponentType *type, ComponentKind kind, const char *name,
                         const char *yaml);
