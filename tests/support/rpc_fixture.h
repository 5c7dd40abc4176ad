/* rpc_fixture.h - a client and the servers that are its hosts. */
#pragma once

#include <glib.h>

#include "client/rpc_client.h"
#include "tests/support/rpc_server.h"

#define RPC_FIXTURE_MOST 10

typedef struct {
    RpcServer *servers[RPC_FIXTURE_MOST];
    guint n_servers;
    RpcClientOptions options; /* to be changed before the first rpc_fixture_client */
    RpcClient *client;

    gint n_opened; /* atomic; what the client told */
    gint n_closed;
    gint n_failed;
    gint n_still_failing;
} RpcFixture;

/* Options: the defaults, with time-outs of a few seconds and no back-off. */
void rpc_fixture_init(RpcFixture *self, RpcClientKind kind, guint n_servers);
void rpc_fixture_clear(RpcFixture *self);
RpcClient *rpc_fixture_client(RpcFixture *self);

/* Numbers as events, in one batch, with a deadline of some seconds. */
gboolean rpc_fixture_send(RpcFixture *self, guint first, guint count, GError **error);
gboolean rpc_fixture_send_counted(RpcFixture *self, guint first, guint count,
                                  guint *ret_acknowledged, GError **error);
/* One event after the other, each in a batch of its own; all must arrive. */
void rpc_fixture_send_each(RpcFixture *self, guint first, guint count);

void rpc_fixture_assert_stored(RpcFixture *self, guint server, const char *events);
/* "60 40": the events of each server. (transfer full) */
char *rpc_fixture_shares(RpcFixture *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RpcFixture, rpc_fixture_clear)
