/* send_discovery.c - waits for the first hosts; later ones come while lines are sent. */
#include "agent/commands/send_discovery.h"

#include <gio/gio.h>

#include "base/clock.h"
#include "client/discovery/discovery_settings.h"
#include "client/discovery/found_client.h"

struct SendDiscovery {
    RpcClient *client;
    GPtrArray *rows;
    Discovery *discovery; /* once somebody waits */

    GMutex lock; /* guards the rest */
    GCond changed;
    gboolean has_hosts;
    char *trouble; /* what a registry said, or did not say, last; NULL: nothing yet */
};

/* ---- what the discovery tells, on its thread ---- */

static void
on_hosts_changed(const GPtrArray *hosts, gpointer user)
{
    SendDiscovery *self = user;

    rpc_client_set_found_hosts(self->client, hosts);
    g_mutex_lock(&self->lock);
    self->has_hosts = hosts->len > 0;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
}

static void
discovery_note(SendDiscovery *self, const char *registry, const char *what)
{
    g_mutex_lock(&self->lock);
    g_free(self->trouble);
    self->trouble = g_strdup_printf("%s: %s", registry, what);
    g_mutex_unlock(&self->lock);
}

static void
on_registry_answered(const char *registry, gboolean is_back G_GNUC_UNUSED, gpointer user)
{
    discovery_note(user, registry, "it names no host of the topic");
}

static void
on_registry_failed(const char *registry, const GError *error, gboolean is_new G_GNUC_UNUSED,
                   gpointer user)
{
    discovery_note(user, registry, error->message);
}

/* ---- for the command ---- */

static void
on_host_failed(const char *peer G_GNUC_UNUSED, const GError *error G_GNUC_UNUSED, gpointer user)
{
    const SendDiscovery *self = user;

    if (self->discovery != NULL)
        discovery_recheck(self->discovery);
}

SendDiscovery *
send_discovery_new(const char *place, RpcClient *client, GError **error)
{
    static const RpcClientEvents events = { .host_failed = on_host_failed };
    GPtrArray *rows = discovery_rows_parse(place, error);
    SendDiscovery *self;

    if (rows == NULL)
        return NULL;
    self = g_new0(SendDiscovery, 1);
    self->client = client;
    self->rows = rows;
    rpc_client_set_events(client, &events, self);
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    return self;
}

void
send_discovery_free(SendDiscovery *self)
{
    if (self == NULL)
        return;
    discovery_free(self->discovery);
    discovery_rows_free(self->rows);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->changed);
    g_free(self->trouble);
    g_free(self);
}

gboolean
send_discovery_wait(SendDiscovery *self, gint64 deadline_us, GError **error)
{
    static const DiscoveryEvents events = {
        .hosts_changed = on_hosts_changed,
        .registry_answered = on_registry_answered,
        .registry_failed = on_registry_failed,
    };
    gboolean has_hosts;

    self->discovery = discovery_rows_begin(self->rows, &events, self, error);
    if (self->discovery == NULL)
        return FALSE;
    g_mutex_lock(&self->lock);
    while (!self->has_hosts && g_cond_wait_until(&self->changed, &self->lock, deadline_us))
        ;
    has_hosts = self->has_hosts;
    if (!has_hosts)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no host is found: %s",
                    self->trouble != NULL ? self->trouble : "no registry has answered yet");
    g_mutex_unlock(&self->lock);
    return has_hosts;
}
