/* http_service.c - HTTP at the configured address: at once, or as soon as that is free. */
#include "agent/http_service.h"

#include "agent/http_server.h"
#include "base/backoff.h"
#include "base/log.h"

#define FIRST_RETRY_US (200 * 1000)
#define LAST_RETRY_US (3 * G_USEC_PER_SEC)

struct HttpService {
    Agent *agent;
    const Endpoint *listen;
    HttpServer *server; /* NULL while the address is in use */
    Backoff backoff;
    guint retry; /* source id, 0 once the server is there */
};

static gboolean on_retry(gpointer user);

static void
http_service_retry_later(HttpService *self)
{
    gint64 delay_us = backoff_next_delay_us(&self->backoff);

    self->retry = g_timeout_add((guint) (delay_us / 1000), on_retry, self);
}

static gboolean
http_service_try(HttpService *self, GError **error)
{
    g_autofree char *bound = NULL;

    self->server = http_server_new(self->agent, self->listen, error);
    if (self->server == NULL)
        return FALSE;
    bound = endpoint_to_text(http_server_bound(self->server));
    agent_set_http_port(self->agent, http_server_bound(self->server)->port);
    log_info("listening", LOG_TEXT("component", "http"), LOG_TEXT("address", bound));
    return TRUE;
}

/* The agent works, so whatever is wrong now is waited for. */
static gboolean
on_retry(gpointer user)
{
    HttpService *self = user;

    self->retry = 0;
    if (!http_service_try(self, NULL))
        http_service_retry_later(self);
    return G_SOURCE_REMOVE;
}

HttpService *
http_service_new(Agent *agent, const Endpoint *listen, GError **error)
{
    HttpService *self = g_new0(HttpService, 1);
    g_autoptr(GError) failure = NULL;

    self->agent = agent;
    self->listen = listen;
    backoff_init(&self->backoff, FIRST_RETRY_US, LAST_RETRY_US);
    if (http_service_try(self, &failure))
        return self;
    if (!g_error_matches(failure, ENDPOINT_ERROR, ENDPOINT_ERROR_IN_USE)) {
        http_service_free(self);
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    log_warning("metrics have to wait until their address is free; "
                "free it, or write another one for agent.http",
                LOG_TEXT("error", failure->message));
    http_service_retry_later(self);
    return self;
}

void
http_service_free(HttpService *self)
{
    if (self == NULL)
        return;
    if (self->retry != 0)
        g_source_remove(self->retry);
    http_server_free(self->server);
    g_free(self);
}
