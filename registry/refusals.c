/* refusals.c - what was refused to peers: counted by reason, logged at most once a second each. */
#include "registry/refusals.h"

#include "base/log.h"
#include "base/log_rate.h"

struct Refusals {
    MetricSet *metrics;
    LogRate rates[N_REFUSALS];
};

static const char *const messages[N_REFUSALS] = {
    [REFUSAL_BAD_PROTOCOL] = "client speaks something else",
    [REFUSAL_BAD_COMMAND] = "command refused",
    [REFUSAL_BAD_NAME] = "name refused",
    [REFUSAL_BAD_BODY] = "body refused",
    [REFUSAL_TOO_LONG] = "command too long",
    [REFUSAL_IDLE] = "idle connection closed",
    [REFUSAL_TOO_MANY] = "too many connections",
    [REFUSAL_RESOURCES] = "out of resources",
};

static const char *const labels[] = {
    "bad-protocol", "bad-command", "bad-name",  "bad-body", "too-long",
    "idle",         "too-many",    "resources", NULL,
};
G_STATIC_ASSERT(G_N_ELEMENTS(labels) == N_REFUSALS + 1);

static const MetricSpec specs[] = {
    { .name = "leat_registry_refusals_total",
      .kind = METRIC_COUNTER,
      .help = "What was refused to peers, by reason; the log has a line for the first of a second.",
      .label = "reason",
      .values = labels },
    { 0 },
};

Refusals *
refusals_new(const char *protocol)
{
    Refusals *self = g_new0(Refusals, 1);

    self->metrics = metric_set_new(specs, "registry", protocol, protocol);
    return self;
}

void
refusals_free(Refusals *self)
{
    if (self == NULL)
        return;
    metric_set_free(self->metrics);
    g_free(self);
}

MetricSet *
refusals_metrics(const Refusals *self)
{
    return self->metrics;
}

void
refusals_add(Refusals *self, RefusalReason reason, const char *peer, const char *detail)
{
    LogField fields[4] = { LOG_TEXT("peer", peer) };
    guint64 left_out;
    guint n = 1;

    metric_add_value(self->metrics, 0, reason, 1);
    if (!log_rate_admit(&self->rates[reason], G_USEC_PER_SEC, &left_out))
        return;
    if (detail != NULL)
        fields[n++] = (LogField) LOG_TEXT("detail", detail);
    if (left_out > 0)
        fields[n++] = (LogField) LOG_INT("left_out", left_out);
    log_emit(LOG_AT_WARNING, messages[reason], fields);
}
