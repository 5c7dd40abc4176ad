/* rpc_failure.h - what a connection or an answer says, in the client's errors. */
#pragma once

#include <glib.h>

#include "thrift/wire/reply.h"

/* (transfer full) RPC_ERROR with the words of a CONNECTION_ERROR. */
GError *rpc_failure_of_connection(const GError *failure);
/* (transfer full) NULL: acknowledged. */
GError *rpc_failure_of_reply(const char *peer, const WireReply *reply);
