/* batch_cutter.h - cuts slices into calls: by number of events, and by bytes below the frame limit.
 */
#pragma once

#include <glib.h>

#include "base/batch.h"
#include "thrift/wire/message.h"

typedef struct {
    const BatchSlice *slices; /* borrowed */
    guint n_slices;
    WireProtocol protocol;
    guint max_events;

    guint slice; /* the next event: in which slice, and the how manieth there */
    guint event;
} BatchCutter;

typedef enum {
    CUT_CALL,
    CUT_END,
    CUT_TOO_LARGE, /* the next event fits into no frame, and stays the next */
} Cut;

/* max_events: at least 1. */
void batch_cutter_init(BatchCutter *self, const BatchSlice *slices, guint n_slices,
                       WireProtocol protocol, guint max_events);
/* CUT_CALL: as many of the next events as one call may have replace what ret_call held (an array of
 * BatchSlice). */
Cut batch_cutter_next(BatchCutter *self, GArray *ret_call, guint *ret_n_events);
