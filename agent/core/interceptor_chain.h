/* interceptor_chain.h - a batch on its way through the interceptors of its source. */
#pragma once

#include <glib.h>

#include "agent/core/interceptor.h"
#include "base/batch.h"

/* How large interceptors may make a batch. */
typedef struct {
    gsize n_bytes;      /* of its events together, and of any body or new headers; 0: 2 GiB */
    const char *remedy; /* ends the sentence that says so in the log; NULL if n_bytes is 0 */
} BatchLimit;

#define INTERCEPT_ERROR (intercept_error_quark())
GQuark intercept_error_quark(void);
typedef enum {
    INTERCEPT_ERROR_TOO_SLOW, /* the batch took more than its processor time */
    INTERCEPT_ERROR_STOPPING, /* the agent stops, and did not wait for it */
} InterceptError;

/* What is left of the batch (transfer full): the batch itself if nothing was changed, else one that
 * is written anew, untouched events copied as bytes. It may be empty. interceptors holds
 * Interceptor *. Any thread. NULL with CHANNEL_ERROR_TOO_LARGE if the events grew beyond the limit,
 * CHANNEL_ERROR_NO_MEMORY if there is none for what they became, an INTERCEPT_ERROR if it took more
 * than its time (which may be NULL, for none). */
Batch *interceptor_chain_run(const GPtrArray *interceptors, Batch *batch, BatchLimit limit,
                             const InterceptTime *time, guint *ret_n_dropped, GError **error);
