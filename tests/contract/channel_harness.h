/* channel_harness.h - one channel under test, of any type, and what a test does with it in a line.
 */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"
#include "base/clock.h"
#include "tests/support/events.h"

/* One column of the suite: every test runs against each. */
typedef struct {
    const char *name; /* in the tests' paths */
    const char *type;
    const char *options; /* whole lines of YAML, beside those that a test asks for */
    gboolean is_on_disk; /* gets a directory, temporary */
    gboolean may_wait;   /* a put may have to wait for the disk where there is room */
} ChannelVariant;

extern const ChannelVariant channel_variants[]; /* ended by a NULL name */

typedef struct {
    Channel *channel;
    const ChannelVariant *variant;
    char *directory; /* NULL unless it is on disk */
    char *yaml;
} ChannelHarness;

/* options: lines of YAML, "" for none. */
ChannelHarness *channel_harness_new(const ChannelVariant *variant, const char *options);
void channel_harness_free(ChannelHarness *self);
/* The channel is closed and freed, and a new one opened in its place, with its directory. */
void channel_harness_reopen(ChannelHarness *self);

/* A ticket on the stack or heap of the test. */
typedef struct {
    Ticket ticket;
    GMutex lock; /* guards n_done */
    GCond changed;
    guint n_done;
} TestTicket;

void test_ticket_init(TestTicket *self);
void test_ticket_clear(TestTicket *self);
gboolean test_ticket_is_done(TestTicket *self);
/* FALSE if done does not come within ten seconds. */
gboolean test_ticket_wait(TestTicket *self);

/* Puts count events with the bodies first, first + 1, ... */
PutResult channel_harness_start_put(ChannelHarness *self, guint first, guint count,
                                    TestTicket *ticket);
/* Waits until they are in; a failure fails the test. */
void channel_harness_put(ChannelHarness *self, guint first, guint count);
void channel_harness_put_batch(ChannelHarness *self, Batch *batch /* (transfer full) */);
/* TRUE if a put of count events has to wait; it is cancelled. */
gboolean channel_harness_is_full_for(ChannelHarness *self, guint count);

/* Does not wait. NULL if the channel is empty. */
Lease *channel_harness_take(ChannelHarness *self, guint max_events);
/* Takes everything that is there, commits it, and tells it: "0 1 2". */
char *channel_harness_drain(ChannelHarness *self);
/* Takes until the ticket is done and nothing is left. */
char *channel_harness_drain_around(ChannelHarness *self, TestTicket *ticket);
char *lease_to_text(const Lease *lease);

guint64 channel_harness_metric(ChannelHarness *self, ChannelMetric metric);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChannelHarness, channel_harness_free)

#define assert_drains(harness, text)                                \
    G_STMT_START                                                    \
    {                                                               \
        g_autofree char *drained_ = channel_harness_drain(harness); \
        g_assert_cmpstr(drained_, ==, text);                        \
    }                                                               \
    G_STMT_END

#define assert_drains_around(harness, ticket, text)                                \
    G_STMT_START                                                                   \
    {                                                                              \
        g_autofree char *drained_ = channel_harness_drain_around(harness, ticket); \
        g_assert_cmpstr(drained_, ==, text);                                       \
    }                                                                              \
    G_STMT_END

#define assert_lease(lease, text)                        \
    G_STMT_START                                         \
    {                                                    \
        g_autofree char *leased_ = lease_to_text(lease); \
        g_assert_cmpstr(leased_, ==, text);              \
    }                                                    \
    G_STMT_END
