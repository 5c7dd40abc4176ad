/* rpc_host.h - one host of a client: connections to it that are fit for sending, and word of those
 * that come and go. Who holds a reference may go on sending to one that its client has no more. */
#pragma once

#include <glib.h>

#include "client/connection_pool.h"
#include "client/rpc_client.h"

typedef struct {
    RpcClientEvents events;
    gpointer user;
} RpcListener;

#define RPC_HOST_GONE G_MAXUINT

typedef struct {
    char *name; /* as configured */
    ConnectionPool *pool;
    gint64 connect_timeout_us;
    gint64 request_timeout_us;
    gint64 max_age_us; /* 0: any */
    const RpcListener *listener;
    guint place; /* among the hosts of its client, whose lock guards it, or RPC_HOST_GONE */
} RpcHost;

RpcHost *rpc_host_new(const Endpoint *endpoint, const RpcClientOptions *options,
                      const RpcListener *listener /* outlives it */);
RpcHost *rpc_host_ref(RpcHost *self);
void rpc_host_unref(RpcHost *self); /* the last: nothing is taken */

/* As connection_pool_take. One that the peer has closed while it was idle, or that is too old, is
 * replaced by a new one without a word. */
PoolOutcome rpc_host_take(RpcHost *self, guint64 generation, gint64 deadline_us,
                          PooledConnection **ret_taken /* (transfer full) */);
/* Connects, if that is not done. FALSE with an RPC_ERROR: only good for rpc_host_drop. */
gboolean rpc_host_open(RpcHost *self, PooledConnection *taken, gint64 deadline_us, GError **error);
/* The same, and nobody is told. */
gboolean rpc_host_connect(const RpcHost *self, PooledConnection *taken, gint64 deadline_us,
                          GError **error);
/* Nothing is owed on it. */
void rpc_host_give(RpcHost *self, PooledConnection *taken /* (transfer full) */);
void rpc_host_drop(RpcHost *self, PooledConnection *taken /* (transfer full) */);
/* Whether a planned reconnect is due: no new calls, please. */
gboolean rpc_host_wants_renewal(const RpcHost *self, const PooledConnection *taken);

void rpc_host_tell_opened(const RpcHost *self);
void rpc_host_tell_closed(const RpcHost *self);
void rpc_host_tell_failed(const RpcHost *self, const GError *error);
void rpc_host_tell_still_failing(const RpcHost *self, const GError *error);
void rpc_host_tell_acknowledged(const RpcHost *self);
/* Nobody takes from it any more; calls in flight go on. */
void rpc_host_retire(RpcHost *self);
/* The same, and calls in flight fail. */
void rpc_host_close(RpcHost *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RpcHost, rpc_host_unref)
