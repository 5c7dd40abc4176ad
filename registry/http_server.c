/* http_server.c - HTTP by rows of routes, by libsoup, on the main thread's GMainContext. */
#include "registry/http_server.h"

#include <libsoup/soup.h>
#include <string.h>

#include "base/http_listener.h"
#include "base/log.h"
#include "registry/http_unread.h"

/* On a connection on which nothing moves. */
#define IDLE_S 150
#define REQUEST_S 5
#define NSQ_HEADER "X-NSQ-Content-Type"
#define NSQ_HEADER_VALUE "nsq; version=1.0"
#define JSON_TYPE "application/json; charset=utf-8"

typedef struct {
    const HttpRoute *routes;
    gpointer user;
} HttpRoutes;

/* Of each connection there may be an answer of SMALL_BYTES; as much as that may larger ones take
 * together, but always UNREAD_LEAST. */
#define SMALL_BYTES (64 * 1024)
#define UNREAD_LEAST (16 * 1024 * 1024)

struct HttpServer {
    const char *component;
    SoupServer *soup;
    HttpListener *listener;
    HttpUnread *unread;
    GArray *tables; /* HttpRoutes */
};

struct HttpRequest {
    HttpServer *server;
    SoupServerMessage *message; /* referenced */
    char *path;
    char *query_text; /* NULL: none */
    HttpQuery *query;
    char *peer; /* NULL until somebody asks */
    HttpRouteKind kind;
    gboolean is_held;
    gboolean is_gone;
    gulong finished; /* handler id while held */
    void (*gone)(HttpRequest *self, gpointer user);
    gpointer user;
};

/* ---- answers ---- */

void
http_request_add_header(HttpRequest *self, const char *name, const char *value)
{
    soup_message_headers_replace(soup_server_message_get_response_headers(self->message), name,
                                 value);
}

void
http_request_answer(HttpRequest *self, guint status, const char *content_type, GString *body)
{
    gsize length = body != NULL ? body->len : 0;

    if (body != NULL && body->allocated_len > SMALL_BYTES)
        http_unread_add(self->server->unread, self->message, body->allocated_len);
    if (self->kind == HTTP_ROUTE_NSQ)
        http_request_add_header(self, NSQ_HEADER, NSQ_HEADER_VALUE);
    soup_server_message_set_status(self->message, status, NULL);
    if (body != NULL)
        soup_server_message_set_response(self->message, content_type, SOUP_MEMORY_TAKE,
                                         g_string_free(body, FALSE), length);
}

void
http_request_refuse(HttpRequest *self, guint status, const char *code)
{
    GString *body = g_string_new(NULL);

    g_string_printf(body, "{\"message\":\"%s\"}", code);
    http_request_answer(self, status, JSON_TYPE, body);
}

const HttpQuery *
http_request_query(const HttpRequest *self)
{
    return self->query;
}

const char *
http_request_peer(HttpRequest *self)
{
    GSocketAddress *address = soup_server_message_get_remote_address(self->message);

    if (self->peer == NULL && address != NULL)
        self->peer = g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(address));
    return self->peer;
}

/* ---- requests ---- */

/* Libsoup takes the query for a part of the path when a client of HTTP/1.0 names no host. */
static void
split_path(HttpRequest *self, const char *path)
{
    SoupMessageHeaders *headers = soup_server_message_get_request_headers(self->message);
    GUri *uri = soup_server_message_get_uri(self->message);
    const char *mark =
        soup_message_headers_get_one(headers, "Host") == NULL ? strchr(path, '?') : NULL;

    self->path = mark != NULL ? g_strndup(path, (gsize) (mark - path)) : g_strdup(path);
    self->query_text = g_strdup(mark != NULL ? mark + 1 : g_uri_get_query(uri));
}

static HttpRequest *
request_new(HttpServer *server, SoupServerMessage *message, const char *path)
{
    HttpRequest *self = g_new0(HttpRequest, 1);

    self->server = server;
    self->message = g_object_ref(message);
    split_path(self, path);
    self->query = http_query_parse(self->query_text);
    return self;
}

static void
request_free(HttpRequest *self)
{
    g_object_unref(self->message);
    http_query_free(self->query);
    g_free(self->query_text);
    g_free(self->path);
    g_free(self->peer);
    g_free(self);
}

static void
on_finished(SoupServerMessage *message G_GNUC_UNUSED, gpointer user)
{
    HttpRequest *self = user;

    self->is_gone = TRUE;
    self->gone(self, self->user);
}

void
http_request_hold(HttpRequest *self, void (*gone)(HttpRequest *, gpointer), gpointer user)
{
    self->is_held = TRUE;
    self->gone = gone;
    self->user = user;
    self->finished = g_signal_connect(self->message, "finished", G_CALLBACK(on_finished), self);
    soup_server_message_pause(self->message);
}

void
http_request_release(HttpRequest *self)
{
    g_signal_handler_disconnect(self->message, self->finished);
    if (!self->is_gone)
        soup_server_message_unpause(self->message);
    request_free(self);
}

/* ---- routes ---- */

/* The first row with this path, and this method unless that is NULL. */
static const HttpRoute *
find_route(const HttpServer *self, const char *method, const char *path, gpointer *ret_user)
{
    for (guint i = 0; i < self->tables->len; i++) {
        const HttpRoutes *table = &g_array_index(self->tables, HttpRoutes, i);

        for (const HttpRoute *route = table->routes; route->method != NULL; route++) {
            gboolean fits = g_str_equal(route->method, method) ||
                            (route->kind == HTTP_ROUTE_PAGE && g_str_equal(method, "HEAD"));

            if (!fits || !g_str_equal(route->path, path))
                continue;
            *ret_user = table->user;
            return route;
        }
    }
    return NULL;
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* "GET, OPTIONS"; NULL if no row has this path. (transfer full) */
static char *
allowed_methods(const HttpServer *self, const char *path)
{
    g_autoptr(GPtrArray) methods = g_ptr_array_new();

    for (guint i = 0; i < self->tables->len; i++)
        for (const HttpRoute *route = g_array_index(self->tables, HttpRoutes, i).routes;
             route->method != NULL; route++)
            if (g_str_equal(route->path, path))
                g_ptr_array_add(methods, (gpointer) route->method);
    if (methods->len == 0)
        return NULL;
    g_ptr_array_add(methods, (gpointer) "OPTIONS");
    g_ptr_array_sort(methods, compare_texts);
    g_ptr_array_add(methods, NULL);
    return g_strjoinv(", ", (char **) methods->pdata);
}

/* Without empty steps and a slash at the end, in small letters. (transfer full) */
static char *
mend_path(const char *path)
{
    g_autofree char *lower = g_ascii_strdown(path, -1);
    GString *out = g_string_new(NULL);
    g_auto(GStrv) steps = g_strsplit(lower, "/", -1);

    for (guint i = 0; steps[i] != NULL; i++)
        if (*steps[i] != '\0' && !g_str_equal(steps[i], "."))
            g_string_append_printf(out, "/%s", steps[i]);
    return g_string_free(out, FALSE);
}

/* TRUE if a path that is nearly right was answered. */
static gboolean
redirect(HttpServer *self, HttpRequest *request, const char *method)
{
    g_autofree char *mended = mend_path(request->path);
    const char *query = request->query_text;
    g_autofree char *target = NULL;
    g_autofree char *shown = NULL;
    GString *body = NULL;
    gpointer user;

    if (find_route(self, method, mended, &user) == NULL)
        return FALSE;
    target = g_strconcat(mended, query != NULL ? "?" : "", query != NULL ? query : "", NULL);
    http_request_add_header(request, "Location", target);
    request->kind = HTTP_ROUTE_PLAIN;
    if (g_str_equal(method, "GET")) {
        shown = g_markup_escape_text(target, -1);
        body = g_string_new(NULL);
        g_string_printf(body, "<a href=\"%s\">Moved Permanently</a>.\n\n", shown);
    }
    http_request_answer(request, body != NULL ? 301 : 307, "text/html; charset=utf-8", body);
    return TRUE;
}

static void
answer_without_route(HttpServer *self, HttpRequest *request, const char *method)
{
    g_autofree char *allowed = NULL;

    if (redirect(self, request, method))
        return;
    allowed = allowed_methods(self, request->path);
    if (allowed == NULL) {
        http_request_refuse(request, SOUP_STATUS_NOT_FOUND, "NOT_FOUND");
        return;
    }
    http_request_add_header(request, "Allow", allowed);
    if (!g_str_equal(method, "OPTIONS")) {
        http_request_refuse(request, SOUP_STATUS_METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED");
        return;
    }
    request->kind = HTTP_ROUTE_PLAIN;
    http_request_answer(request, SOUP_STATUS_OK, NULL, NULL);
}

/* Called when the headers are there: a body, of whatever size, is thrown away as it comes. */
static void
on_headers(SoupServer *soup G_GNUC_UNUSED, SoupServerMessage *message,
           const char *path G_GNUC_UNUSED, GHashTable *query G_GNUC_UNUSED,
           gpointer user G_GNUC_UNUSED)
{
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
}

static void
on_request(SoupServer *soup G_GNUC_UNUSED, SoupServerMessage *message, const char *path,
           GHashTable *query G_GNUC_UNUSED, gpointer user)
{
    HttpServer *self = user;
    const char *method = soup_server_message_get_method(message);
    HttpRequest *request = request_new(self, message, path);
    gpointer route_user;
    const HttpRoute *route = find_route(self, method, request->path, &route_user);

    if (route == NULL) {
        answer_without_route(self, request, method);
    } else {
        request->kind = route->kind;
        route->handle(request, route_user);
    }
    if (!request->is_held)
        request_free(request);
}

/* ---- life ---- */

static void
on_closed(const char *why, const char *peer, guint64 n, gpointer user)
{
    log_warning("connections closed to keep room",
                LOG_TEXT("component", ((const HttpServer *) user)->component),
                LOG_TEXT("reason", why), LOG_TEXT("peer", peer), LOG_INT("connections", n));
}

HttpServer *
http_server_new(const char *component, const Endpoint *listen, guint max_connections,
                GError **error)
{
    g_autoptr(HttpServer) self = g_new0(HttpServer, 1);
    const HttpLimits limits = { .max_connections = max_connections,
                                .idle_s = IDLE_S,
                                .request_s = REQUEST_S };

    self->component = component;
    self->tables = g_array_new(FALSE, FALSE, sizeof(HttpRoutes));
    self->soup = soup_server_new(NULL, NULL);
    soup_server_add_early_handler(self->soup, NULL, on_headers, self, NULL);
    soup_server_add_handler(self->soup, NULL, on_request, self, NULL);
    self->listener = http_listener_new(self->soup, listen, &limits, "registry", component, error);
    if (self->listener == NULL)
        return NULL;
    http_listener_on_closed(self->listener, on_closed, self);
    self->unread = http_unread_new(
        self->listener, MAX((gsize) UNREAD_LEAST, (gsize) max_connections * SMALL_BYTES));
    return g_steal_pointer(&self);
}

MetricSet *
http_server_metrics(const HttpServer *self)
{
    return http_listener_metrics(self->listener);
}

const Endpoint *
http_server_bound(const HttpServer *self)
{
    return http_listener_bound(self->listener);
}

void
http_server_add_routes(HttpServer *self, const HttpRoute *routes, gpointer user)
{
    g_array_append_val(self->tables, ((HttpRoutes){ .routes = routes, .user = user }));
}

void
http_server_stop_listening(HttpServer *self)
{
    http_listener_stop(self->listener);
}

guint
http_server_n_under_way(const HttpServer *self)
{
    return http_listener_n_under_way(self->listener);
}

void
http_server_free(HttpServer *self)
{
    if (self == NULL)
        return;
    soup_server_disconnect(self->soup);
    g_object_unref(self->soup);
    http_unread_free(self->unread);
    http_listener_free(self->listener);
    g_array_unref(self->tables);
    g_free(self);
}
