/* found_client.h - a client gets the hosts that were found. */
#pragma once

#include "client/discovery/found_hosts.h"
#include "client/rpc_client.h"

/* hosts: FoundHost *. One of twice the weight has twice the share, higher ranks are in reserve. */
void rpc_client_set_found_hosts(RpcClient *self, const GPtrArray *hosts);
