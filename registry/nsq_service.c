/* nsq_service.c - all of nsqlookupd: one table, and those around it who change it and hear of it.
 */
#include "registry/nsq_service.h"

#include "base/clock.h"
#include "registry/nsq_http.h"
#include "registry/nsq_journal.h"
#include "registry/nsq_server.h"

/* A node whose connection says nothing for this many times its patience is taken for dead. Until
 * then a late heartbeat brings it back. */
#define PATIENCES 2
#define HURRY_US (60 * G_USEC_PER_SEC)
#define LINGER_US (1 * G_USEC_PER_SEC)

struct NsqService {
    Loop *loop;
    NsqTable *table;
    NsqJournal *journal;
    Refusals *refusals;
    NsqServer *server;
    NsqHttp *http;
    HttpServer *http_server;
    LoopTimer timer; /* not later than what the table has to tell next */
};

/* ---- what happens ---- */

static void
arm_timer(NsqService *self)
{
    gint64 next_us = nsq_table_next_us(self->table);

    if (next_us != CLOCK_NEVER && (self->timer.position == 0 || next_us < self->timer.due_us))
        loop_timer_set(self->loop, &self->timer, next_us);
}

/* Heartbeats move what comes next away from the timer, which then comes for nothing, and is set
 * anew: once in a node's patience, not once a heartbeat. */
static void
on_timer(LoopTimer *timer)
{
    NsqService *self = (NsqService *) ((char *) timer - G_STRUCT_OFFSET(NsqService, timer));

    nsq_table_advance(self->table, loop_now_us(self->loop));
    arm_timer(self);
}

static void
on_event(const NsqEvent *event, gpointer user)
{
    NsqService *self = user;

    nsq_journal_note(self->journal, event);
    if (event->kind == NSQ_PRODUCERS_CHANGED)
        topic_watch_wake(nsq_http_watch(self->http), event->topic);
    else
        arm_timer(self);
}

/* ---- life ---- */

static gboolean
open_tcp(NsqService *self, const NsqSettings *settings, GError **error)
{
    const NsqServerOptions options = {
        .listen = settings->tcp_address,
        .max_connections = (guint) settings->max_connections,
        .idle_us = PATIENCES * settings->inactive_us,
        .hurry_us = HURRY_US,
        .linger_us = LINGER_US,
    };

    self->server = nsq_server_new(self->loop, self->table, self->refusals, &options, error);
    if (self->server != NULL)
        return TRUE;
    g_prefix_error(error, "nsqlookupd.tcp-address: ");
    return FALSE;
}

static gboolean
open_http(NsqService *self, const NsqSettings *settings, GError **error)
{
    self->http_server = http_server_new("nsqlookupd-http", settings->http_address,
                                        (guint) settings->max_http_connections, error);
    if (self->http_server == NULL) {
        g_prefix_error(error, "nsqlookupd.http-address: ");
        return FALSE;
    }
    http_server_add_routes(self->http_server, nsq_http_routes(), self->http);
    return TRUE;
}

static void
introduce(NsqService *self, const NsqSettings *settings)
{
    const NsqSelf answer = {
        .broadcast_address =
            settings->broadcast_address != NULL ? settings->broadcast_address : g_get_host_name(),
        .hostname = g_get_host_name(),
        .tcp_port = nsq_server_bound(self->server)->port,
        .http_port = http_server_bound(self->http_server)->port,
    };

    nsq_server_set_self(self->server, &answer);
}

NsqService *
nsq_service_new(Loop *loop, const NsqSettings *settings, GError **error)
{
    g_autoptr(NsqService) self = g_new0(NsqService, 1);
    const NsqRules rules = { .inactive_us = settings->inactive_us,
                             .tombstone_us = settings->tombstone_us,
                             .max_entries = settings->max_registrations };

    self->loop = loop;
    self->timer.expired = on_timer;
    /* A later process starts with higher indexes, so that a client notices that it is another. */
    self->table = nsq_table_new(&rules, (guint64) clock_wall_us());
    self->journal = nsq_journal_new();
    self->refusals = refusals_new("nsqlookupd");
    self->http = nsq_http_new(loop, self->table, self->refusals);
    nsq_table_observe(self->table, on_event, self);
    if (!open_tcp(self, settings, error) || !open_http(self, settings, error))
        return NULL;
    introduce(self, settings);
    return g_steal_pointer(&self);
}

const Endpoint *
nsq_service_tcp_bound(const NsqService *self)
{
    return nsq_server_bound(self->server);
}

HttpServer *
nsq_service_http(const NsqService *self)
{
    return self->http_server;
}

const NsqTable *
nsq_service_table(const NsqService *self)
{
    return self->table;
}

void
nsq_service_add_metrics(NsqService *self, GPtrArray *sets)
{
    nsq_server_add_metrics(self->server, sets);
    g_ptr_array_add(sets, nsq_journal_metrics(self->journal, self->table));
    g_ptr_array_add(sets, refusals_metrics(self->refusals));
    g_ptr_array_add(sets, nsq_http_metrics(self->http));
    g_ptr_array_add(sets, http_server_metrics(self->http_server));
    g_ptr_array_add(sets, topic_watch_metrics(nsq_http_watch(self->http)));
}

void
nsq_service_stop_listening(NsqService *self)
{
    http_server_stop_listening(self->http_server);
    nsq_server_stop_listening(self->server);
    topic_watch_end(nsq_http_watch(self->http));
}

void
nsq_service_stop(NsqService *self)
{
    nsq_server_stop(self->server);
}

void
nsq_service_free(NsqService *self)
{
    if (self == NULL)
        return;
    nsq_server_free(self->server);
    http_server_free(self->http_server);
    loop_timer_clear(self->loop, &self->timer);
    nsq_http_free(self->http);
    nsq_table_free(self->table);
    nsq_journal_free(self->journal);
    refusals_free(self->refusals);
    g_free(self);
}
