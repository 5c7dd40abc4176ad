/* rpc_submission.h - the events that one caller hands to a stream, and the calls they are cut into.
 * For client/ only. */
#pragma once

#include "client/batch_cutter.h"
#include "client/rpc_client_private.h"

typedef struct RpcSubmission RpcSubmission;

typedef enum {
    RPC_CALL_READY, /* to be sent */
    RPC_CALL_SENT,
    RPC_CALL_ACKNOWLEDGED,
} RpcCallState;

typedef struct {
    RpcSubmission *submission; /* NULL: it ended first; the call is its connection's */
    GArray *slices;            /* BatchSlice */
    guint n_events;
    RpcCallState state;
    gint64 sent_us;

    RpcPass pass;
    RpcHost *host;    /* of the last attempt; borrowed from the pass */
    guint n_attempts; /* in all passes, since the client has these hosts */
    GString *failures;
    int failure_code; /* of the last attempt */
} RpcCall;

struct RpcSubmission {
    RpcClient *client;
    gint64 deadline_us;
    guint64 generation;
    gboolean is_append; /* one event, by the method append */

    BatchCutter cutter;
    Cut cut;       /* the last; CUT_CALL: there may be more */
    RpcPass pass;  /* not begun: where every call begins */
    RpcHost *host; /* of the last attempt of any call, if it is still there; for comparison alone */
    GQueue calls;  /* RpcCall, owned, in order; the leading ones not acknowledged */
    guint n_done;  /* leading events acknowledged */
    GError *error; /* it has failed for good */
};

RpcSubmission *rpc_submission_new(RpcClient *client, const BatchSlice *slices, guint n_slices,
                                  gint64 deadline_us);
void rpc_submission_free(RpcSubmission *self);
void rpc_call_free(RpcCall *self);

/* Nothing more will happen: all is acknowledged, or error is set. */
gboolean rpc_submission_is_over(const RpcSubmission *self);
/* The first call to be sent; it may be cut only now. NULL: none. */
RpcCall *rpc_submission_next_call(RpcSubmission *self);
/* Whether to go on with it. If not, it has failed. */
gboolean rpc_submission_check(RpcSubmission *self);
void rpc_submission_fail(RpcSubmission *self, int code, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Says where the call is to go next. FALSE: all attempts are used up, its submission has failed. */
gboolean rpc_call_choose_host(RpcCall *self);
void rpc_call_acknowledge(RpcCall *self);
/* One more of the reasons that an error gives; of a thousand hosts not all are told. */
void rpc_failures_add(GString *failures, const char *message);
/* The attempt failed; the call is to be sent again. */
void rpc_call_fail_attempt(RpcCall *self, const GError *error);
/* The call is to be sent again, as if this attempt had not been. */
void rpc_call_undo_attempt(RpcCall *self);
