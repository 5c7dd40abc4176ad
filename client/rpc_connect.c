/* rpc_connect.c - a connection ahead of the first event, for those who want to know at once. */
#include "client/rpc_client_private.h"
#include "client/rpc_submission.h"

/* FALSE with the reason, having told those who listen. */
static gboolean
connect_host(RpcClient *self, RpcHost *host, gint64 deadline_us, GError **error)
{
    g_autoptr(GError) failure = NULL;
    PooledConnection *taken;
    PoolOutcome outcome = rpc_host_take(host, rpc_client_generation(self), deadline_us, &taken);

    if (outcome == POOL_TAKEN && rpc_host_open(host, taken, deadline_us, &failure)) {
        rpc_host_give(host, taken);
        return TRUE;
    }
    if (outcome == POOL_STOPPED)
        g_set_error_literal(&failure, RPC_ERROR, RPC_ERROR_CLOSED, "the client is closed");
    else if (outcome == POOL_BUSY)
        g_set_error(&failure, RPC_ERROR, RPC_ERROR_TIMEOUT, "%s: no connection came free in time",
                    host->name);
    else
        rpc_client_note_failure(self, host, failure);
    if (outcome == POOL_TAKEN)
        rpc_host_drop(host, taken);
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

gboolean
rpc_client_connect(RpcClient *self, gint64 deadline_us, GError **error)
{
    g_auto(RpcPass) pass = { 0 };
    g_autoptr(GString) failures = g_string_new(NULL);
    int code = RPC_ERROR_UNREACHABLE;

    rpc_client_begin_pass(self, &pass);
    for (guint i = 0; i < pass.order->len; i++) {
        g_autoptr(GError) failure = NULL;

        if (connect_host(self, pass.order->pdata[i], deadline_us, &failure))
            return TRUE;
        rpc_failures_add(failures, failure->message);
        code = failure->code;
        if (code == RPC_ERROR_CLOSED)
            break;
    }
    if (failures->len == 0)
        g_string_append(failures, "no host is known");
    g_set_error_literal(error, RPC_ERROR, code, failures->str);
    return FALSE;
}
