/* memory_fault.h - memory that runs out when a test wants it to, for allocations that may fail. The
 * test program is linked with --wrap of each (tests/unit/local.mk). */
#pragma once

#include <glib.h>

/* The next n_skipped go well, then n_failing fail; none fails any more after that. */
void memory_fault_set(guint n_skipped, guint n_failing);
void memory_fault_clear(void);
guint memory_fault_hits(void); /* since it was set */
