/* nsq_server.h - NSQ's look-up protocol V1 over TCP, for nsqd: connections into the table. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"
#include "base/loop.h"
#include "base/metric.h"
#include "registry/nsq_table.h"
#include "registry/refusals.h"

/* What no nsqd comes near; the original has no limits. */
#define NSQ_LINE_MAX 4096
#define NSQ_BODY_MAX (16 * 1024)

typedef struct {
    const Endpoint *listen;
    guint max_connections;
    gint64 idle_us;   /* closes a node's connection without a command for so long */
    gint64 hurry_us;  /* and one that has not identified itself */
    gint64 linger_us; /* how long the client may take to read why it was refused */
} NsqServerOptions;

typedef struct NsqServer NsqServer;

/* Loop, table and refusals are borrowed. */
NsqServer *nsq_server_new(Loop *loop, NsqTable *table, Refusals *refusals,
                          const NsqServerOptions *options, GError **error);
const Endpoint *nsq_server_bound(const NsqServer *self);
/* The answer to IDENTIFY, before the loop turns. */
void nsq_server_set_self(NsqServer *self, const NsqSelf *answer);
void nsq_server_add_metrics(NsqServer *self, GPtrArray *sets);
/* Stops accepting and closes all connections: the nodes leave the table. */
void nsq_server_stop_listening(NsqServer *self);
void nsq_server_stop(NsqServer *self);
void nsq_server_free(NsqServer *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqServer, nsq_server_free)
