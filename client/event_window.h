/* event_window.h - events of an application become a batch, as many at a time as memory is worth.
 */
#pragma once

#include <glib.h>

#include "base/batch.h"
#include "client/leat/client.h"

/* (transfer full) The first events, at least one of them, up to some 64 MiB and to the first that
 * cannot be sent. NULL, with LEAT_ERROR_EVENT, if that is the first. */
Batch *event_window_encode(const LeatEvent *events, gsize n_events /* at least 1 */,
                           GError **error);
