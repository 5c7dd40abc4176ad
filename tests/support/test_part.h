/* test_part.h - makes one part for a test from YAML text, as the configuration would. */
#pragma once

#include "agent/core/component.h"

/* yaml: its options, "" for none. The text must be right; the type need not be in the catalogue. */
Component *test_part_new(const ComponentType *type, ComponentKind kind, const char *name,
                         const char *yaml);
/* The same, opened. */
Component *test_part_open(const ComponentType *type, ComponentKind kind, const char *name,
                          const char *yaml);
/* Closed and freed. */
void test_part_free(Component *self);

/* What a user is told about such a part; "" if all is well. (transfer full) */
char *test_part_problems(const ComponentType *type, ComponentKind kind, const char *yaml);
