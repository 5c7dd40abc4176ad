/* load_frame.h - the one frame that a load generator sends again and again. */
#pragma once

#include <glib.h>

typedef struct {
    guint batch; /* events of an appendBatch; 0: a single append */
    guint body;  /* bytes */
    guint headers;
} LoadShape;

/* Compact, length prefix included. (transfer full) */
GByteArray *load_frame_new(const LoadShape *shape);
guint load_shape_n_events(const LoadShape *shape);
