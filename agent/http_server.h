/* http_server.h - /metrics, /metrics.json, /healthz on the main thread's GMainContext, by libsoup.
 */
#pragma once

#include <glib.h>

#include "agent/agent.h"

typedef struct HttpServer HttpServer;

/* TRUE if leat was built with libsoup. */
gboolean http_server_is_available(void);
HttpServer *http_server_new(Agent *agent, const Endpoint *listen, GError **error);
const Endpoint *http_server_bound(const HttpServer *self);
void http_server_free(HttpServer *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpServer, http_server_free)
