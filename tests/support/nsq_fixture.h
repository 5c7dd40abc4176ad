/* nsq_fixture.h - NSQ's table with a clock that the test turns, and what observers were told. */
#pragma once

#include <glib.h>

#include "registry/nsq_table.h"

#define NSQ_FIRST_INDEX 1000
#define NSQ_MAX_ENTRIES 100
#define NSQ_START_US (G_GINT64_CONSTANT(500) * G_USEC_PER_SEC)
#define SECOND_US G_USEC_PER_SEC

/* Nodes may be silent for 300 s, tombstones hide for 45 s. */
typedef struct {
    NsqTable *table;
    GString *events; /* one word each, with topic and channel: "registered:t/c" */
    gint64 now_us;
} NsqFixture;

void nsq_fixture_add(const char *path, void (*test)(NsqFixture *self, gconstpointer user));

/* A node "host" with the ports 4150 and 4151, now. */
NsqNode *nsq_fixture_join(NsqFixture *self, const char *remote, const char *host);
/* How many producers look-ups of the topic see, which must be listed. */
guint nsq_fixture_visible(const NsqFixture *self, const char *topic);
/* Of a channel that must be there. */
guint nsq_fixture_producers(const NsqFixture *self, const char *topic, const char *channel);
gboolean nsq_fixture_has_channel(const NsqFixture *self, const char *topic, const char *channel);
/* Since the last time. */
void nsq_fixture_assert_events(NsqFixture *self, const char *expected);
