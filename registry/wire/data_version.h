/* data_version.h - the version of a broker's topics, as JSON:
 * {"counter":3,"stateVersion":0,"timestamp":1700000000000} */
#pragma once

#include <glib.h>

#include "base/span.h"

/* A broker's topics are the same as long as all three are. */
typedef struct {
    gint64 state_version;
    gint64 timestamp_ms;
    gint64 counter;
} DataVersion;

GString *data_version_encode(const DataVersion *self); /* (transfer full) */
/* A timestamp that is absent is now. */
gboolean data_version_decode(ByteSpan json, gint64 now_ms, DataVersion *ret_version,
                             GError **error);
gboolean data_version_equal(const DataVersion *a, const DataVersion *b);
