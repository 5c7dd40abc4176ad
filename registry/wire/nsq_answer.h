/* nsq_answer.h - what an nsqlookupd answers over HTTP: nodes, and names of topics and channels.
 *
 * Both the plain form and the one of nsqlookupd before 1.0, wrapped in "data", are read. */
#pragma once

#include <glib.h>

#include "base/span.h"

/* Strings are UTF-8 without NUL, "" if the answer had none. */
typedef struct {
    char *broadcast_address;
    guint16 tcp_port;
    guint16 http_port; /* 0: none */
    char *hostname;
    char *remote_address;
    char *version;
    GPtrArray *topics;  /* char *, of /nodes; else empty */
    GArray *tombstones; /* gboolean, of each topic */
} NsqListedNode;

void nsq_listed_node_free(NsqListedNode *self);

/* (transfer full) NsqListedNodes of /lookup or /nodes; one without an address or a port is left
 * out. NULL with G_IO_ERROR_INVALID_DATA for what is no such answer. */
GPtrArray *nsq_answer_decode_nodes(ByteSpan body, GError **error);
/* (transfer full) char *, of "topics" or "channels". */
GPtrArray *nsq_answer_decode_names(ByteSpan body, const char *key, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqListedNode, nsq_listed_node_free)
