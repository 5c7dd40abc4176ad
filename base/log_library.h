/* log_library.h - what libraries say through GLib, as lines of our shape and not more of them than
 * anybody can read. */
#pragma once

#include "base/metric.h"

/* Called by log_init. From then on a library has a line a second at the most; a message that ends
 * the process, as G_DEBUG may ask, always has one. */
void log_library_take(void);

/* Of the process, for good. */
MetricSet *log_library_metrics(void);
