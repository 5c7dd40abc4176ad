/* component_report.c - events of note: counted by reason, most logged at most once a second per
 * topic. */
#include "agent/core/component_report.h"

#include "agent/core/component.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"

/* From so many topics on, those that are not needed are forgotten. */
#define MANY_TOPICS 64

struct ComponentReports {
    GMutex lock;                         /* guards rates */
    GHashTable *rates[N_REPORT_REASONS]; /* topic → LogRate; NULL before the first report */
};

typedef struct {
    const char *label;
    const char *message;
    LogLevel level;
} ReportRow;

static const ReportRow report_rows[N_REPORT_REASONS] = {
    [REPORT_CONNECTION_CLOSED] = { "connection-closed", "connection closed", LOG_AT_WARNING },
    [REPORT_BAD_CLIENT] = { "bad-client", "client speaks something else", LOG_AT_WARNING },
    [REPORT_TOO_LARGE] = { "too-large", "request too large", LOG_AT_WARNING },
    [REPORT_REFUSED] = { "refused", "request refused", LOG_AT_WARNING },
    [REPORT_RESOURCES] = { "resources", "out of resources", LOG_AT_WARNING },
    [REPORT_EVENT_DROPPED] = { "event-dropped", "event dropped", LOG_AT_WARNING },
    [REPORT_MATCH_LIMIT] = { "match-limit", "regular expression gave up, event unchanged",
                             LOG_AT_WARNING },
    [REPORT_DESTINATION] = { "destination", "trouble at the destination", LOG_AT_WARNING },
    [REPORT_NOT_A_SOURCE] = { "not-a-source", "peer is no Thrift source", LOG_AT_WARNING },
    [REPORT_REJECTED] = { "rejected", "event rejected", LOG_AT_WARNING },
    [REPORT_RECOVERED] = { "recovered", "recovered", LOG_AT_INFO },
    [REPORT_SYSTEM_LIMIT] = { "system-limit", "a limit of the system is too low", LOG_AT_WARNING },
    [REPORT_NOT_COPIED] = { "not-copied", "an optional channel gets no copy", LOG_AT_WARNING },
    [REPORT_DISK] = { "disk", "trouble with the disk", LOG_AT_WARNING },
    [REPORT_DAMAGED] = { "damaged", "files are damaged", LOG_AT_WARNING },
    [REPORT_REGISTRY] = { "registry", "trouble with a registry", LOG_AT_WARNING },
    [REPORT_HOST_JOINED] = { "host-joined", "host joined", LOG_AT_INFO },
    [REPORT_HOST_LEFT] = { "host-left", "host left", LOG_AT_INFO },
};

static const char *const report_labels[] = {
    "connection-closed", "bad-client",   "too-large",   "refused",      "resources",
    "event-dropped",     "match-limit",  "destination", "not-a-source", "rejected",
    "recovered",         "system-limit", "not-copied",  "disk",         "damaged",
    "registry",          "host-joined",  "host-left",   NULL,
};
G_STATIC_ASSERT(G_N_ELEMENTS(report_labels) == N_REPORT_REASONS + 1);

const MetricSpec component_report_metrics[] = {
    { .name = "leat_reports_total",
      .kind = METRIC_COUNTER,
      .help = "Events of note, by reason; the log has a line for the first of each "
              "second, and for each host that joins or leaves.",
      .label = "reason",
      .values = report_labels },
    { 0 },
};

ComponentReports *
component_reports_new(void)
{
    ComponentReports *self = g_new0(ComponentReports, 1);

    g_mutex_init(&self->lock);
    return self;
}

void
component_reports_free(ComponentReports *self)
{
    for (guint i = 0; i < N_REPORT_REASONS; i++)
        g_clear_pointer(&self->rates[i], g_hash_table_unref);
    g_mutex_clear(&self->lock);
    g_free(self);
}

/* Topics that have nothing to tell and may have a line at once are as good as new ones. */
static gboolean
is_forgettable(gpointer topic G_GNUC_UNUSED, gpointer rate, gpointer now_us)
{
    const LogRate *self = rate;

    return self->left_out == 0 && self->next_line_us <= *(const gint64 *) now_us;
}

/* With the lock held. */
static LogRate *
reports_rate(ComponentReports *self, ReportReason reason, const char *topic)
{
    GHashTable **rates = &self->rates[reason];
    LogRate *rate;

    if (*rates == NULL)
        *rates = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    rate = g_hash_table_lookup(*rates, topic);
    if (rate == NULL) {
        if (g_hash_table_size(*rates) >= MANY_TOPICS)
            g_hash_table_foreach_remove(*rates, is_forgettable, &(gint64){ clock_now_us() });
        rate = g_new0(LogRate, 1);
        g_hash_table_insert(*rates, g_strdup(topic), rate);
    }
    return rate;
}

/* Their cause keeps them rare, and each says something else. */
static gboolean
is_logged_each_time(ReportReason reason)
{
    return reason == REPORT_HOST_JOINED || reason == REPORT_HOST_LEFT;
}

/* Whether this one gets a line, and how many before it got none. */
static gboolean
reports_admit(ComponentReports *self, ReportReason reason, const char *topic, guint64 *ret_left_out)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return log_rate_admit(reports_rate(self, reason, topic), G_USEC_PER_SEC, ret_left_out);
}

void
component_report(Component *self, ReportReason reason, const char *peer, const char *detail)
{
    component_report_topic(self, reason, "", peer, detail);
}

void
component_report_topic(Component *self, ReportReason reason, const char *topic, const char *peer,
                       const char *detail)
{
    const ReportRow *row = &report_rows[reason];
    LogField fields[5] = { LOG_TEXT(component_kind_name(self->kind), self->name) };
    guint64 left_out = 0;
    guint n = 1;

    metric_add_value(self->reports, 0, reason, 1);
    if (!is_logged_each_time(reason) && !reports_admit(self->rate, reason, topic, &left_out))
        return;
    if (peer != NULL)
        fields[n++] = (LogField) LOG_TEXT("peer", peer);
    if (detail != NULL)
        fields[n++] = (LogField) LOG_TEXT("detail", detail);
    if (left_out > 0)
        fields[n++] = (LogField) LOG_INT("left_out", left_out);
    log_emit(row->level, row->message, fields);
}
