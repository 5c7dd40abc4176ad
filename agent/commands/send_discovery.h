/* send_discovery.h - `leat send --discover`: hosts from registries, while lines are sent. */
#pragma once

#include "client/rpc_client.h"

typedef struct SendDiscovery SendDiscovery;

/* place: "nsqlookupd://HOST:PORT,.../TOPIC". NULL with a sentence about it. */
SendDiscovery *send_discovery_new(const char *place, RpcClient *client, GError **error);
void send_discovery_free(SendDiscovery *self);

/* Until the client has a host. FALSE: none by then, and what registries said last. */
gboolean send_discovery_wait(SendDiscovery *self, gint64 deadline_us, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SendDiscovery, send_discovery_free)
