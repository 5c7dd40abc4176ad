/* select.h - one selector with its channels, for tests. */
#pragma once

#include <glib.h>

#include "agent/core/selector.h"
#include "base/batch.h"

/* channels as in "a b | c": required, then optional. yaml: options as in "header: kind".
 * *ret_problems (transfer full) is what a user is told, "" if all is well; NULL: that is checked,
 * and the selector opened. */
Selector *selector_new(const SelectorType *type, const char *channels, const char *yaml,
                       char **ret_problems);
void selector_free(Selector *self);

/* Where one event goes: "a b | c", required and optional. (transfer full) */
char *selector_choose(Selector *self, const char *event);
/* Where a batch goes: "a: e1 e2 | c: e1", in the order of channels. (transfer full) */
char *selector_route(Selector *self, Batch *batch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Selector, selector_free)
