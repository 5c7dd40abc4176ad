/* interceptor_chain.h - a batch on its way through the interceptors of its source. */
#pragma once

#include <glib.h>

#include "agent/core/interceptor.h"
#include "base/batch.h"

/* What is left of the batch (transfer full): the batch itself if nothing was changed, else one that
 * is written anew, untouched events copied as bytes. It may be empty. interceptors holds
 * Interceptor *. Any thread. NULL with CHANNEL_ERROR_TOO_LARGE if the events grew beyond all
 * bounds. */
Batch *interceptor_chain_run(const GPtrArray *interceptors, Batch *batch, guint *ret_n_dropped,
                             GError **error);
