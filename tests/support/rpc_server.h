/* rpc_server.h - a Thrift source on loopback that answers as a test tells it to. Any thread. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"

typedef enum {
    ANSWER_OK,
    ANSWER_FAILED,
    ANSWER_ERROR,
    ANSWER_UNKNOWN,
    ANSWER_STATUS_42,
    ANSWER_NO_STATUS,
    ANSWER_UNKNOWN_METHOD,
    ANSWER_PROTOCOL_ERROR,
    ANSWER_INTERNAL_ERROR,
    ANSWER_WRONG_SEQUENCE_ID,
    ANSWER_WRONG_METHOD,
    ANSWER_NO_THRIFT,
    ANSWER_HANG_UP, /* none, and the connection is closed */
    ANSWER_NOTHING, /* none, and the connection stays */
} Answer;

typedef struct RpcServer RpcServer;

RpcServer *rpc_server_new(void);
void rpc_server_free(RpcServer *self);
const Endpoint *rpc_server_endpoint(const RpcServer *self);

/* Every connection is closed and nobody listens any more; or the same port again. */
void rpc_server_stop(RpcServer *self);
void rpc_server_start(RpcServer *self);
/* Closes what is connected now; returns when it is closed. */
void rpc_server_hang_up(RpcServer *self);

/* To every call that no plan has an answer for; at first ANSWER_OK. */
void rpc_server_answer(RpcServer *self, Answer answer);
/* To the next calls, one each. */
void rpc_server_plan(RpcServer *self, const Answer *answers, guint n_answers);
void rpc_server_delay(RpcServer *self, gint64 delay_us); /* of each answer */
/* A connection answers nothing until it has so many calls to answer, then all of them. */
void rpc_server_hold(RpcServer *self, guint n_calls);

/* Bodies of all events answered OK, as they came, apart by blanks. (transfer full) */
char *rpc_server_stored(RpcServer *self);
guint rpc_server_n_stored(RpcServer *self);
guint rpc_server_n_calls(RpcServer *self);          /* appendBatch and append */
guint rpc_server_n_appends(RpcServer *self);        /* append */
guint rpc_server_n_connections(RpcServer *self);    /* ever accepted */
guint rpc_server_most_connections(RpcServer *self); /* at one time */
/* FALSE: not within ten seconds. */
gboolean rpc_server_wait_calls(RpcServer *self, guint n_calls);
gboolean rpc_server_wait_no_connection(RpcServer *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RpcServer, rpc_server_free)
