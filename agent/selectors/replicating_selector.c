/* replicating_selector.c - every event goes into every channel of its source. */
#include "agent/core/selector.h"

const SelectorType replicating_selector = {
    .base = {
        .name = "replicating",
        .summary = "Puts every event into every channel of the source.",
        .instance_size = sizeof(Selector),
    },
    .same_for_all = TRUE,
};
