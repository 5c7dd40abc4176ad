/* registry_process.c - one thread: a GMainLoop for HTTP and signals, with the epoll loop of the TCP
 * protocols as one of its sources. */
#include "registry/registry_process.h"

#include <glib-unix.h>
#include <signal.h>

#include "base/clock.h"
#include "base/descriptor_limit.h"
#include "base/log.h"
#include "base/loop_source.h"
#include "base/service_notify.h"
#include "registry/kv_store.h"
#include "registry/pages.h"

/* The page need not be asked for by many. */
#define PAGE_CONNECTIONS 64
/* How long a stop waits for answers that are on their way out, and how often it looks. */
#define STOP_MAX_US (2 * G_USEC_PER_SEC)
#define STOP_LOOK_MS 5

typedef struct {
    GMainLoop *main_loop;
    Loop *loop;
    guint loop_source;
    NsqService *nsq;         /* NULL: off */
    NamesrvService *namesrv; /* NULL: off */
    HttpServer *page_server; /* NULL: off */
    Pages pages;
    gint64 stop_asked_us; /* 0: not yet */
} Process;

static void
notify_service(const char *state)
{
    g_autoptr(GError) error = NULL;

    if (!service_notify(state, &error))
        log_warning("service manager cannot be told", LOG_TEXT("state", state),
                    LOG_TEXT("error", error->message));
}

static void
log_listening(const char *component, const Endpoint *bound)
{
    g_autofree char *address = endpoint_to_text(bound);

    log_info("listening", LOG_TEXT("component", component), LOG_TEXT("address", address));
}

/* ---- the beginning ---- */

static gboolean
open_page(Process *self, const Endpoint *address, GError **error)
{
    if (address == NULL)
        return TRUE;
    self->page_server = http_server_new("http", address, PAGE_CONNECTIONS, error);
    if (self->page_server == NULL) {
        g_prefix_error(error, "http: ");
        return FALSE;
    }
    self->pages.server = self->page_server;
    http_server_add_routes(self->page_server, pages_routes(), &self->pages);
    log_listening("http", http_server_bound(self->page_server));
    return TRUE;
}

static gboolean
open_nsq(Process *self, const RegistryConfig *config, GError **error)
{
    if (!config->has_nsqlookupd)
        return TRUE;
    self->nsq = nsq_service_new(self->loop, &config->nsqlookupd, error);
    if (self->nsq == NULL)
        return FALSE;
    self->pages.nsq = self->nsq;
    http_server_add_routes(nsq_service_http(self->nsq), pages_routes(), &self->pages);
    log_listening("nsqlookupd-tcp", nsq_service_tcp_bound(self->nsq));
    log_listening("nsqlookupd-http", http_server_bound(nsq_service_http(self->nsq)));
    return TRUE;
}

/* Brokers and clients can do without, so that this keeps it from nothing. */
static void
warn_of_kv(const Process *self, const RegistryConfig *config)
{
    g_autoptr(GError) error = NULL;
    const char *message = "the KV configuration cannot be saved, changes of it will be refused; "
                          "make its folder writable or write another namesrv.kv-config-path";

    if (namesrv_service_check_kv(self->namesrv, &error))
        return;
    if (g_error_matches(error, KV_STORE_ERROR, KV_STORE_ERROR_NO_FOLDER))
        message = "the folder of the KV configuration is not there, the first change will make it; "
                  "write another namesrv.kv-config-path if it is not the one";
    log_warning(message, LOG_TEXT("path", config->namesrv.kv_config_path),
                LOG_TEXT("error", error->message));
}

static gboolean
open_namesrv(Process *self, RegistryConfig *config, GError **error)
{
    if (!config->has_namesrv)
        return TRUE;
    self->namesrv = namesrv_service_new(self->loop, &config->namesrv, error);
    if (self->namesrv == NULL)
        return FALSE;
    self->pages.namesrv = self->namesrv;
    warn_of_kv(self, config);
    log_listening("namesrv", namesrv_service_bound(self->namesrv));
    return TRUE;
}

static gboolean
open_all(Process *self, RegistryConfig *config, GError **error)
{
    self->loop = loop_new(error);
    if (self->loop == NULL || !open_nsq(self, config, error) ||
        !open_namesrv(self, config, error) || !open_page(self, config->http, error))
        return FALSE;
    self->loop_source = loop_source_attach(self->loop);
    return TRUE;
}

/* ---- the end ---- */

static guint
n_under_way(const Process *self)
{
    guint n = self->nsq != NULL ? http_server_n_under_way(nsq_service_http(self->nsq)) : 0;

    return n + (self->page_server != NULL ? http_server_n_under_way(self->page_server) : 0);
}

static gboolean
on_stop_look(gpointer user)
{
    Process *self = user;

    if (n_under_way(self) > 0 && clock_now_us() - self->stop_asked_us < STOP_MAX_US)
        return G_SOURCE_CONTINUE;
    if (self->nsq != NULL)
        nsq_service_stop(self->nsq);
    if (self->namesrv != NULL)
        namesrv_service_stop(self->namesrv);
    g_main_loop_quit(self->main_loop);
    return G_SOURCE_REMOVE;
}

static gboolean
on_stop_signal(gpointer user)
{
    Process *self = user;

    if (self->stop_asked_us != 0)
        return G_SOURCE_CONTINUE;
    self->stop_asked_us = clock_now_us();
    self->pages.is_stopping = TRUE;
    log_info("stopping");
    notify_service("STOPPING=1");
    if (self->nsq != NULL)
        nsq_service_stop_listening(self->nsq);
    if (self->namesrv != NULL)
        namesrv_service_stop_listening(self->namesrv);
    if (self->page_server != NULL)
        http_server_stop_listening(self->page_server);
    g_timeout_add(STOP_LOOK_MS, on_stop_look, self);
    return G_SOURCE_CONTINUE;
}

static gboolean
on_hangup(gpointer user G_GNUC_UNUSED)
{
    log_info("SIGHUP ignored, this version does not reload; restart to change the configuration");
    return G_SOURCE_CONTINUE;
}

static void
close_all(Process *self)
{
    if (self->loop_source != 0)
        g_source_remove(self->loop_source);
    http_server_free(self->page_server);
    nsq_service_free(self->nsq);
    namesrv_service_free(self->namesrv);
    loop_free(self->loop);
}

/* ---- the whole ---- */

static void
turn(Process *self)
{
    log_info("started");
    notify_service("READY=1");
    g_main_loop_run(self->main_loop);
}

gboolean
registry_process_run(RegistryConfig *config)
{
    g_autoptr(GError) error = NULL;
    Process self = { .main_loop = g_main_loop_new(NULL, FALSE) };
    gboolean ok;

    /* For good: one that comes when all is done shall not change how the process ends. */
    g_unix_signal_add(SIGTERM, on_stop_signal, &self);
    g_unix_signal_add(SIGINT, on_stop_signal, &self);
    g_unix_signal_add(SIGHUP, on_hangup, &self);
    if (!descriptor_limit_raise(&error))
        log_warning("the limit of open files cannot be raised", LOG_TEXT("error", error->message));
    g_clear_error(&error);
    ok = open_all(&self, config, &error);
    if (ok)
        turn(&self);
    else
        log_error("the registry cannot start", LOG_TEXT("error", error->message));
    close_all(&self);
    if (ok)
        log_info("stopped", LOG_INT("ms", (clock_now_us() - self.stop_asked_us) / 1000));
    g_main_loop_unref(self.main_loop);
    return ok;
}
