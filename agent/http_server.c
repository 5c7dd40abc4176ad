/* http_server.c - metrics and health over HTTP, by libsoup, on the main thread. */
#include "agent/http_server.h"

#include <libsoup/soup.h>

#include "agent/flume_metrics.h"
#include "base/http_listener.h"
#include "base/log.h"
#include "base/log_library.h"
#include "base/metric.h"

static const HttpLimits limits = { .max_connections = 64, .idle_s = 60, .request_s = 5 };

struct HttpServer {
    Agent *agent;
    SoupServer *soup;
    HttpListener *listener;
};

/* Writes the page and returns the status. */
typedef guint (*PageWriter)(HttpServer *self, GString *out);

typedef struct {
    const char *path;
    const char *content_type;
    PageWriter write;
} Page;

gboolean
http_server_is_available(void)
{
    return TRUE;
}

/* ---- pages ---- */

static void
visit_for_prometheus(const GPtrArray *sets, gpointer user)
{
    metrics_write_prometheus(sets, user);
}

static guint
write_metrics(HttpServer *self, GString *out)
{
    g_autoptr(GPtrArray) own = g_ptr_array_new();

    g_ptr_array_add(own, http_listener_metrics(self->listener));
    g_ptr_array_add(own, log_library_metrics());
    metrics_write_prometheus(own, out);
    components_visit_metrics(visit_for_prometheus, out);
    return SOUP_STATUS_OK;
}

typedef struct {
    gint64 started_ms;
    GString *out;
} FlumePage;

static void
visit_for_flume(const GPtrArray *sets, gpointer user)
{
    FlumePage *page = user;

    flume_metrics_write(sets, page->started_ms, page->out);
}

static guint
write_metrics_json(HttpServer *self, GString *out)
{
    FlumePage page = { .started_ms = agent_started_ms(self->agent), .out = out };

    components_visit_metrics(visit_for_flume, &page);
    return SOUP_STATUS_OK;
}

static guint
write_health(HttpServer *self, GString *out)
{
    g_autofree char *trouble = agent_trouble(self->agent);

    g_string_append(out, trouble != NULL ? trouble : "ok\n");
    return trouble != NULL ? SOUP_STATUS_SERVICE_UNAVAILABLE : SOUP_STATUS_OK;
}

static guint
write_start_page(HttpServer *self, GString *out)
{
    g_autofree char *name = g_markup_escape_text(agent_config(self->agent)->name, -1);

    g_string_append_printf(out,
                           "<!DOCTYPE html>\n<title>leat: %s</title>\n<h1>%s</h1>\n<ul>\n"
                           "<li><a href=\"/metrics\">/metrics</a> for Prometheus\n"
                           "<li><a href=\"/metrics.json\">/metrics.json</a> in Flume's shape\n"
                           "<li><a href=\"/healthz\">/healthz</a>\n</ul>\n",
                           name, name);
    return SOUP_STATUS_OK;
}

static const Page pages[] = {
    { "/", "text/html; charset=utf-8", write_start_page },
    { "/healthz", "text/plain; charset=utf-8", write_health },
    { "/metrics", "text/plain; version=0.0.4; charset=utf-8", write_metrics },
    { "/metrics.json", "application/json; charset=utf-8", write_metrics_json },
};

static const Page *
find_page(const char *path)
{
    for (gsize i = 0; i < G_N_ELEMENTS(pages); i++)
        if (g_ascii_strcasecmp(pages[i].path, path) == 0)
            return &pages[i];
    return NULL;
}

/* ---- requests ---- */

/* 0: the method is one of those we answer. Flume forbids TRACE and OPTIONS. */
static guint
refusal_of_method(const char *method)
{
    if (g_str_equal(method, "GET") || g_str_equal(method, "HEAD"))
        return 0;
    if (g_str_equal(method, "TRACE") || g_str_equal(method, "OPTIONS"))
        return SOUP_STATUS_FORBIDDEN;
    return SOUP_STATUS_METHOD_NOT_ALLOWED;
}

/* Called when the headers are there: a body, of whatever size, is thrown away as it comes. */
static void
on_headers(SoupServer *soup G_GNUC_UNUSED, SoupServerMessage *message,
           const char *path G_GNUC_UNUSED, GHashTable *query G_GNUC_UNUSED,
           gpointer user G_GNUC_UNUSED)
{
    guint refusal = refusal_of_method(soup_server_message_get_method(message));

    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
    if (refusal == 0)
        return;
    if (refusal == SOUP_STATUS_METHOD_NOT_ALLOWED)
        soup_message_headers_append(soup_server_message_get_response_headers(message), "Allow",
                                    "GET, HEAD");
    soup_server_message_set_status(message, refusal, NULL);
}

static void
on_request(SoupServer *soup G_GNUC_UNUSED, SoupServerMessage *message, const char *path,
           GHashTable *query G_GNUC_UNUSED, gpointer user)
{
    HttpServer *self = user;
    const Page *page = find_page(path);
    GString *out;
    gsize length;

    if (page == NULL) {
        soup_server_message_set_status(message, SOUP_STATUS_NOT_FOUND, NULL);
        return;
    }
    out = g_string_sized_new(4096);
    soup_server_message_set_status(message, page->write(self, out), NULL);
    length = out->len;
    soup_server_message_set_response(message, page->content_type, SOUP_MEMORY_TAKE,
                                     g_string_free(out, FALSE), length);
}

/* ---- life ---- */

static void
on_closed(const char *why, const char *peer, guint64 n, gpointer user G_GNUC_UNUSED)
{
    log_warning("connections closed to keep room", LOG_TEXT("component", "http"),
                LOG_TEXT("reason", why), LOG_TEXT("peer", peer), LOG_INT("connections", n));
}

HttpServer *
http_server_new(Agent *agent, const Endpoint *listen, GError **error)
{
    g_autoptr(HttpServer) self = g_new0(HttpServer, 1);

    self->agent = agent;
    self->soup = soup_server_new("server-header", "leat", NULL);
    soup_server_add_early_handler(self->soup, NULL, on_headers, self, NULL);
    soup_server_add_handler(self->soup, NULL, on_request, self, NULL);
    self->listener = http_listener_new(self->soup, listen, &limits, "agent", "http", error);
    if (self->listener == NULL) {
        g_prefix_error(error, "agent.http: ");
        return NULL;
    }
    http_listener_on_closed(self->listener, on_closed, NULL);
    return g_steal_pointer(&self);
}

const Endpoint *
http_server_bound(const HttpServer *self)
{
    return http_listener_bound(self->listener);
}

void
http_server_free(HttpServer *self)
{
    if (self == NULL)
        return;
    http_listener_free(self->listener);
    soup_server_disconnect(self->soup);
    g_object_unref(self->soup);
    g_free(self);
}
