/* namesrv_service.c - all of the name server for RocketMQ: one table, and those around it who
 * change it and hear of it. */
#include "registry/namesrv_service.h"

#include "base/clock.h"
#include "registry/namesrv_server.h"
#include "registry/route_journal.h"

/* How long a stop waits for a slow disk. */
#define SETTLE_US (1 * G_USEC_PER_SEC)

struct NamesrvService {
    Loop *loop;
    const NamesrvSettings *settings;
    KvStore *kv;
    RouteTable *table;
    TopicWatch *watch;
    RouteJournal *journal;
    Refusals *refusals;
    NamesrvServer *server;
    LoopTimer timer; /* not later than what the table has to do next, but see scan_us */
    gint64 scanned_us;
};

/* ---- what happens ---- */

/* Not more often than it was told to look. */
static void
arm_timer(NamesrvService *self)
{
    gint64 next_us = route_table_next_us(self->table);

    if (next_us != CLOCK_NEVER)
        next_us = MAX(next_us, self->scanned_us + self->settings->scan_us);
    if (next_us != CLOCK_NEVER && (self->timer.position == 0 || next_us < self->timer.due_us))
        loop_timer_set(self->loop, &self->timer, next_us);
}

static void
on_timer(LoopTimer *timer)
{
    NamesrvService *self =
        (NamesrvService *) ((char *) timer - G_STRUCT_OFFSET(NamesrvService, timer));
    g_autoptr(GPtrArray) expired = NULL;

    self->scanned_us = loop_now_us(self->loop);
    expired = route_table_advance(self->table, self->scanned_us);
    if (expired != NULL)
        namesrv_server_close_sessions(self->server, expired);
    arm_timer(self);
}

static void
on_event(const RouteEvent *event, gpointer user)
{
    NamesrvService *self = user;

    route_journal_note(self->journal, event);
    if (event->kind == ROUTE_DUE_EARLIER)
        arm_timer(self);
    else if (event->kind == ROUTE_CHANGED)
        topic_watch_wake(self->watch, event->topic);
}

/* ---- life ---- */

static gboolean
open_kv(NamesrvService *self, GError **error)
{
    self->kv = kv_store_open(self->loop, self->settings->kv_config_path, error);
    if (self->kv != NULL)
        return TRUE;
    g_prefix_error(error, "namesrv.kv-config-path: ");
    return FALSE;
}

static gboolean
open_server(NamesrvService *self, NamesrvSettings *settings, GError **error)
{
    const NamesrvParts parts = {
        .loop = self->loop,
        .table = self->table,
        .watch = self->watch,
        .kv = self->kv,
        .refusals = self->refusals,
        .settings = settings,
    };

    self->server = namesrv_server_new(&parts, error);
    if (self->server != NULL)
        return TRUE;
    g_prefix_error(error, "namesrv.listen: ");
    return FALSE;
}

NamesrvService *
namesrv_service_new(Loop *loop, NamesrvSettings *settings, GError **error)
{
    g_autoptr(NamesrvService) self = g_new0(NamesrvService, 1);
    const RouteRules rules = { .acting_master = settings->acting_master,
                               .drop_topics = settings->drop_topics,
                               .max_entries = settings->max_registrations };

    self->loop = loop;
    self->settings = settings;
    self->timer.expired = on_timer;
    /* A later process starts with higher indexes, so that a client notices that it is another. */
    self->table = route_table_new(&rules, (guint64) clock_wall_us());
    self->watch = topic_watch_new(loop, "namesrv");
    self->journal = route_journal_new();
    self->refusals = refusals_new("namesrv");
    route_table_observe(self->table, on_event, self);
    if (!open_kv(self, error) || !open_server(self, settings, error))
        return NULL;
    return g_steal_pointer(&self);
}

const Endpoint *
namesrv_service_bound(const NamesrvService *self)
{
    return namesrv_server_bound(self->server);
}

gboolean
namesrv_service_check_kv(const NamesrvService *self, GError **error)
{
    return kv_store_check(self->kv, error);
}

const RouteTable *
namesrv_service_table(const NamesrvService *self)
{
    return self->table;
}

void
namesrv_service_add_metrics(NamesrvService *self, GPtrArray *sets)
{
    namesrv_server_add_metrics(self->server, sets);
    g_ptr_array_add(sets, route_journal_metrics(self->journal, self->table));
    g_ptr_array_add(sets, refusals_metrics(self->refusals));
    g_ptr_array_add(sets, topic_watch_metrics(self->watch));
}

void
namesrv_service_stop_listening(NamesrvService *self)
{
    namesrv_server_stop_listening(self->server);
    topic_watch_end(self->watch);
}

/* Those whose changes are under way to the disk are answered first. */
void
namesrv_service_stop(NamesrvService *self)
{
    kv_store_settle(self->kv, clock_deadline_us(SETTLE_US));
    namesrv_server_stop(self->server);
}

void
namesrv_service_free(NamesrvService *self)
{
    if (self == NULL)
        return;
    namesrv_server_free(self->server);
    loop_timer_clear(self->loop, &self->timer);
    route_table_free(self->table);
    topic_watch_free(self->watch);
    kv_store_free(self->kv);
    route_journal_free(self->journal);
    refusals_free(self->refusals);
    g_free(self);
}
