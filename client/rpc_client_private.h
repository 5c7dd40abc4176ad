/* rpc_client_private.h - what a stream needs of its client. For client/ only. */
#pragma once

#include "client/rpc_client.h"
#include "client/rpc_host.h"

struct RpcClient {
    RpcClientOptions options; /* without hosts */
    GPtrArray *hosts;         /* RpcHost, owned */
    guint max_attempts;       /* of one call */
    RpcListener listener;

    GMutex lock; /* guards the rest */
    Choice *choice;
    gboolean closed;
    guint64 generation; /* of calls: an interrupt stops those before it */
};

/* For what begins now. */
guint64 rpc_client_generation(RpcClient *self);
/* Closed, or interrupted since. */
gboolean rpc_client_is_stopped(RpcClient *self, guint64 generation);

/* The order for a new call; has room for all hosts. */
void rpc_client_order(RpcClient *self, guint *ret_order);
/* Of the hosts of an order behind the first n_given, brings forward the first that is due, or else
 * the one that is due the earliest. */
void rpc_client_choose(RpcClient *self, guint *order, guint n_given);
/* Whether the last given has failed meanwhile and another one is due. */
gboolean rpc_client_prefers_another(RpcClient *self, const guint *order, guint n_given);

void rpc_client_note_success(RpcClient *self, guint host);
void rpc_client_note_failure(RpcClient *self, guint host, const GError *error);
