/* registration_service.c - one announcer and one link for each registry, on a thread of their own.
 */
#include "agent/registration/registration_service.h"

#include <stdatomic.h>

#include "agent/registration/announcer.h"
#include "agent/registration/registry_link.h"
#include "base/clock.h"
#include "base/log.h"

/* One registry of one registration. */
typedef struct {
    RegistrationService *service;
    const Registration *registration;
    const Endpoint *registry;
    char *name; /* of the registry, for people */
    guint label;

    Announcer *announcer;
    RegistryLink *link; /* NULL unless connected or connecting */
    GSource *timer;
    gboolean is_registered;
    gboolean is_failing;
    guint attempts; /* that failed since it was registered, or since the start */
    gint64 down_since_us;
} RegistryPeer;

struct RegistrationService {
    const GPtrArray *registrations;
    _Atomic guint http_port;
    GThread *thread; /* while started */
    GMainContext *context;
    gint64 stop_deadline_us; /* set before the thread is told */

    /* The thread's. */
    GMainLoop *loop;
    GPtrArray *peers; /* RegistryPeer * */
    guint n_active;   /* of them that have not ended */
    guint n_links;    /* a look-up that was told to end may do so after its peer */
    gboolean is_late; /* past the deadline */
};

/* ---- what announcers want ---- */

static void
peer_set_timer(RegistryPeer *self)
{
    gint64 due_us = announcer_due_us(self->announcer);

    g_source_set_ready_time(self->timer, due_us == CLOCK_NEVER ? -1 : due_us);
}

static void
on_connected(const char *local_host, const char *registry_host, gpointer user)
{
    RegistryPeer *self = user;

    announcer_connected(self->announcer, local_host, registry_host,
                        (guint16) atomic_load(&self->service->http_port), clock_now_us());
    peer_set_timer(self);
}

static void
on_received(ByteSpan bytes, gpointer user)
{
    RegistryPeer *self = user;

    announcer_received(self->announcer, bytes, clock_now_us());
    peer_set_timer(self);
}

static void
on_broken(const GError *why, gpointer user)
{
    RegistryPeer *self = user;

    announcer_broken(self->announcer, why, clock_now_us());
    peer_set_timer(self);
}

static void
peer_connect(gpointer user)
{
    static const RegistryLinkHooks hooks = { on_connected, on_received, on_broken };
    RegistryPeer *self = user;

    self->link = registry_link_open(self->registry, &hooks, self, &self->service->n_links);
}

static void
peer_send(ByteSpan bytes, gpointer user)
{
    registry_link_send(((RegistryPeer *) user)->link, bytes);
}

static void
peer_disconnect(gpointer user)
{
    g_clear_pointer(&((RegistryPeer *) user)->link, registry_link_close);
}

/* ---- what becomes of it, for people ---- */

static void
peer_set_registered(RegistryPeer *self, gboolean is_registered)
{
    MetricSet *metrics = self->registration->base.part_metrics;

    if (is_registered && !self->is_registered)
        metric_add_value(metrics, REGISTRATION_REGISTERED, self->label, 1);
    if (!is_registered && self->is_registered)
        metric_subtract_value(metrics, REGISTRATION_REGISTERED, self->label, 1);
    self->is_registered = is_registered;
}

static void
peer_registered(const Announced *as, gpointer user)
{
    RegistryPeer *self = user;
    g_autoptr(Endpoint) endpoint = endpoint_new(as->host, as->port);
    g_autofree char *address = endpoint_to_text(endpoint);

    peer_set_registered(self, TRUE);
    log_info("registered", LOG_TEXT("component", self->registration->base.name),
             LOG_TEXT("peer", self->name), LOG_TEXT("address", address),
             LOG_INT("http_port", as->http_port), LOG_INT("failures", self->attempts),
             LOG_INT("ms", (clock_now_us() - self->down_since_us) / 1000));
    self->is_failing = FALSE;
    self->attempts = 0;
}

static void
peer_heartbeat(gpointer user)
{
    RegistryPeer *self = user;

    metric_add_value(self->registration->base.part_metrics, REGISTRATION_HEARTBEATS, self->label,
                     1);
}

static void
peer_failed(const GError *why, gpointer user)
{
    RegistryPeer *self = user;

    metric_add_value(self->registration->base.part_metrics, REGISTRATION_FAILURES, self->label, 1);
    self->attempts++;
    if (self->is_registered) {
        log_warning("registration lost, registering anew",
                    LOG_TEXT("component", self->registration->base.name),
                    LOG_TEXT("peer", self->name), LOG_TEXT("error", why->message));
        self->down_since_us = clock_now_us();
    } else if (!self->is_failing) {
        log_warning("cannot register, trying again",
                    LOG_TEXT("component", self->registration->base.name),
                    LOG_TEXT("peer", self->name), LOG_TEXT("error", why->message));
    }
    self->is_failing = TRUE;
    peer_set_registered(self, FALSE);
}

static void
peer_ended(gboolean has_left, gpointer user)
{
    RegistryPeer *self = user;

    if (has_left)
        log_info("unregistered", LOG_TEXT("component", self->registration->base.name),
                 LOG_TEXT("peer", self->name));
    else if (self->is_registered)
        log_warning("registration not taken back, it ends with the connection",
                    LOG_TEXT("component", self->registration->base.name),
                    LOG_TEXT("peer", self->name));
    peer_set_registered(self, FALSE);
    if (--self->service->n_active == 0)
        g_main_loop_quit(self->service->loop);
}

/* ---- peers ---- */

static gboolean
on_due(gpointer user)
{
    RegistryPeer *self = user;

    announcer_tick(self->announcer, clock_now_us());
    peer_set_timer(self);
    return G_SOURCE_CONTINUE;
}

static gboolean
dispatch_due(GSource *source G_GNUC_UNUSED, GSourceFunc callback, gpointer user)
{
    return callback(user);
}

static void
peer_free(RegistryPeer *self)
{
    g_source_destroy(self->timer);
    g_source_unref(self->timer);
    g_clear_pointer(&self->link, registry_link_close);
    peer_set_registered(self, FALSE);
    announcer_free(self->announcer);
    g_free(self->name);
    g_free(self);
}

static RegistryPeer *
peer_new(RegistrationService *service, const Registration *registration, guint index)
{
    static const AnnouncerHooks hooks = {
        .connect = peer_connect,
        .send = peer_send,
        .disconnect = peer_disconnect,
        .registered = peer_registered,
        .heartbeat = peer_heartbeat,
        .failed = peer_failed,
        .ended = peer_ended,
    };
    static GSourceFuncs timer_functions = { .dispatch = dispatch_due };
    const GPtrArray *addresses = registration_type(registration)->addresses(registration);
    RegistryPeer *self = g_new0(RegistryPeer, 1);

    self->service = service;
    self->registration = registration;
    self->registry = g_ptr_array_index(addresses, index);
    self->name = endpoint_to_text(self->registry);
    self->label = MIN(index, REGISTRATION_PEERS);
    self->announcer = announcer_new(registration, &hooks, self);
    self->down_since_us = clock_now_us();
    self->timer = g_source_new(&timer_functions, sizeof(GSource));
    g_source_set_callback(self->timer, on_due, self, NULL);
    peer_set_timer(self);
    g_source_attach(self->timer, service->context);
    return self;
}

/* ---- the thread ---- */

static void
service_add_peers(RegistrationService *self)
{
    for (guint i = 0; i < self->registrations->len; i++) {
        const Registration *registration = g_ptr_array_index(self->registrations, i);
        const GPtrArray *addresses = registration_type(registration)->addresses(registration);

        for (guint j = 0; j < addresses->len; j++)
            g_ptr_array_add(self->peers, peer_new(self, registration, j));
    }
    self->n_active = self->peers->len;
}

static gpointer
service_thread(gpointer user)
{
    RegistrationService *self = user;

    log_name_thread("registration");
    g_main_context_push_thread_default(self->context);
    service_add_peers(self);
    g_main_loop_run(self->loop);
    g_ptr_array_set_size(self->peers, 0);
    while (self->n_links > 0 && !self->is_late)
        g_main_context_iteration(self->context, TRUE);
    g_main_context_pop_thread_default(self->context);
    return NULL;
}

static void
log_unanswered(const RegistrationService *self)
{
    for (guint i = 0; i < self->peers->len; i++) {
        const RegistryPeer *peer = g_ptr_array_index(self->peers, i);

        if (peer->is_registered)
            log_warning("registration not taken back in time",
                        LOG_TEXT("component", peer->registration->base.name),
                        LOG_TEXT("peer", peer->name));
    }
}

static gboolean
on_late(gpointer user)
{
    RegistrationService *self = user;

    self->is_late = TRUE;
    log_unanswered(self);
    g_main_loop_quit(self->loop);
    return G_SOURCE_REMOVE;
}

static void
service_add_deadline(RegistrationService *self)
{
    gint64 left_us = MAX(self->stop_deadline_us - clock_now_us(), 0);
    g_autoptr(GSource) late = g_timeout_source_new((guint) (left_us / 1000));

    g_source_set_callback(late, on_late, self, NULL);
    g_source_attach(late, self->context);
}

static gboolean
on_stop(gpointer user)
{
    RegistrationService *self = user;
    gint64 now_us = clock_now_us();

    service_add_deadline(self);
    for (guint i = 0; i < self->peers->len; i++) {
        RegistryPeer *peer = g_ptr_array_index(self->peers, i);

        announcer_leave(peer->announcer, now_us);
        peer_set_timer(peer);
    }
    return G_SOURCE_REMOVE;
}

/* ---- called by others ---- */

RegistrationService *
registration_service_new(const GPtrArray *registrations)
{
    RegistrationService *self = g_new0(RegistrationService, 1);

    self->registrations = registrations;
    self->context = g_main_context_new();
    self->loop = g_main_loop_new(self->context, FALSE);
    self->peers = g_ptr_array_new_with_free_func((GDestroyNotify) peer_free);
    return self;
}

void
registration_service_free(RegistrationService *self)
{
    if (self == NULL)
        return;
    g_assert(self->thread == NULL);
    g_ptr_array_unref(self->peers);
    g_main_loop_unref(self->loop);
    g_main_context_unref(self->context);
    g_free(self);
}

void
registration_service_set_http_port(RegistrationService *self, guint16 port)
{
    atomic_store(&self->http_port, port);
}

gboolean
registration_service_start(RegistrationService *self, GError **error)
{
    if (self->registrations->len == 0)
        return TRUE;
    self->thread = g_thread_try_new(NULL, service_thread, self, error);
    return self->thread != NULL;
}

void
registration_service_stop(RegistrationService *self, gint64 deadline_us)
{
    g_autoptr(GSource) telling = NULL;

    if (self->thread == NULL)
        return;
    self->stop_deadline_us = deadline_us;
    telling = g_idle_source_new();
    g_source_set_callback(telling, on_stop, self, NULL);
    g_source_attach(telling, self->context);
    g_clear_pointer(&self->thread, g_thread_join);
}
