/* agent_stop.c - sources first, then channels are drained through their sinks, all by one deadline.
 */
#include "agent/agent_stop.h"

#include "agent/core/sink_runner.h"
#include "agent/core/source_runner.h"
#include "base/clock.h"
#include "base/log.h"

/* Interrupted sinks need a moment to end; what is left of shutdown-timeout is for them. */
#define INTERRUPT_SHARE 10

/* All at the same time: none waits for a slow one before it stops accepting. */
static void
stop_sources(GPtrArray *runners, gint64 answer_deadline_us, gint64 deadline_us)
{
    for (guint i = 0; i < runners->len; i++)
        source_runner_begin_stop(g_ptr_array_index(runners, i), answer_deadline_us, deadline_us);
    for (guint i = 0; i < runners->len; i++)
        source_runner_finish_stop(g_ptr_array_index(runners, i));
}

/* Sinks in the order in which they end: one that may still reject events goes before those that
 * take its dead letters. */
typedef struct {
    const GPtrArray *sinks;
    const GPtrArray *runners;
    GHashTable *feeders; /* channel -> how many sinks that have not ended feed it */
    gboolean *told;
} Ending;

static void
count_feeder(Ending *self, const Sink *sink, gint change)
{
    gint n_feeders = GPOINTER_TO_INT(g_hash_table_lookup(self->feeders, sink->dead_letter));

    if (sink->dead_letter != NULL)
        g_hash_table_insert(self->feeders, sink->dead_letter, GINT_TO_POINTER(n_feeders + change));
}

static SinkRunner *
runner_at(const Ending *self, const GArray *indexes, guint i)
{
    return g_ptr_array_index(self->runners, g_array_index(indexes, guint, i));
}

static void
wait_for_all(const Ending *self, const GArray *indexes, gint64 deadline_us)
{
    for (guint i = 0; i < indexes->len; i++)
        sink_runner_wait(runner_at(self, indexes, i), deadline_us);
}

/* At half the time whatever hangs is left for what works. */
static void
wait_for_drain(const Ending *self, const GArray *indexes, gint64 deadline_us)
{
    gint64 begin_us = clock_now_us();

    wait_for_all(self, indexes, begin_us + (deadline_us - begin_us) / 2);
    for (guint i = 0; i < indexes->len; i++)
        sink_runner_reroute(runner_at(self, indexes, i), begin_us);
    wait_for_all(self, indexes, deadline_us);
}

/* FALSE when all sinks have been told. */
static gboolean
finish_unfed_sinks(Ending *self, gint64 deadline_us)
{
    g_autoptr(GArray) now = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint i = 0; i < self->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(self->sinks, i);

        if (self->told[i] || g_hash_table_lookup(self->feeders, sink->channel) != NULL)
            continue;
        self->told[i] = TRUE;
        g_array_append_val(now, i);
        sink_runner_finish(g_ptr_array_index(self->runners, i), !channel_is_durable(sink->channel));
    }
    wait_for_drain(self, now, deadline_us);
    for (guint i = 0; i < now->len; i++)
        count_feeder(self, g_ptr_array_index(self->sinks, g_array_index(now, guint, i)), -1);
    return now->len > 0;
}

static void
stop_sinks(GPtrArray *runners, const GPtrArray *sinks, gint64 deadline_us)
{
    g_autoptr(GHashTable) feeders = g_hash_table_new(NULL, NULL);
    g_autofree gboolean *told = g_new0(gboolean, sinks->len);
    Ending ending = { sinks, runners, feeders, told };

    for (guint i = 0; i < sinks->len; i++)
        count_feeder(&ending, g_ptr_array_index(sinks, i), 1);
    while (finish_unfed_sinks(&ending, deadline_us))
        ;
    for (guint i = 0; i < runners->len; i++)
        sink_runner_interrupt(g_ptr_array_index(runners, i));
}

void
agent_stop_runners(GPtrArray *source_runners, GPtrArray *sink_runners, const AgentConfig *config,
                   gint64 timeout_us)
{
    gint64 answer_deadline_us = clock_deadline_us(timeout_us / 2);
    gint64 deadline_us = clock_deadline_us(timeout_us - timeout_us / INTERRUPT_SHARE);

    stop_sources(source_runners, answer_deadline_us, deadline_us);
    stop_sinks(sink_runners, config->sinks, deadline_us);
}

guint64
agent_write_off(const AgentConfig *config)
{
    guint64 lost = 0;

    for (guint i = 0; i < config->channels->len; i++) {
        Channel *channel = g_ptr_array_index(config->channels, i);
        guint64 n_events = channel_is_durable(channel) ? 0 : channel_n_events(channel);

        if (n_events == 0)
            continue;
        metric_add(channel->base.metrics, CHANNEL_EVENTS_LOST, n_events);
        log_error("events lost, the channel could not be drained in time",
                  LOG_TEXT("channel", channel->base.name), LOG_INT("events", n_events));
        lost += n_events;
    }
    return lost;
}
