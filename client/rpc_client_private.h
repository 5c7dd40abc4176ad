/* rpc_client_private.h - what the files of a client need of each other. For client/ only. */
#pragma once

#include "client/rpc_client.h"
#include "client/rpc_host.h"

struct RpcClient {
    RpcClientOptions options; /* without hosts */
    RpcListener listener;

    GMutex lock;        /* guards the rest, and the place of each host */
    GPtrArray *hosts;   /* RpcHost, by place */
    guint64 edition;    /* of hosts */
    GPtrArray *leaving; /* RpcHost with calls that were on their way when it left */
    Choice *choice;     /* of hosts */
    GPtrArray *probes;  /* RpcProbe, begun and not yet settled */
    gboolean closed;
    guint64 generation; /* of calls: an interrupt stops those before it */
};

/* For what begins now. */
guint64 rpc_client_generation(RpcClient *self);
/* Closed, or interrupted since. */
gboolean rpc_client_is_stopped(RpcClient *self, guint64 generation);

/* One pass of a call over the hosts. */
typedef struct {
    GPtrArray *order; /* RpcHost, own references, in the order to try them */
    guint64 edition;  /* of the client's hosts */
    guint n_given;    /* so many of the first have been tried */
} RpcPass;

void rpc_client_begin_pass(RpcClient *self, RpcPass *ret_pass);
void rpc_pass_copy(const RpcPass *self, RpcPass *ret_pass);
void rpc_pass_clear(RpcPass *self);
/* The client has other hosts by now. */
gboolean rpc_client_has_moved_on(RpcClient *self, const RpcPass *pass);
/* Of those that are left (there is one), the first that is due, or else the one that is due the
 * earliest: it is brought forward, to be given next. */
RpcHost *rpc_client_choose(RpcClient *self, RpcPass *pass);
/* Whether the last given has failed meanwhile and another one is due. */
gboolean rpc_client_prefers_another(RpcClient *self, const RpcPass *pass);
/* How many attempts a call has. */
guint rpc_client_max_attempts(const RpcClient *self, const RpcPass *pass);

guint rpc_client_n_hosts(RpcClient *self);

void rpc_client_note_success(RpcClient *self, RpcHost *host);
void rpc_client_note_failure(RpcClient *self, RpcHost *host, const GError *error);
/* A call to it was interrupted, so nobody knows; but others go first. */
void rpc_client_note_unanswered(RpcClient *self, RpcHost *host);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RpcPass, rpc_pass_clear)
