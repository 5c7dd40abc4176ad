/* nsq_journal.c - every change of the table, counted and logged once. */
#include "registry/nsq_journal.h"

#include "base/log.h"

struct NsqJournal {
    MetricSet *metrics;
};

typedef enum {
    JOURNAL_EVENTS,
    JOURNAL_NODES,
    JOURNAL_TOPICS,
    JOURNAL_CHANNELS,
    JOURNAL_REGISTRATIONS,
    JOURNAL_TOMBSTONES,
} JournalMetric;

typedef struct {
    const char *message; /* NULL: not logged */
    LogLevel level;
} JournalRow;

static const JournalRow rows[] = {
    [NSQ_NODE_JOINED] = { "node joined", LOG_AT_INFO },
    [NSQ_NODE_LEFT] = { "node left", LOG_AT_INFO },
    [NSQ_NODE_SILENT] = { "node is silent, look-ups pass it over", LOG_AT_WARNING },
    [NSQ_NODE_HEARD_AGAIN] = { "node is heard again", LOG_AT_INFO },
    [NSQ_REGISTERED] = { "registered", LOG_AT_INFO },
    [NSQ_UNREGISTERED] = { "unregistered", LOG_AT_INFO },
    [NSQ_CREATED] = { "created", LOG_AT_INFO },
    [NSQ_DELETED] = { "deleted", LOG_AT_INFO },
    [NSQ_TOMBSTONED] = { "node is under a tombstone", LOG_AT_INFO },
    [NSQ_TOMBSTONE_LAPSED] = { "tombstone has lapsed", LOG_AT_INFO },
    [NSQ_PRODUCERS_CHANGED] = { NULL, LOG_AT_DEBUG },
};

static const char *const labels[] = {
    "joined",  "left",    "silent",     "heard-again", "registered", "unregistered",
    "created", "deleted", "tombstoned", "lapsed",      "changed",    NULL,
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
    [JOURNAL_CHANNELS] = { .name = "leat_registry_channels",
                           .kind = METRIC_GAUGE,
                           .help = "Channels, with or without nodes." },
    [JOURNAL_REGISTRATIONS] = { .name = "leat_registry_registrations",
                                .kind = METRIC_GAUGE,
                                .help = "Registrations of nodes with topics and channels." },
    [JOURNAL_TOMBSTONES] = { .name = "leat_registry_tombstones",
                             .kind = METRIC_GAUGE,
                             .help = "Registrations that a tombstone hides." },
    { 0 },
};

NsqJournal *
nsq_journal_new(void)
{
    NsqJournal *self = g_new0(NsqJournal, 1);

    self->metrics = metric_set_new(specs, "registry", "nsqlookupd", "nsqlookupd");
    return self;
}

void
nsq_journal_free(NsqJournal *self)
{
    if (self == NULL)
        return;
    metric_set_free(self->metrics);
    g_free(self);
}

void
nsq_journal_note(NsqJournal *self, const NsqEvent *event)
{
    const JournalRow *row = &rows[event->kind];
    LogField fields[8] = { { .key = NULL } };
    guint n = 0;

    metric_add_value(self->metrics, JOURNAL_EVENTS, event->kind, 1);
    if (row->message == NULL || !log_enabled(row->level))
        return;
    if (event->topic != NULL)
        fields[n++] = (LogField) LOG_TEXT("topic", event->topic);
    if (event->channel != NULL)
        fields[n++] = (LogField) LOG_TEXT("channel", event->channel);
    if (event->node != NULL) {
        fields[n++] = (LogField) LOG_TEXT("node", event->node->identity->node);
        fields[n++] = (LogField) LOG_TEXT("peer", event->node->identity->remote_address);
        if (event->kind == NSQ_NODE_LEFT)
            fields[n++] = (LogField) LOG_INT("registrations", event->node->n_producers);
    }
    if (event->detail != NULL)
        fields[n++] = (LogField) LOG_TEXT("reason", event->detail);
    log_emit(row->level, row->message, fields);
}

MetricSet *
nsq_journal_metrics(NsqJournal *self, const NsqTable *table)
{
    NsqCounts counts = nsq_table_counts(table);

    metric_set(self->metrics, JOURNAL_NODES, counts.nodes);
    metric_set(self->metrics, JOURNAL_TOPICS, counts.topics);
    metric_set(self->metrics, JOURNAL_CHANNELS, counts.channels);
    metric_set(self->metrics, JOURNAL_REGISTRATIONS, counts.registrations);
    metric_set(self->metrics, JOURNAL_TOMBSTONES, counts.tombstones);
    return self->metrics;
}
