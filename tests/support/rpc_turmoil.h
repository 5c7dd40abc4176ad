/* rpc_turmoil.h - threads that send through one client without a pause, while a test disturbs them.
 */
#pragma once

#include <glib.h>

#include "client/rpc_client.h"

typedef struct {
    RpcClient *client;
    gint64 call_timeout_us;
    GThread *threads[8];
    gint stop;           /* atomic, as the rest */
    gint n_acknowledged; /* events */
    gint n_failed;       /* calls */
} RpcTurmoil;

void rpc_turmoil_begin(RpcTurmoil *self, RpcClient *client, gint64 call_timeout_us);
/* Returns when all threads have ended. */
void rpc_turmoil_end(RpcTurmoil *self);
