/* part.h - parts of an agent made from a few lines of YAML, for tests. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"

/* Made and configured; the text is a mapping without `type`, "" for no options. *ret_problems
 * (transfer full) is NULL if there were none, else what a user would read. */
Component *part_new_with_problems(const ComponentType *type, ComponentKind kind,
                                  const OptionSpec *kind_options, const MetricSpec *kind_metrics,
                                  const char *yaml, char **ret_problems);
/* As above; a problem fails the test. Opened. */
Component *part_new(const ComponentType *type, ComponentKind kind, const OptionSpec *kind_options,
                    const MetricSpec *kind_metrics, const char *yaml);
/* Closed and freed. */
void part_free(Component *self);
