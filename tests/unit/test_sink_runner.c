/* test_sink_runner.c - leases, retries, back-off and the ways to stop of one sink's thread. */
#include "agent/core/sink_runner.h"

#include "base/clock.h"
#include "tests/support/scripted_sink.h"

#define LIMIT_US BENCH_LIMIT_US

/* The clock of the code under test can be moved on. */
static gint clock_offset_s; /* atomic */

gint64
g_get_monotonic_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec + g_atomic_int_get(&clock_offset_s)) * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

#define FAST "{ channel: buffer, backoff: 1ms, max-backoff: 1ms }"
#define SLOW "{ channel: buffer, backoff: 1h, max-backoff: 1h }"

/* ---- the tests ---- */

static void
test_events_arrive_in_order_and_leave_the_channel(void)
{
    g_autoptr(Bench) bench = bench_new(FAST, { DO_DELIVER, 0 });

    bench_put(bench, "abc");
    bench_start(bench);
    bench_end(bench, TRUE);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abc");
    g_assert_cmpuint(channel_n_events(bench->channel), ==, 0);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_DELIVERED), ==, 3);
}

static void
test_a_retry_keeps_what_was_acknowledged_and_sends_the_rest_again(void)
{
    g_autoptr(Bench) bench =
        bench_new(FAST, { DO_RETRY, 2 }, { DO_RETRY, 0 }, { DO_RETRY, 1 }, { DO_DELIVER, 0 });

    bench_put(bench, "abcdef");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 4);
    bench_end(bench, TRUE);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abcdef");
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_DELIVERED), ==, 6);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_BATCHES_RETRIED), ==, 3);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_DELIVERY_ATTEMPTS), ==, 6 + 4 + 4 + 3);
}

static void
test_a_rejected_event_is_counted_and_does_not_block_those_behind_it(void)
{
    g_autoptr(Bench) bench = bench_new(SLOW, { DO_REJECT, 1 }, { DO_REJECT, 0 }, { DO_DELIVER, 0 });

    bench_put(bench, "abcde");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 3);
    bench_end(bench, TRUE);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "ade");
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_REJECTED), ==, 2);
    g_assert_cmpuint(channel_n_events(bench->channel), ==, 0);
}

static void
test_nothing_is_leased_while_backing_off(void)
{
    g_autoptr(Bench) bench = bench_new(SLOW, { DO_RETRY, 0 });
    TakeLimits limits = { .max_events = 10, .max_bytes = 1000 };

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    g_autoptr(Lease) lease = channel_take(bench->channel, &limits, clock_now_us() + LIMIT_US);

    g_assert_nonnull(lease);
    g_assert_cmpuint(lease->n_events, ==, 3);
}

static void
test_the_last_attempt_of_a_stop_does_not_wait_for_the_backoff(void)
{
    g_autoptr(Bench) bench = bench_new(SLOW, { DO_RETRY, 0 }, { DO_DELIVER, 0 });

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    bench_end(bench, FALSE);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abc");
}

static void
test_a_stop_without_drain_leaves_in_the_channel_what_one_attempt_did_not_deliver(void)
{
    g_autoptr(Bench) bench = bench_new(SLOW, { DO_RETRY, 0 }, { DO_RETRY, 1 }, { DO_DELIVER, 0 });

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    bench_end(bench, FALSE);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "a");
    g_assert_cmpuint(channel_n_events(bench->channel), ==, 2);
}

static void
test_a_stop_ends_the_wait_for_a_destination_to_turn_up(void)
{
    g_autoptr(Bench) bench = bench_new(SLOW, { DO_AWAIT, 0 });

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    bench_end(bench, FALSE);

    g_assert_false(bench->sink->interrupted);
    g_assert_cmpuint(channel_n_events(bench->channel), ==, 3);
}

static void
test_a_drain_goes_on_through_failures(void)
{
    g_autoptr(Bench) bench =
        bench_new(SLOW, { DO_RETRY, 0 }, { DO_RETRY, 0 }, { DO_RETRY, 1 }, { DO_DELIVER, 0 });

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    bench_end(bench, TRUE);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abc");
}

static void
test_a_drain_waits_for_what_others_have_leased(void)
{
    g_autoptr(Bench) bench = bench_new(FAST, { DO_DELIVER, 0 });
    TakeLimits limits = { .max_events = 2, .max_bytes = 1000 };
    Lease *lease;

    bench_put(bench, "abc");
    lease = channel_take(bench->channel, &limits, 0);
    bench_start(bench);
    sink_runner_finish(bench->runner, TRUE);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    g_assert_false(sink_runner_wait(bench->runner, clock_now_us() + 1000));
    lease_rollback(lease);

    g_assert_true(sink_runner_wait(bench->runner, clock_now_us() + LIMIT_US));
    g_assert_cmpstr(bench->sink->arrived->str, ==, "cab");
}

static void
test_an_interrupt_ends_a_delivery_that_hangs_and_loses_nothing(void)
{
    g_autoptr(Bench) bench = bench_new(FAST, { DO_BLOCK, 0 });

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    sink_runner_finish(bench->runner, TRUE);
    g_assert_false(sink_runner_wait(bench->runner, clock_now_us() + 1000));
    sink_runner_interrupt(bench->runner);

    g_assert_cmpuint(channel_n_events(bench->channel), ==, 3);
}

static void
test_ticks_come_when_due_with_nothing_to_deliver_and_while_backing_off(void)
{
    g_autoptr(Bench) bench = bench_new(SLOW, { DO_RETRY, 0 });

    bench->sink->next_tick_us = clock_now_us() + 1000;
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_ticks, 1);
    g_mutex_lock(&bench->sink->lock);
    bench->sink->next_tick_us = clock_now_us() + 20000;
    g_mutex_unlock(&bench->sink->lock);
    bench_put(bench, "a");
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);

    bench_wait_for(bench->sink, &bench->sink->n_ticks, 2);
}

static void
test_an_attempt_has_the_deadline_of_the_option(void)
{
    g_autoptr(Bench) bench =
        bench_new("{ channel: buffer, deliver-timeout: 7s }", { DO_DELIVER, 0 });
    gint64 begin_us = clock_now_us();

    bench_put(bench, "a");
    bench_start(bench);
    bench_end(bench, TRUE);

    g_assert_cmpint(bench->sink->deadline_us, >=, begin_us + 7 * G_USEC_PER_SEC);
    g_assert_cmpint(bench->sink->deadline_us, <=, clock_now_us() + 7 * G_USEC_PER_SEC);
}

static void
test_batches_are_cut_at_batch_size(void)
{
    g_autoptr(Bench) bench =
        bench_new("{ channel: buffer, batch-size: 2, linger: 0s }", { DO_DELIVER, 0 });

    bench_put(bench, "abcde");
    bench_start(bench);
    bench_end(bench, TRUE);

    g_assert_cmpuint(bench->sink->n_attempts, ==, 3);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_BATCHES_COMPLETE), ==, 2);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_BATCHES_UNDERFLOW), ==, 1);
}

static void
test_trouble_is_half_a_minute_of_waiting_events_without_success(void)
{
    g_autoptr(Bench) bench = bench_new(SLOW, { DO_DELIVER, 0 }, { DO_RETRY, 0 });

    bench_put(bench, "a");
    bench_start(bench);
    bench_wait_until_left(bench, 0);
    g_atomic_int_add(&clock_offset_s, 60);
    g_assert_null(sink_runner_trouble(bench->runner)); /* idle is no trouble */
    bench_put(bench, "b");
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 2);
    g_assert_null(sink_runner_trouble(bench->runner)); /* nor is a first failure */
    g_atomic_int_add(&clock_offset_s, 31);

    g_assert_nonnull(sink_runner_trouble(bench->runner));
}

static void
test_a_runner_that_never_started_may_be_stopped(void)
{
    g_autoptr(Bench) bench = bench_new(FAST, { DO_DELIVER, 0 });

    sink_runner_finish(bench->runner, TRUE);

    g_assert_true(sink_runner_wait(bench->runner, CLOCK_NEVER));
}

#define ADD(name, function) g_test_add_func("/sink-runner/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("events-arrive-in-order-and-leave-the-channel",
        test_events_arrive_in_order_and_leave_the_channel);
    ADD("a-retry-keeps-what-was-acknowledged",
        test_a_retry_keeps_what_was_acknowledged_and_sends_the_rest_again);
    ADD("a-rejected-event-does-not-block",
        test_a_rejected_event_is_counted_and_does_not_block_those_behind_it);
    ADD("nothing-is-leased-while-backing-off", test_nothing_is_leased_while_backing_off);
    ADD("the-last-attempt-does-not-wait",
        test_the_last_attempt_of_a_stop_does_not_wait_for_the_backoff);
    ADD("a-stop-without-drain-leaves-the-rest",
        test_a_stop_without_drain_leaves_in_the_channel_what_one_attempt_did_not_deliver);
    ADD("a-stop-ends-the-wait-for-a-destination",
        test_a_stop_ends_the_wait_for_a_destination_to_turn_up);
    ADD("a-drain-goes-on-through-failures", test_a_drain_goes_on_through_failures);
    ADD("a-drain-waits-for-others", test_a_drain_waits_for_what_others_have_leased);
    ADD("an-interrupt-loses-nothing",
        test_an_interrupt_ends_a_delivery_that_hangs_and_loses_nothing);
    ADD("ticks-come-when-due",
        test_ticks_come_when_due_with_nothing_to_deliver_and_while_backing_off);
    ADD("an-attempt-has-a-deadline", test_an_attempt_has_the_deadline_of_the_option);
    ADD("batches-are-cut-at-batch-size", test_batches_are_cut_at_batch_size);
    ADD("trouble-is-half-a-minute",
        test_trouble_is_half_a_minute_of_waiting_events_without_success);
    ADD("a-runner-that-never-started", test_a_runner_that_never_started_may_be_stopped);
    return g_test_run();
}
