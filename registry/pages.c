/* pages.c - the page for people, /metrics and /healthz. */
#include "registry/pages.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_library.h"
#include "base/metric.h"
#include "registry/nsq_page.h"
#include "registry/route_page.h"

/* Everything is in the page, and the browser is told to take nothing from elsewhere. */
static const char style[] =
    "body{font:1rem/1.5 system-ui,sans-serif;margin:1.5rem;color:#1b1b1b;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "caption{text-align:left;font-weight:bold;padding:.25rem 0}"
    "th,td{text-align:left;padding:.25rem .75rem;border-bottom:1px solid "
    "#767676;font-weight:normal}"
    "thead th{font-weight:bold}.number{text-align:right}"
    ".warn{background:#fff3bf}.bad{background:#ffd8d8}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#121212}a{color:#9ecbff}"
    ".warn{background:#5c4a00}.bad{background:#7a1f1f}}";

/* The page renews itself without losing place or focus, unless its reader wants it to stand still.
 */
static const char script[] =
    "const box=document.getElementById('live');"
    "async function renew(){if(box.checked&&!document.hidden){try{"
    "const reply=await fetch('/');const text=await reply.text();"
    "const fresh=new DOMParser().parseFromString(text,'text/html').querySelector('main');"
    "document.querySelector('main').replaceWith(fresh);"
    "document.getElementById('state').textContent='';"
    "}catch(e){document.getElementById('state').textContent='The registry does not answer.';}}"
    "setTimeout(renew,5000);}setTimeout(renew,5000);";

/* What the browser compares before it takes style or script. (transfer full) */
static char *
digest_of(const char *text, gsize length)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize digest_length = sizeof digest;

    g_checksum_update(checksum, (const guchar *) text, (gssize) length);
    g_checksum_get_digest(checksum, digest, &digest_length);
    return g_base64_encode(digest, digest_length);
}

static void
add_policy(HttpRequest *request)
{
    g_autofree char *of_style = digest_of(style, sizeof style - 1);
    g_autofree char *of_script = digest_of(script, sizeof script - 1);
    g_autofree char *policy =
        g_strdup_printf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; "
                        "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
                        of_style, of_script);

    http_request_add_header(request, "Content-Security-Policy", policy);
    http_request_add_header(request, "X-Content-Type-Options", "nosniff");
    http_request_add_header(request, "Cache-Control", "no-store");
}

static void
show_page(HttpRequest *request, gpointer user)
{
    const Pages *self = user;
    GString *out = g_string_sized_new(8192);
    g_autofree char *host = g_markup_escape_text(g_get_host_name(), -1);

    g_string_append_printf(out,
                           "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n"
                           "<title>leat-registry on %s</title>\n<style>%s</style></head>\n"
                           "<body>\n<h1>leat-registry on %s</h1>\n"
                           "<p><label><input type=\"checkbox\" id=\"live\" checked> "
                           "renew every five seconds</label> "
                           "<span id=\"state\" role=\"status\"></span></p>\n<main>\n",
                           host, style, host);
    if (self->nsq != NULL)
        nsq_page_append(out, nsq_service_table(self->nsq), clock_now_us());
    if (self->namesrv != NULL)
        route_page_append(out, namesrv_service_table(self->namesrv), clock_now_us());
    g_string_append_printf(out,
                           "</main>\n<p><a href=\"/metrics\">/metrics</a> for Prometheus, "
                           "<a href=\"/healthz\">/healthz</a></p>\n<script>%s</script>\n"
                           "</body></html>\n",
                           script);
    add_policy(request);
    log_debug("asked for the page", LOG_TEXT("peer", http_request_peer(request)));
    http_request_answer(request, 200, "text/html; charset=utf-8", out);
}

static void
show_metrics(HttpRequest *request, gpointer user)
{
    const Pages *self = user;
    g_autoptr(GPtrArray) sets = g_ptr_array_new();
    GString *out = g_string_sized_new(4096);

    if (self->nsq != NULL)
        nsq_service_add_metrics(self->nsq, sets);
    if (self->namesrv != NULL)
        namesrv_service_add_metrics(self->namesrv, sets);
    if (self->server != NULL)
        g_ptr_array_add(sets, http_server_metrics(self->server));
    g_ptr_array_add(sets, log_library_metrics());
    metrics_write_prometheus(sets, out);
    http_request_answer(request, 200, "text/plain; version=0.0.4; charset=utf-8", out);
}

static void
show_health(HttpRequest *request, gpointer user)
{
    const Pages *self = user;

    http_request_answer(request, self->is_stopping ? 503 : 200, "text/plain; charset=utf-8",
                        g_string_new(self->is_stopping ? "the registry is stopping\n" : "ok\n"));
}

static const HttpRoute routes[] = {
    { "GET", "/", HTTP_ROUTE_PAGE, show_page },
    { "GET", "/healthz", HTTP_ROUTE_PAGE, show_health },
    { "GET", "/metrics", HTTP_ROUTE_PAGE, show_metrics },
    { 0 },
};

const HttpRoute *
pages_routes(void)
{
    return routes;
}
