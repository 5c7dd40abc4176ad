/* http_listener.h - accepts connections for a SoupServer, and keeps room for those who ask.
 *
 * Libsoup's own listener stops for ever at the first accept that fails, and has no limits. */
#pragma once

#include <libsoup/soup.h>

#include "base/endpoint.h"
#include "base/metric.h"

typedef struct HttpListener HttpListener;

typedef struct {
    guint max_connections; /* one more takes the place of the one that asks for nothing longest */
    guint idle_s;          /* a connection on which nothing moves for so long is closed */
    guint request_s;       /* its request is whole so long after a connection was made */
} HttpLimits;

/* Connections were closed, the last of them that of peer; n since the call before. At once, then
 * once a minute at the most. */
typedef void (*HttpClosedFunc)(const char *why, const char *peer, guint64 n, gpointer user);

/* On the calling thread's default main context. The component's name is for the metrics. */
HttpListener *http_listener_new(SoupServer *soup, const Endpoint *listen, const HttpLimits *limits,
                                const char *kind, const char *component, GError **error);
void http_listener_on_closed(HttpListener *self, HttpClosedFunc closed, gpointer user);
/* Ends the connection whose answer is not read. */
void http_listener_close_unread(HttpListener *self, SoupServerMessage *message);
MetricSet *http_listener_metrics(const HttpListener *self);
const Endpoint *http_listener_bound(const HttpListener *self);
guint http_listener_n_under_way(const HttpListener *self); /* requests not yet answered whole */
void http_listener_stop(HttpListener *self);               /* accepts no more; connections stay */
void http_listener_free(HttpListener *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpListener, http_listener_free)
