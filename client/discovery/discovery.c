/* discovery.c - one thread turns a GMainContext of its own: questions, their answers, a timer. */
#include "client/discovery/discovery.h"

#include "base/clock.h"
#include "base/silent_thread.h"
#include "base/text_hash.h"
#include "client/discovery/lookup.h"
#include "client/discovery/lookup_schedule.h"
#include "client/discovery/registry_view.h"

/* What a registry said counts for so long beside others that answer, and for three polls. */
#define MAX_AGE_US (5 * 60 * G_USEC_PER_SEC)
#define MAX_AGE_POLLS 3
/* Of one outage; a registry whose every answer is odd in a way of its own fills no log. */
#define MAX_REASONS 8

static const LookupAsk lookup_asks[] = {
    [REGISTRY_NSQLOOKUPD] = nsq_lookup_ask,
    [REGISTRY_NAMESRV] = route_lookup_ask,
};

typedef struct {
    Discovery *discovery;
    LookupAsk ask;
    Endpoint *address;
    char *name;
    char *topic;
    char *index;         /* of its last answer; NULL: it failed, or has no watch */
    char *epoch;         /* of its last answer; NULL: it does not tell */
    gboolean is_heard;   /* it has answered or failed */
    gboolean is_known;   /* it has answered */
    GHashTable *reasons; /* told, of the outage that lasts */
    LookupSchedule schedule;
    RegistryView *view;
} Registry;

struct Discovery {
    DiscoveryEvents events;
    gpointer user;
    gint64 max_age_us;
    GMainContext *context;
    GThread *thread;

    gint recheck_is_asked; /* atomic */
    gint is_stopping;      /* atomic */

    /* The thread's own. */
    GPtrArray *registries; /* Registry * */
    GPtrArray *views;      /* RegistryView *, theirs */
    gint64 views_due_us;   /* they may say something else by then than was told */
    GPtrArray *hosts;      /* FoundHost *, as told; NULL: none was named yet */
    HttpClient *http;
    GCancellable *stop;
    GSource *timer;
    guint n_under_way;
    gboolean has_told_all_heard;
};

/* ---- what is known ---- */

static GPtrArray *
discovery_merge(const Discovery *self, gint64 now_us)
{
    GPtrArray *hosts = registry_views_merge(self->views, self->max_age_us, now_us);

    for (guint i = hosts->len; i > 0; i--)
        if (((const FoundHost *) hosts->pdata[i - 1])->weight == 0)
            g_ptr_array_remove_index(hosts, i - 1);
    return hosts;
}

static void
discovery_tell(Discovery *self, gint64 now_us)
{
    g_autoptr(GPtrArray) hosts = discovery_merge(self, now_us);

    self->views_due_us = registry_views_next_change_us(self->views, self->max_age_us, now_us);
    if (self->hosts == NULL ? hosts->len == 0 : found_hosts_equal(hosts, self->hosts))
        return;
    g_clear_pointer(&self->hosts, g_ptr_array_unref);
    self->hosts = g_steal_pointer(&hosts);
    self->events.hosts_changed(self->hosts, self->user);
}

static void
discovery_tell_all_heard(Discovery *self)
{
    if (self->has_told_all_heard)
        return;
    for (guint i = 0; i < self->registries->len; i++)
        if (!((const Registry *) self->registries->pdata[i])->is_heard)
            return;
    self->has_told_all_heard = TRUE;
    if (self->events.all_heard != NULL)
        self->events.all_heard(self->user);
}

/* ---- questions and answers ---- */

static LookupOutcome
registry_take_answer(Registry *self, LookupAnswer *answer, gint64 now_us)
{
    self->is_known = TRUE;
    if (answer->epoch == NULL || g_strcmp0(answer->epoch, self->epoch) != 0)
        registry_view_note_break(self->view);
    if (answer->hosts != NULL)
        registry_view_update(self->view, g_steal_pointer(&answer->hosts), now_us);
    g_free(self->epoch);
    g_free(self->index);
    self->epoch = g_strdup(answer->epoch);
    self->index = g_strdup(answer->index);
    return self->index != NULL ? LOOKUP_MAY_WATCH : LOOKUP_ANSWERED;
}

/* FALSE: it was told since the registry last answered, or too many were. */
static gboolean
registry_note_reason(Registry *self, const GError *error)
{
    return g_hash_table_size(self->reasons) < MAX_REASONS &&
           g_hash_table_add(self->reasons, g_strdup(error->message));
}

static void
registry_tell_answered(Registry *self)
{
    const Discovery *discovery = self->discovery;
    gboolean is_back = g_hash_table_size(self->reasons) > 0;

    g_hash_table_remove_all(self->reasons);
    discovery->events.registry_answered(self->name, is_back, discovery->user);
}

static void
registry_tell_failed(Registry *self, const GError *error)
{
    const Discovery *discovery = self->discovery;
    gboolean is_new = registry_note_reason(self, error);

    discovery->events.registry_failed(self->name, error, is_new, discovery->user);
}

static void
on_answer(LookupAnswer *answer, const GError *error, gpointer user)
{
    Registry *self = user;
    Discovery *discovery = self->discovery;
    LookupOutcome outcome = LOOKUP_FAILED;
    gint64 now_us = clock_now_us();

    discovery->n_under_way--;
    if (g_atomic_int_get(&discovery->is_stopping))
        return;
    if (answer != NULL) {
        outcome = registry_take_answer(self, answer, now_us);
        discovery->views_due_us = now_us;
    } else {
        g_clear_pointer(&self->index, g_free);
    }
    lookup_schedule_end(&self->schedule, outcome, now_us);
    self->is_heard = TRUE;
    if (answer != NULL)
        registry_tell_answered(self);
    else
        registry_tell_failed(self, error);
}

static void
registry_ask(Registry *self, gint64 now_us)
{
    Discovery *discovery = self->discovery;
    LookupQuestion question = {
        .registry = self->address,
        .topic = self->topic,
        .index = self->index,
        .is_known = self->is_known,
    };

    lookup_schedule_begin(&self->schedule, now_us);
    discovery->n_under_way++;
    self->ask(discovery->http, &question, discovery->stop, on_answer, self);
}

/* ---- the thread ---- */

static gint64
discovery_next_us(const Discovery *self)
{
    gint64 next_us = self->views_due_us;

    for (guint i = 0; i < self->registries->len; i++)
        next_us = MIN(next_us, ((const Registry *) self->registries->pdata[i])->schedule.due_us);
    return next_us;
}

static void
discovery_step(Discovery *self)
{
    gboolean rechecks = g_atomic_int_compare_and_exchange(&self->recheck_is_asked, 1, 0);
    gint64 now_us = clock_now_us();
    gint64 next_us;

    for (guint i = 0; i < self->registries->len; i++) {
        Registry *registry = self->registries->pdata[i];

        if (rechecks)
            lookup_schedule_recheck(&registry->schedule, now_us);
        if (registry->schedule.due_us <= now_us)
            registry_ask(registry, now_us);
    }
    if (self->views_due_us <= now_us)
        discovery_tell(self, now_us);
    discovery_tell_all_heard(self);
    next_us = discovery_next_us(self);
    g_source_set_ready_time(self->timer, next_us == CLOCK_NEVER ? -1 : next_us);
}

static gpointer
discovery_thread(gpointer user)
{
    Discovery *self = user;

    g_main_context_push_thread_default(self->context);
    self->http = http_client_new();
    while (!g_atomic_int_get(&self->is_stopping)) {
        discovery_step(self);
        g_main_context_iteration(self->context, TRUE);
    }
    g_cancellable_cancel(self->stop);
    while (self->n_under_way > 0)
        g_main_context_iteration(self->context, TRUE);
    g_clear_pointer(&self->http, http_client_free);
    while (g_main_context_iteration(self->context, FALSE))
        ;
    g_main_context_pop_thread_default(self->context);
    return NULL;
}

/* It is only there to end an iteration. */
static gboolean
on_timer(GSource *timer, GSourceFunc callback G_GNUC_UNUSED, gpointer user G_GNUC_UNUSED)
{
    g_source_set_ready_time(timer, -1);
    return G_SOURCE_CONTINUE;
}

/* ---- life ---- */

static void
registry_free(gpointer registry)
{
    Registry *self = registry;

    endpoint_free(self->address);
    g_free(self->name);
    g_free(self->topic);
    g_free(self->index);
    g_free(self->epoch);
    g_hash_table_unref(self->reasons);
    registry_view_free(self->view);
    g_free(self);
}

static void
discovery_add_registry(Discovery *self, const DiscoverySource *source, const Endpoint *address)
{
    Registry *registry = g_new0(Registry, 1);

    registry->discovery = self;
    registry->ask = lookup_asks[source->kind];
    registry->address = endpoint_copy(address);
    registry->name = endpoint_to_text(address);
    registry->topic = g_strdup(source->topic);
    registry->reasons = g_hash_table_new_full(text_hash, g_str_equal, g_free, NULL);
    registry->view = registry_view_new();
    lookup_schedule_init(&registry->schedule, source->poll_interval_us, source->jitter,
                         clock_now_us());
    g_ptr_array_add(self->registries, registry);
    g_ptr_array_add(self->views, registry->view);
    self->max_age_us = MAX(self->max_age_us, MAX_AGE_POLLS * source->poll_interval_us);
}

static void
discovery_make_timer(Discovery *self)
{
    static GSourceFuncs functions = { .dispatch = on_timer };

    self->timer = g_source_new(&functions, sizeof(GSource));
    g_source_attach(self->timer, self->context);
}

Discovery *
discovery_new(const DiscoverySource *sources, guint n_sources, const DiscoveryEvents *events,
              gpointer user, GError **error)
{
    g_autoptr(Discovery) self = g_new0(Discovery, 1);

    self->events = *events;
    self->user = user;
    self->max_age_us = MAX_AGE_US;
    self->views_due_us = CLOCK_NEVER;
    self->context = g_main_context_new();
    self->stop = g_cancellable_new();
    self->registries = g_ptr_array_new_with_free_func(registry_free);
    self->views = g_ptr_array_new();
    discovery_make_timer(self);
    for (guint i = 0; i < n_sources; i++)
        for (guint j = 0; j < sources[i].addresses->len; j++)
            discovery_add_registry(self, &sources[i], sources[i].addresses->pdata[j]);
    self->thread = silent_thread_new("discovery", discovery_thread, self, error);
    return self->thread == NULL ? NULL : g_steal_pointer(&self);
}

void
discovery_recheck(Discovery *self)
{
    if (g_atomic_int_compare_and_exchange(&self->recheck_is_asked, 0, 1))
        g_main_context_wakeup(self->context);
}

void
discovery_free(Discovery *self)
{
    if (self == NULL)
        return;
    g_atomic_int_set(&self->is_stopping, 1);
    g_main_context_wakeup(self->context);
    g_clear_pointer(&self->thread, g_thread_join);
    g_source_destroy(self->timer);
    g_source_unref(self->timer);
    g_clear_pointer(&self->hosts, g_ptr_array_unref);
    g_ptr_array_unref(self->views);
    g_ptr_array_unref(self->registries);
    g_object_unref(self->stop);
    g_main_context_unref(self->context);
    g_free(self);
}
