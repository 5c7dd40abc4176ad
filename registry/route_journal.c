/* route_journal.c - every change of the routes, counted and logged once. */
#include "registry/route_journal.h"

#include "base/log.h"
#include "base/log_rate.h"

typedef enum {
    JOURNAL_EVENTS,
    JOURNAL_NODES,
    JOURNAL_TOPICS,
    JOURNAL_REGISTRATIONS,
    JOURNAL_CLUSTERS,
    JOURNAL_BROKERS,
} JournalMetric;

typedef struct {
    const char *message; /* NULL: not logged */
    LogLevel level;
    gboolean is_limited; /* may come with every request: at most once a second */
} JournalRow;

static const JournalRow rows[] = {
    [ROUTE_JOINED] = { "broker joined", LOG_AT_INFO, FALSE },
    [ROUTE_LEFT] = { "broker left", LOG_AT_INFO, FALSE },
    [ROUTE_EXPIRED] = { "broker expired", LOG_AT_WARNING, FALSE },
    [ROUTE_TAKEN_OVER] = { "broker id taken over by another address", LOG_AT_WARNING, FALSE },
    [ROUTE_TAKEN_OVER_BACK] = { "broker id taken over again", LOG_AT_DEBUG, FALSE },
    [ROUTE_REFUSED] = { "broker id refused", LOG_AT_WARNING, TRUE },
    [ROUTE_STALE] = { "stale unregister ignored", LOG_AT_INFO, TRUE },
    [ROUTE_MOVED] = { "broker has another id or name", LOG_AT_INFO, FALSE },
    [ROUTE_OFFERED] = { "topic registered", LOG_AT_INFO, FALSE },
    [ROUTE_RESIZED] = { "topic resized", LOG_AT_INFO, FALSE },
    [ROUTE_WITHDRAWN] = { "topic unregistered", LOG_AT_INFO, FALSE },
    [ROUTE_CREATES_ITSELF] = { "topics create themselves, TBW102 can be written", LOG_AT_WARNING,
                               FALSE },
    [ROUTE_WIPED] = { "write permission wiped", LOG_AT_INFO, FALSE },
    [ROUTE_RESTORED] = { "write permission restored", LOG_AT_INFO, FALSE },
    [ROUTE_DELETED] = { "topic deleted", LOG_AT_INFO, FALSE },
    [ROUTE_CHANGED] = { NULL, LOG_AT_DEBUG, FALSE },
    [ROUTE_DUE_EARLIER] = { NULL, LOG_AT_DEBUG, FALSE },
};

static const char *const labels[] = {
    "joined", "left",     "expired",    "taken-over", "taken-over-again", "refused",
    "stale",  "moved",    "registered", "resized",    "unregistered",     "auto-create",
    "wiped",  "restored", "deleted",    "changed",    "due-earlier",      NULL,
};
G_STATIC_ASSERT(G_N_ELEMENTS(labels) == G_N_ELEMENTS(rows) + 1);

static const MetricSpec specs[] = {
    [JOURNAL_EVENTS] = { .name = "leat_registry_events_total",
                         .kind = METRIC_COUNTER,
                         .help = "Changes of the registry, by kind.",
                         .label = "event",
                         .values = labels },
    [JOURNAL_NODES] = { .name = "leat_registry_nodes",
                        .kind = METRIC_GAUGE,
                        .help = "Nodes that are connected." },
    [JOURNAL_TOPICS] = { .name = "leat_registry_topics",
                         .kind = METRIC_GAUGE,
                         .help = "Topics, with or without nodes." },
    [JOURNAL_REGISTRATIONS] = { .name = "leat_registry_registrations",
                                .kind = METRIC_GAUGE,
                                .help = "Registrations of nodes with topics and channels." },
    [JOURNAL_CLUSTERS] = { .name = "leat_registry_clusters",
                           .kind = METRIC_GAUGE,
                           .help = "Clusters of brokers." },
    [JOURNAL_BROKERS] = { .name = "leat_registry_brokers",
                          .kind = METRIC_GAUGE,
                          .help = "Brokers, each with all its nodes." },
    { 0 },
};

struct RouteJournal {
    MetricSet *metrics;
    LogRate rates[G_N_ELEMENTS(rows)];
};

RouteJournal *
route_journal_new(void)
{
    RouteJournal *self = g_new0(RouteJournal, 1);

    self->metrics = metric_set_new(specs, "registry", "namesrv", "namesrv");
    return self;
}

void
route_journal_free(RouteJournal *self)
{
    if (self == NULL)
        return;
    metric_set_free(self->metrics);
    g_free(self);
}

static guint
add_node_fields(LogField *fields, const RouteEvent *event)
{
    guint n = 0;

    fields[n++] = (LogField) LOG_TEXT("cluster", event->node->cluster);
    fields[n++] = (LogField) LOG_INT("id", event->node->id);
    fields[n++] = (LogField) LOG_TEXT("node", event->node->address);
    if (event->other != NULL)
        fields[n++] = (LogField) LOG_TEXT("other_node", event->other->address);
    if (event->node->session != NULL)
        fields[n++] = (LogField) LOG_TEXT("peer", event->node->session->peer);
    return n;
}

static gboolean
is_about_topics(RouteEventKind kind)
{
    return kind == ROUTE_JOINED || kind == ROUTE_LEFT || kind == ROUTE_EXPIRED ||
           kind == ROUTE_WIPED || kind == ROUTE_RESTORED || kind == ROUTE_DELETED;
}

void
route_journal_note(RouteJournal *self, const RouteEvent *event)
{
    const JournalRow *row = &rows[event->kind];
    LogLevel level = event->is_part ? LOG_AT_DEBUG : row->level;
    LogField fields[12] = { { .key = NULL } };
    guint64 left_out = 0;
    guint n = 0;

    metric_add_value(self->metrics, JOURNAL_EVENTS, event->kind, 1);
    if (row->message == NULL || !log_enabled(level))
        return;
    if (row->is_limited && !log_rate_admit(&self->rates[event->kind], G_USEC_PER_SEC, &left_out))
        return;
    if (event->topic != NULL)
        fields[n++] = (LogField) LOG_TEXT("topic", event->topic);
    if (event->broker != NULL)
        fields[n++] = (LogField) LOG_TEXT("broker", event->broker);
    if (event->node != NULL)
        n += add_node_fields(fields + n, event);
    if (is_about_topics(event->kind))
        fields[n++] = (LogField) LOG_INT("topics", event->n_topics);
    if (event->detail != NULL)
        fields[n++] = (LogField) LOG_TEXT("reason", event->detail);
    if (left_out > 0)
        fields[n++] = (LogField) LOG_INT("left_out", left_out);
    log_emit(level, row->message, fields);
}

MetricSet *
route_journal_metrics(RouteJournal *self, const RouteTable *table)
{
    RouteCounts counts = route_table_counts(table);

    metric_set(self->metrics, JOURNAL_NODES, counts.nodes);
    metric_set(self->metrics, JOURNAL_TOPICS, counts.topics);
    metric_set(self->metrics, JOURNAL_REGISTRATIONS, counts.offers);
    metric_set(self->metrics, JOURNAL_CLUSTERS, counts.clusters);
    metric_set(self->metrics, JOURNAL_BROKERS, counts.brokers);
    return self->metrics;
}
