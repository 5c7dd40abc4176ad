/* test_thrift_hosts.c - hosts of a Thrift sink that come and go have places and counters. */
#include "agent/sinks/thrift_hosts.h"

#include "agent/builtin.h"
#include "agent/sinks/thrift_metrics.h"
#include "agent/sinks/thrift_sink_private.h"
#include "tests/support/test_part.h"

/* The clock of the code under test can be moved on. */
static gint clock_offset_s; /* atomic */

gint64
g_get_monotonic_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec + g_atomic_int_get(&clock_offset_s)) * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

static Component *
sink_new(void)
{
    return test_part_open(builtin_find(COMPONENT_SINK, "thrift"), COMPONENT_SINK, "out",
                          "{ channel: c, discovery: { type: namesrv, addresses: [\"127.0.0.1:1\"],"
                          " topic: t, poll-interval: 1h } }");
}

static guint64
failures_at(const Component *sink, guint place)
{
    return metric_get_value(sink->part_metrics, THRIFT_SINK_HOST_FAILURES, place);
}

static void
test_a_host_keeps_its_place(void)
{
    Component *sink = sink_new();
    ThriftHosts *hosts = ((ThriftSink *) sink)->known;
    guint first = thrift_hosts_place(hosts, "a:1");
    guint second = thrift_hosts_place(hosts, "b:1");

    g_assert_cmpuint(first, !=, second);
    g_assert_cmpuint(thrift_hosts_place(hosts, "a:1"), ==, first);
    g_assert_false(thrift_hosts_note(hosts, first, TRUE));
    g_assert_true(thrift_hosts_note(hosts, first, FALSE));
    g_assert_false(thrift_hosts_note(hosts, second, FALSE));
    test_part_free(sink);
}

static void
test_a_host_that_comes_back_takes_its_old_place(void)
{
    Component *sink = sink_new();
    ThriftHosts *hosts = ((ThriftSink *) sink)->known;
    guint first = thrift_hosts_place(hosts, "a:1");

    thrift_hosts_count_failure(hosts, first);
    for (guint i = 0; i < THRIFT_LABELLED_HOSTS + 3; i++) { /* it has left meanwhile */
        g_autofree char *name = g_strdup_printf("h%u:1", i);

        g_assert_cmpuint(thrift_hosts_place(hosts, name), !=, first);
    }
    thrift_hosts_count_failure(hosts, thrift_hosts_place(hosts, "a:1"));

    g_assert_cmpuint(failures_at(sink, first), ==, 2);
    test_part_free(sink);
}

static void
test_hosts_behind_the_last_counter_share_one(void)
{
    Component *sink = sink_new();
    ThriftHosts *hosts = ((ThriftSink *) sink)->known;

    for (guint i = 0; i < THRIFT_LABELLED_HOSTS + 3; i++) {
        g_autofree char *name = g_strdup_printf("h%u:1", i);

        thrift_hosts_count_failure(hosts, thrift_hosts_place(hosts, name));
    }

    g_assert_cmpuint(failures_at(sink, 0), ==, 1);
    g_assert_cmpuint(failures_at(sink, THRIFT_LABELLED_HOSTS), ==, 3);
    test_part_free(sink);
}

static void
test_a_host_that_was_silent_for_long_gives_its_place_away(void)
{
    Component *sink = sink_new();
    ThriftHosts *hosts = ((ThriftSink *) sink)->known;

    for (guint i = 0; i < THRIFT_LABELLED_HOSTS; i++) {
        g_autofree char *name = g_strdup_printf("h%u:1", i);
        guint place = thrift_hosts_place(hosts, name);

        thrift_hosts_count_failure(hosts, place);
        thrift_hosts_note(hosts, place, TRUE);
    }
    g_assert_cmpuint(thrift_hosts_place(hosts, "early:1"), ==, THRIFT_LABELLED_HOSTS);
    g_atomic_int_add(&clock_offset_s, 11 * 60);
    thrift_hosts_place(hosts, "h0:1");

    g_assert_cmpuint(thrift_hosts_place(hosts, "late:1"), ==, 1);
    g_assert_cmpuint(failures_at(sink, 1), ==, 0);
    g_assert_false(thrift_hosts_note(hosts, 1, FALSE));
    test_part_free(sink);
}

#define ADD(name, function) g_test_add_func("/thrift-hosts/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("keeps-its-place", test_a_host_keeps_its_place);
    ADD("comes-back", test_a_host_that_comes_back_takes_its_old_place);
    ADD("share-one", test_hosts_behind_the_last_counter_share_one);
    ADD("give-away", test_a_host_that_was_silent_for_long_gives_its_place_away);
    return g_test_run();
}
