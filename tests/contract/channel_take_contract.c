/* channel_take_contract.c - what every channel promises about leases. */
#include "tests/contract/channel_contract.h"
#include "tests/contract/channel_harness.h"

static void
test_a_leased_event_is_hidden_from_others(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;

    channel_harness_put(harness, 0, 3);
    lease = channel_harness_take(harness, 2);

    assert_lease(lease, "0 1");
    assert_drains(harness, "2");
}

static void
test_an_empty_channel_gives_no_lease(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");

    g_assert_null(channel_harness_take(harness, 1));
}

static void
test_a_lease_that_is_freed_rolls_back(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");

    channel_harness_put(harness, 0, 2);
    {
        g_autoptr(Lease) lease = channel_harness_take(harness, 2);

        assert_lease(lease, "0 1");
    }

    assert_drains(harness, "0 1");
}

static void
test_a_committed_lease_is_gone(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Lease *lease;

    channel_harness_put(harness, 0, 2);
    lease = channel_harness_take(harness, 2);
    lease_commit(lease, 2);
    lease_rollback(lease);

    assert_drains(harness, "");
    g_assert_cmpuint(channel_n_events(harness->channel), ==, 0);
}

static void
test_a_partial_commit_keeps_the_rest_leased_and_a_rollback_puts_it_back(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Lease *lease;

    channel_harness_put(harness, 0, 2);
    channel_harness_put(harness, 2, 3);
    lease = channel_harness_take(harness, 5);
    lease_commit(lease, 3);

    assert_lease(lease, "3 4");
    g_assert_cmpuint(lease->n_events, ==, 2);
    assert_drains(harness, "");
    lease_rollback(lease);
    assert_drains(harness, "3 4");
}

static void
test_leases_that_roll_back_in_any_order_restore_the_order(gconstpointer variant)
{
    static const guint orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

    for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
        g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
        Lease *leases[3];

        channel_harness_put(harness, 0, 5); /* one batch, cut in three */
        channel_harness_put(harness, 5, 2);
        for (guint j = 0; j < 3; j++)
            leases[j] = channel_harness_take(harness, 2);
        for (guint j = 0; j < 3; j++)
            lease_rollback(leases[orders[i][j]]);

        assert_drains(harness, "0 1 2 3 4 5 6");
    }
}

static void
test_the_next_take_gets_the_lowest_event_that_is_not_leased(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) first = NULL;
    g_autoptr(Lease) again = NULL;
    Lease *second;

    channel_harness_put(harness, 0, 6);
    first = channel_harness_take(harness, 2);
    second = channel_harness_take(harness, 2);
    lease_rollback(second);

    again = channel_harness_take(harness, 3);
    assert_lease(again, "2 3 4");
    g_assert_cmpuint(again->first, ==, first->first + 2);
}

static void
test_commits_come_in_any_order(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) second = NULL;
    Lease *first;

    channel_harness_put(harness, 0, 4);
    first = channel_harness_take(harness, 2);
    second = channel_harness_take(harness, 2);
    lease_commit(second, 2);
    lease_rollback(first);

    assert_drains(harness, "0 1");
    g_assert_cmpuint(channel_n_events(harness->channel), ==, 0);
}

static void
test_a_lease_may_hold_events_that_do_not_follow_one_another(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) middle = NULL;
    g_autoptr(Lease) rest = NULL;
    Lease *first;

    channel_harness_put(harness, 0, 6);
    first = channel_harness_take(harness, 2);
    middle = channel_harness_take(harness, 2);
    lease_rollback(first);
    rest = channel_harness_take(harness, 6);
    assert_lease(rest, "0 1 4 5");

    lease_commit(rest, 3);
    assert_lease(rest, "5");
    g_assert_cmpuint(rest->first, ==, middle->first + 3);
}

static void
test_take_gives_no_more_events_than_asked_for(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;

    channel_harness_put(harness, 0, 2);
    channel_harness_put(harness, 2, 2);
    lease = channel_harness_take(harness, 3);

    assert_lease(lease, "0 1 2");
    assert_drains(harness, "3");
}

static Lease *
take_bytes(ChannelHarness *harness, gsize max_bytes)
{
    TakeLimits limits = { .max_events = 1000, .max_bytes = max_bytes };

    return channel_take(harness->channel, &limits, clock_now_us());
}

static void
test_take_gives_no_more_bytes_than_asked_for(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Batch) sample = batch_of_size(1, 100);
    gsize event = batch_span(sample, 0, 1).length;
    g_autoptr(Lease) two = NULL;
    g_autoptr(Lease) four = NULL;

    channel_harness_put_batch(harness, batch_of_size(3, 100));
    channel_harness_put_batch(harness, batch_of_size(3, 100));
    two = take_bytes(harness, 3 * event - 1);
    four = take_bytes(harness, 4 * event);

    g_assert_cmpuint(two->n_events, ==, 2);
    g_assert_cmpuint(two->n_bytes, ==, 2 * event);
    g_assert_cmpuint(four->n_events, ==, 4);
    g_assert_cmpuint(four->n_bytes, ==, 4 * event);
}

static void
test_a_limit_that_is_reached_at_the_end_of_a_batch_is_kept(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Batch) batch = batch_of_size(2, 20000);
    Lease *by_events;
    Lease *by_bytes;

    channel_harness_put_batch(harness, batch_ref(batch));
    channel_harness_put_batch(harness, batch_ref(batch));
    by_events = channel_harness_take(harness, 2);
    g_assert_cmpuint(by_events->n_events, ==, 2);
    lease_rollback(by_events);

    by_bytes = take_bytes(harness, batch_span(batch, 0, 2).length);
    g_assert_cmpuint(by_bytes->n_events, ==, 2);
    lease_rollback(by_bytes);
}

static void
test_one_event_is_given_even_if_it_is_larger(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;

    channel_harness_put_batch(harness, batch_of_size(2, 1000));
    lease = take_bytes(harness, 10);

    g_assert_cmpuint(lease->n_events, ==, 1);
}

static void
test_takes_are_counted_by_events(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Lease *lease;

    channel_harness_put(harness, 0, 3);
    lease = channel_harness_take(harness, 3);
    lease_commit(lease, 1);
    lease_rollback(lease);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_TAKE_ATTEMPTS), ==, 3);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_TAKE_SUCCESSES), ==, 1);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_EVENTS), ==, 2);

    assert_drains(harness, "1 2"); /* and one more take, which finds nothing */
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_TAKE_ATTEMPTS), ==, 6);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_TAKE_SUCCESSES), ==, 3);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_EVENTS), ==, 0);
}

/* How many events a histogram has seen. */
static guint64
observations(ChannelHarness *harness, ChannelMetric metric)
{
    guint64 buckets[METRIC_BUCKETS];
    guint64 count = 0;

    metric_get_buckets(harness->channel->base.metrics, metric, buckets);
    for (guint i = 0; i < METRIC_BUCKETS; i++)
        count += buckets[i];
    return count;
}

static void
test_time_is_observed_per_put_and_per_committed_event(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;

    channel_harness_put(harness, 0, 3);
    channel_harness_put(harness, 3, 2);
    lease = channel_harness_take(harness, 5);
    lease_commit(lease, 4);

    g_assert_cmpuint(observations(harness, CHANNEL_PUT_TIME), ==, 2);
    g_assert_cmpuint(observations(harness, CHANNEL_RESIDENCE_TIME), ==, 4);
}

/* A million with LEAT_SOAK=1. */
static void
test_many_rollbacks_leave_nothing_behind(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 100");
    guint n_rollbacks = g_getenv("LEAT_SOAK") != NULL ? 1000000 : 20000;

    channel_harness_put(harness, 0, 7);
    channel_harness_put_batch(harness, batch_of_size(3, 20000));
    for (guint i = 0; i < n_rollbacks / 2; i++) {
        Lease *first = channel_harness_take(harness, 1 + i % 7);
        Lease *second = channel_harness_take(harness, 1 + i % 3);

        lease_rollback(i % 2 == 0 ? first : second);
        lease_rollback(i % 2 == 0 ? second : first);
    }

    g_free(channel_harness_drain(harness));
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_EVENTS), ==, 0);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_BYTES), ==, 0);
    g_assert_false(channel_harness_is_full_for(harness, 100));
}

static void
test_an_open_lease_keeps_its_bytes_while_others_come_and_go(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 10");
    g_autoptr(Lease) lease = NULL;

    channel_harness_put(harness, 0, 4);
    lease = channel_harness_take(harness, 2);
    assert_drains(harness, "2 3");
    for (guint i = 0; i < 100; i++) {
        channel_harness_put(harness, 10, 5);
        assert_drains(harness, "10 11 12 13 14");
    }

    assert_lease(lease, "0 1");
}

const ContractTest channel_take_contract[] = {
    { "a-leased-event-is-hidden", test_a_leased_event_is_hidden_from_others },
    { "an-empty-channel", test_an_empty_channel_gives_no_lease },
    { "a-freed-lease-rolls-back", test_a_lease_that_is_freed_rolls_back },
    { "a-committed-lease-is-gone", test_a_committed_lease_is_gone },
    { "partial-commit", test_a_partial_commit_keeps_the_rest_leased_and_a_rollback_puts_it_back },
    { "rollbacks-in-any-order", test_leases_that_roll_back_in_any_order_restore_the_order },
    { "the-lowest-event-is-next", test_the_next_take_gets_the_lowest_event_that_is_not_leased },
    { "commits-in-any-order", test_commits_come_in_any_order },
    { "a-lease-with-a-gap", test_a_lease_may_hold_events_that_do_not_follow_one_another },
    { "limit-of-events", test_take_gives_no_more_events_than_asked_for },
    { "limit-of-bytes", test_take_gives_no_more_bytes_than_asked_for },
    { "limit-at-the-end-of-a-batch", test_a_limit_that_is_reached_at_the_end_of_a_batch_is_kept },
    { "one-larger-event", test_one_event_is_given_even_if_it_is_larger },
    { "takes-are-counted", test_takes_are_counted_by_events },
    { "times-are-observed", test_time_is_observed_per_put_and_per_committed_event },
    { "many-rollbacks", test_many_rollbacks_leave_nothing_behind },
    { "an-open-lease-keeps-its-bytes",
      test_an_open_lease_keeps_its_bytes_while_others_come_and_go },
    { 0 },
};
