/* rpc_failure.c - connection errors, statuses and exceptions become one of a few errors each. */
#include "client/rpc_failure.h"

#include "client/rpc_client.h"
#include "thrift/wire/connection_error.h"

#define MAX_TEXT 200 /* of a peer's exception, which may have any length */

G_DEFINE_QUARK(leat_rpc_error, rpc_error)

static RpcError
code_of_connection_error(int code)
{
    switch (code) {
    case CONNECTION_ERROR_RESOLVE:
    case CONNECTION_ERROR_CONNECT:
        return RPC_ERROR_UNREACHABLE;
    case CONNECTION_ERROR_TIMEOUT:
        return RPC_ERROR_TIMEOUT;
    case CONNECTION_ERROR_SHUT:
        return RPC_ERROR_CLOSED;
    case CONNECTION_ERROR_PROTOCOL:
        return RPC_ERROR_NOT_A_SOURCE;
    case CONNECTION_ERROR_TOO_LARGE:
        return RPC_ERROR_TOO_LARGE;
    default:
        return RPC_ERROR_BROKEN;
    }
}

GError *
rpc_failure_of_connection(const GError *failure)
{
    g_assert(failure->domain == CONNECTION_ERROR);
    return g_error_new_literal(RPC_ERROR, (int) code_of_connection_error(failure->code),
                               failure->message);
}

static GError *
failure_of_exception(const char *peer, const WireReply *reply)
{
    gsize length = MIN(reply->exception_text.length, MAX_TEXT);
    g_autofree char *raw = g_strndup((const char *) reply->exception_text.data, length);
    g_autofree char *text = g_strescape(raw, NULL);

    switch (reply->exception_type) {
    case WIRE_EXCEPTION_UNKNOWN_METHOD:
        return g_error_new(RPC_ERROR, RPC_ERROR_NOT_A_SOURCE,
                           "%s: is a Thrift server, but no source: it does not know the method: %s",
                           peer, text);
    case WIRE_EXCEPTION_PROTOCOL_ERROR:
        return g_error_new(RPC_ERROR, RPC_ERROR_NOT_A_SOURCE,
                           "%s: does not understand the call: %s", peer, text);
    default:
        return g_error_new(RPC_ERROR, RPC_ERROR_REFUSED, "%s: answered with an error (%d): %s",
                           peer, reply->exception_type, text);
    }
}

GError *
rpc_failure_of_reply(const char *peer, const WireReply *reply)
{
    if (reply->is_exception)
        return failure_of_exception(peer, reply);
    switch (reply->status) {
    case WIRE_STATUS_OK:
        return NULL;
    case WIRE_STATUS_FAILED:
        return g_error_new(RPC_ERROR, RPC_ERROR_REFUSED,
                           "%s: answered FAILED: a channel is full or refuses events", peer);
    case WIRE_STATUS_ERROR:
        return g_error_new(RPC_ERROR, RPC_ERROR_REFUSED, "%s: answered ERROR", peer);
    case WIRE_STATUS_UNKNOWN:
        return g_error_new(RPC_ERROR, RPC_ERROR_REFUSED, "%s: answered UNKNOWN", peer);
    case -1:
        return g_error_new(RPC_ERROR, RPC_ERROR_REFUSED, "%s: answered without a status", peer);
    default:
        return g_error_new(RPC_ERROR, RPC_ERROR_REFUSED, "%s: answered with status %d", peer,
                           reply->status);
    }
}
