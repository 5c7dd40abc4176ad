/* http_server.h - HTTP by rows of routes, by libsoup, on the main thread's GMainContext.
 *
 * Answers to what no row has are those of NSQ's programs: JSON, `Allow`, redirects of paths that
 * are nearly right. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"
#include "base/metric.h"
#include "registry/http_query.h"

typedef struct HttpServer HttpServer;
typedef struct HttpRequest HttpRequest;

typedef enum {
    HTTP_ROUTE_NSQ, /* answers carry NSQ's header */
    HTTP_ROUTE_PLAIN,
    HTTP_ROUTE_PAGE, /* plain, for people and their tools: HEAD is answered too */
} HttpRouteKind;

typedef struct {
    const char *method; /* NULL ends a table */
    const char *path;
    HttpRouteKind kind;
    /* Answers, or holds the request to answer it later. */
    void (*handle)(HttpRequest *request, gpointer user);
} HttpRoute;

/* The component's name is for log and metrics, and is borrowed. */
HttpServer *http_server_new(const char *component, const Endpoint *listen, guint max_connections,
                            GError **error);
MetricSet *http_server_metrics(const HttpServer *self);
const Endpoint *http_server_bound(const HttpServer *self);
/* The rows are borrowed. Before the main loop turns. */
void http_server_add_routes(HttpServer *self, const HttpRoute *routes, gpointer user);
/* No new connections; those there stay until http_server_free. */
void http_server_stop_listening(HttpServer *self);
guint http_server_n_under_way(const HttpServer *self); /* requests not yet answered whole */
void http_server_free(HttpServer *self);

/* NULL: it could not be read. */
const HttpQuery *http_request_query(const HttpRequest *self);
const char *http_request_peer(HttpRequest *self);
void http_request_add_header(HttpRequest *self, const char *name, const char *value);
/* The body may be NULL. */
void http_request_answer(HttpRequest *self, guint status, const char *content_type,
                         GString *body /* (transfer full) */);
/* {"message":"CODE"} */
void http_request_refuse(HttpRequest *self, guint status, const char *code);
/* From a handler, in place of an answer. The request stays until http_request_release, which comes
 * after the answer, or after gone was called: the client is away, and nobody waits any more. */
void http_request_hold(HttpRequest *self, void (*gone)(HttpRequest *request, gpointer user),
                       gpointer user);
void http_request_release(HttpRequest *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpServer, http_server_free)
