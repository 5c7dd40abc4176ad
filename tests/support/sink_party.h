/* sink_party.h - three sinks, a, b and c, in a group. */
#pragma once

#include "agent/core/sink_group.h"
#include "tests/support/scripted_sink.h"

typedef struct {
    Bench *bench;
    SinkGroup *group;
} Party;

/* yaml: of the group; options: of each sink. */
Party *party_new(const ComponentType *type, const char *yaml, const char *options);
void party_free(Party *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Party, party_free)

ScriptedSink *guest(const Party *self, guint index);
guint64 group_metric(const SinkGroup *group, SinkGroupMetric metric);

#define PLAIN "{ channel: buffer }"
#define ABC "{ sinks: [a, b, c] }"
#define FAST "{ channel: buffer, batch-size: 1, linger: 0s, backoff: 1ms, max-backoff: 1ms }"
