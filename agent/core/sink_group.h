/* sink_group.h - which of several sinks on one channel may take the next lease.
 *
 * A group gives turns and nothing else: every member delivers on its own thread, so that one that
 * hangs holds up what it has leased and no more. One member at a time has the turn, until it has
 * taken a lease or found nothing. A member that failed is live again after a success; until then it
 * gets a turn, for one lease at a time, once its penalty is over.
 *
 * Failover: the live member of the highest priority has all turns, but for those of members above
 * it that have a penalty behind them. Load balancing: live members in rotation or by chance; one
 * that is busy is passed over. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"

typedef struct SinkGroup SinkGroup;

extern const ComponentType failover_sink_group;
extern const ComponentType load_balance_sink_group;
extern const OptionSpec sink_group_options[];

/* As the configuration names them, NULL-terminated; may be NULL. */
const char *const *sink_group_sink_names(const SinkGroup *self);
/* Sink *, in that order; before component_configure, which ranks them. Names without a sink are
 * left out. */
void sink_group_set_members(SinkGroup *self, const GPtrArray *sinks);
/* As ranked. */
const GPtrArray *sink_group_members(const SinkGroup *self);

/* The member waits for its turn, until deadline_us (monotonic), or until *stop (atomic) is set.
 * After TRUE it takes, with *ret_yields for the stop of the take, and ends its turn, whatever it
 * found. */
gboolean sink_group_await_turn(SinkGroup *self, guint rank, const gint *stop, gint64 deadline_us,
                               const gint **ret_yields);
void sink_group_end_turn(SinkGroup *self, guint rank, gboolean found);
/* The agent stops, and a stop flag has been set: whoever waits looks at it; penalties are over at
 * once while no member works, and last to the end while one does. channel_wake must follow: whoever
 * takes ends its turn. */
void sink_group_forgive(SinkGroup *self);

/* What became of a lease. Failure returns when the penalty is over (monotonic), 0 if there is none.
 */
void sink_group_note_success(SinkGroup *self, guint rank);
gint64 sink_group_note_failure(SinkGroup *self, guint rank);
gboolean sink_group_is_live(SinkGroup *self, guint rank);
gboolean sink_group_has_live(SinkGroup *self);

typedef enum {
    SINK_GROUP_TURNS,
    SINK_GROUP_PROBES,
    SINK_GROUP_PENALTIES,
    SINK_GROUP_TAKEOVERS,
    SINK_GROUP_LIVE, /* gauge */
    N_SINK_GROUP_METRICS,
} SinkGroupMetric;
extern const MetricSpec sink_group_metrics[N_SINK_GROUP_METRICS + 1];
