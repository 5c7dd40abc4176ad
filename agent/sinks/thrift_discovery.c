/* thrift_discovery.c - hands hosts to the client, and says who came and who went. */
#include "agent/sinks/thrift_discovery.h"

#include "agent/sinks/thrift_metrics.h"
#include "base/clock.h"
#include "base/text_hash.h"
#include "client/discovery/discovery_settings.h"
#include "client/discovery/found_client.h"

/* So long after the start, look-ups under way are no failure yet. */
#define FIRST_LOOK_US (5 * G_USEC_PER_SEC)
/* Of hosts that join or leave at once so many have a line each, the others one together. */
#define NAMED_MAX 20

struct ThriftDiscovery {
    Sink *sink;
    RpcClient *client;
    ThriftFindings *findings;
    Discovery *discovery;

    /* The discovery's thread's. */
    GHashTable *names; /* of the hosts as last told */

    GMutex lock;          /* guards the rest */
    GCond wait_is_over;   /* wait_until_us is 0 */
    gint64 wait_until_us; /* deliveries wait for a host; 0: no more */
};

static Component *
component_of(const ThriftDiscovery *self)
{
    return &self->sink->base;
}

static void
discovery_count(const ThriftDiscovery *self, ThriftSinkMetric metric)
{
    metric_add(component_of(self)->part_metrics, metric, 1);
}

/* ---- what the discovery tells, on its thread ---- */

static GHashTable *
names_of(const GPtrArray *hosts)
{
    GHashTable *names = g_hash_table_new_full(text_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; i < hosts->len; i++)
        g_hash_table_add(names, g_strdup(((const FoundHost *) hosts->pdata[i])->name));
    return names;
}

/* Those of the first that are not in the second. Returns whether there are any. */
static gboolean
report_difference(const ThriftDiscovery *self, GHashTable *names, GHashTable *others,
                  ReportReason reason, const char *detail)
{
    guint n = 0;
    GHashTableIter iter;
    gpointer name;

    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (!g_hash_table_contains(others, name) && ++n <= NAMED_MAX)
            component_report(component_of(self), reason, name, detail);
    if (n > NAMED_MAX) {
        g_autofree char *rest = g_strdup_printf("%u more", n - NAMED_MAX);

        component_report(component_of(self), reason, rest, detail);
    }
    return n > 0;
}

static void
client_set_hosts(const ThriftDiscovery *self, const GPtrArray *hosts)
{
    rpc_client_set_found_hosts(self->client, hosts);
    g_atomic_int_set(&self->findings->n_hosts, (gint) hosts->len);
    metric_set(component_of(self)->part_metrics, THRIFT_SINK_HOSTS, hosts->len);
}

static void
on_hosts_changed(const GPtrArray *hosts, gpointer user)
{
    ThriftDiscovery *self = user;
    GHashTable *names = names_of(hosts);
    g_autofree char *detail =
        g_strdup_printf("%u host%s now", hosts->len, hosts->len == 1 ? "" : "s");
    gboolean any_joined;

    client_set_hosts(self, hosts);
    thrift_discovery_end_wait(self);
    any_joined = report_difference(self, names, self->names, REPORT_HOST_JOINED, detail);
    report_difference(self, self->names, names, REPORT_HOST_LEFT, detail);
    g_hash_table_unref(self->names);
    self->names = names;
    if (any_joined)
        sink_retry_now(self->sink);
}

static void
on_registry_answered(const char *registry, gboolean is_back, gpointer user)
{
    ThriftDiscovery *self = user;

    discovery_count(self, THRIFT_SINK_LOOKUPS);
    g_atomic_int_set(&self->findings->has_answer, 1);
    if (is_back)
        component_report_topic(component_of(self), REPORT_RECOVERED, registry, registry,
                               "the registry answers again");
}

/* Each reason has a line, even if the one before is of the same second. */
static void
report_reason(const ThriftDiscovery *self, const char *registry, const char *reason)
{
    g_autofree char *topic = g_strconcat(registry, " ", reason, NULL);

    component_report_topic(component_of(self), REPORT_REGISTRY, topic, registry, reason);
}

static void
on_registry_failed(const char *registry, const GError *error, gboolean is_new, gpointer user)
{
    ThriftDiscovery *self = user;

    discovery_count(self, THRIFT_SINK_LOOKUPS);
    discovery_count(self, THRIFT_SINK_LOOKUPS_FAILED);
    if (is_new)
        report_reason(self, registry, error->message);
}

static void
on_all_heard(gpointer user)
{
    thrift_discovery_end_wait(user);
}

/* ---- life ---- */

ThriftDiscovery *
thrift_discovery_new(Sink *sink, RpcClient *client, const GPtrArray *rows, ThriftFindings *findings,
                     GError **error)
{
    static const DiscoveryEvents events = {
        .hosts_changed = on_hosts_changed,
        .registry_answered = on_registry_answered,
        .registry_failed = on_registry_failed,
        .all_heard = on_all_heard,
    };
    ThriftDiscovery *self = g_new0(ThriftDiscovery, 1);

    self->sink = sink;
    self->client = client;
    self->findings = findings;
    self->names = g_hash_table_new_full(text_hash, g_str_equal, g_free, NULL);
    g_mutex_init(&self->lock);
    g_cond_init(&self->wait_is_over);
    if (g_atomic_int_get(&findings->n_hosts) == 0)
        self->wait_until_us = clock_now_us() + FIRST_LOOK_US;
    self->discovery = discovery_rows_begin(rows, &events, self, error);
    if (self->discovery != NULL)
        return self;
    thrift_discovery_free(self);
    return NULL;
}

void
thrift_discovery_free(ThriftDiscovery *self)
{
    if (self == NULL)
        return;
    discovery_free(self->discovery);
    g_hash_table_unref(self->names);
    g_cond_clear(&self->wait_is_over);
    g_mutex_clear(&self->lock);
    g_free(self);
}

void
thrift_discovery_await_hosts(ThriftDiscovery *self, gint64 deadline_us)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    while (self->wait_until_us != 0 && g_cond_wait_until(&self->wait_is_over, &self->lock,
                                                         MIN(self->wait_until_us, deadline_us)))
        ;
}

void
thrift_discovery_end_wait(ThriftDiscovery *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->wait_until_us = 0;
    g_cond_broadcast(&self->wait_is_over);
}

void
thrift_discovery_note_failure(ThriftDiscovery *self, const GError *error)
{
    if (error->code == RPC_ERROR_BROKEN || error->code == RPC_ERROR_UNREACHABLE ||
        error->code == RPC_ERROR_TIMEOUT)
        discovery_recheck(self->discovery);
}
