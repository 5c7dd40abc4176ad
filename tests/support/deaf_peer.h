/* deaf_peer.h - a listener that answers no attempt to connect: they hang until their deadline. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"

typedef struct {
    int listen_fd;
    Endpoint *bound;
    GPtrArray *queued; /* WireConnection; they fill its queue */
} DeafPeer;

void deaf_peer_init(DeafPeer *self);
void deaf_peer_clear(DeafPeer *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DeafPeer, deaf_peer_clear)
