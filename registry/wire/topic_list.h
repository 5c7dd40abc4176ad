/* topic_list.h - names of topics: {"topicList":["t1","t2"]}, for 304 with "brokerAddr" before it.
 */
#pragma once

#include <glib.h>

#include "base/span.h"

/* (transfer full) */
GString *topic_list_encode(const GPtrArray *topics /* char * */,
                           const char *broker_address /* or NULL */);
/* (transfer full) of char *, (transfer full) too. */
GPtrArray *topic_list_decode(ByteSpan json, GError **error);
