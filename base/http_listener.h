/* http_listener.h - accepts connections for a SoupServer, and works through a lack of descriptors.
 *
 * Libsoup's own listener stops for ever at the first accept that fails, and has no limits. */
#pragma once

#include <libsoup/soup.h>

#include "base/endpoint.h"

typedef struct HttpListener HttpListener;

typedef struct {
    guint max_connections; /* one more is closed without a word */
    guint idle_s;          /* a connection on which nothing moves for so long is closed */
} HttpLimits;

/* On the calling thread's default main context. The server is borrowed. */
HttpListener *http_listener_new(SoupServer *soup, const Endpoint *listen, const HttpLimits *limits,
                                GError **error);
const Endpoint *http_listener_bound(const HttpListener *self);
void http_listener_stop(HttpListener *self); /* accepts no more; connections stay */
void http_listener_free(HttpListener *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpListener, http_listener_free)
