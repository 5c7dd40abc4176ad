/* rpc_probe.h - asks a host that has failed whether it works again, with a batch of no events and
 * on a thread of its own: one that answers nothing then costs nobody anything. For client/ only. */
#pragma once

#include "client/rpc_client_private.h"

/* The host has been set aside. Returns at once; a host that cannot be asked now is due again. */
void rpc_probe_begin(RpcClient *client, RpcHost *host);
/* Tells of those that have ended since the last time. */
void rpc_probes_settle(RpcClient *client);
/* Waits until all have ended, which their shut connections make them do, and tells of them. */
void rpc_probes_end(RpcClient *client);
