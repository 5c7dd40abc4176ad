/* test_sink_pipeline.c - several leases of one sink under way: order, failures, and the ways to
 * stop. */
#include "agent/core/sink_runner.h"

#include <string.h>

#include "base/clock.h"
#include "tests/support/scripted_sink.h"

#define TWO "{ channel: buffer, batch-size: 2, backoff: 1ms, max-backoff: 1ms }"
#define TWO_SLOW "{ channel: buffer, batch-size: 2, backoff: 1h, max-backoff: 1h }"

static Bench *
pipe_new(const char *yaml, const Step *script)
{
    Bench *self = bench_new_empty();

    bench_add(self, &scripted_pipe, "out", yaml, script, NULL);
    bench_make_runners(self);
    return self;
}

static void
test_as_many_are_under_way_as_there_is_room_for_and_all_arrive_in_order(void)
{
    g_autoptr(Bench) bench = pipe_new(TWO, SCRIPT({ DO_DELIVER, 0 }));

    bench_put(bench, "abcdefghijklmn");
    bench_start(bench);
    bench_end(bench, TRUE);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abcdefghijklmn");
    g_assert_cmpuint(bench->sink->most_under_way, ==, bench->sink->room);
    g_assert_cmpuint(bench->sink->n_submitted, ==, 7);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_DELIVERED), ==, 14);
}

static void
test_the_oldest_is_collected_although_the_channel_is_empty(void)
{
    g_autoptr(Bench) bench = pipe_new(TWO, SCRIPT({ DO_DELIVER, 0 }));

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_until_left(bench, 0);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abc");
}

static void
test_a_failure_puts_back_what_was_not_acknowledged_and_nothing_else(void)
{
    g_autoptr(Bench) bench = pipe_new(
        TWO_SLOW, SCRIPT({ DO_DELIVER, 0 }, { DO_RETRY, 1 }, { DO_DELIVER, 0 }, { DO_RETRY, 0 }));

    bench_put(bench, "abcdefgh");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 4);
    bench_wait_until_left(bench, 3);
    sink_runner_interrupt(bench->runner);
    g_autofree char *left = bench_read(bench->channel);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abcef");
    g_assert_cmpstr(left, ==, "dgh");
}

static void
test_after_a_failure_nothing_is_taken_until_all_are_collected(void)
{
    g_autoptr(Bench) bench =
        pipe_new(TWO_SLOW, SCRIPT({ DO_RETRY, 0 }, { DO_DELIVER, 0 }, { DO_DELIVER, 0 },
                                  { DO_DELIVER, 0 }, { DO_DELIVER, 0 }));

    bench_put(bench, "abcdefghijkl");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 4);
    bench_wait_until_left(bench, 6);

    g_assert_cmpuint(bench->sink->n_submitted, ==, 4);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_BATCHES_RETRIED), ==, 1);
}

static void
test_what_was_put_back_goes_first_the_next_time(void)
{
    g_autoptr(Bench) bench = pipe_new(TWO, SCRIPT({ DO_RETRY, 0 }, { DO_RETRY, 0 }, { DO_RETRY, 0 },
                                                  { DO_RETRY, 0 }, { DO_DELIVER, 0 }));

    bench_put(bench, "abcdefghijkl");
    bench_start(bench);
    bench_wait_until_left(bench, 0);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abcdefghijkl");
}

static void
test_a_rejected_event_leaves_the_others_of_its_lease_under_way(void)
{
    g_autoptr(Bench) bench = pipe_new(
        TWO, SCRIPT({ DO_REJECT, 0 }, { DO_DELIVER, 0 }, { DO_REJECT, 1 }, { DO_DELIVER, 0 }));

    bench_put(bench, "abcdef");
    bench_start(bench);
    bench_wait_until_left(bench, 0);

    g_assert_cmpuint(bench->sink->arrived->len, ==, 4);
    g_assert_null(strpbrk(bench->sink->arrived->str, "af"));
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_REJECTED), ==, 2);
}

static void
test_poison_is_found_although_others_are_acknowledged_beside_it(void)
{
    g_autoptr(Bench) bench = pipe_new(TWO, SCRIPT({ DO_TASTE, 0 }));

    bench_put(bench, "axbcdefghijklmnopqrstuvwyz");
    bench_start(bench);
    bench_wait_until_left(bench, 0);
    bench_put(bench, "x");
    for (guint i = 0; i < 40; i++)
        bench_put(bench, "abcdefghijklmnopqrstuvwyz");
    bench_wait_until_left(bench, 0);

    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_REJECTED), ==, 2);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_DELIVERED), ==, 41 * 25);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_BATCHES_RETRIED), <, 60);
}

static void
test_an_interrupt_gives_up_all_that_is_under_way(void)
{
    g_autoptr(Bench) bench = pipe_new(TWO, SCRIPT({ DO_BLOCK, 0 }));

    bench_put(bench, "abcdefghijkl");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    sink_runner_interrupt(bench->runner);
    g_autofree char *left = bench_read(bench->channel);

    g_assert_cmpuint(bench->sink->n_submitted, ==, 4);
    g_assert_cmpuint(bench->sink->n_attempts, ==, 4);
    g_assert_cmpstr(left, ==, "abcdefghijkl");
}

static void
test_a_stop_without_drain_waits_for_what_is_under_way_and_tries_once_more(void)
{
    g_autoptr(Bench) bench = pipe_new(TWO, SCRIPT({ DO_BLOCK, 0 }, { DO_DELIVER, 0 }));

    bench_put(bench, "abcdefgh");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    sink_runner_finish(bench->runner, FALSE);
    g_assert_false(sink_runner_wait(bench->runner, clock_now_us() + 1000));
    bench_tell(bench->sink, DO_DELIVER);
    g_assert_true(sink_runner_wait(bench->runner, clock_now_us() + BENCH_LIMIT_US));

    g_assert_cmpstr(bench->sink->arrived->str, ==, "cdefghab");
}

#define ADD(name, function) g_test_add_func("/sink-pipeline/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("as-many-as-there-is-room-for",
        test_as_many_are_under_way_as_there_is_room_for_and_all_arrive_in_order);
    ADD("the-oldest-is-collected", test_the_oldest_is_collected_although_the_channel_is_empty);
    ADD("a-failure-puts-back-what-was-not-acknowledged",
        test_a_failure_puts_back_what_was_not_acknowledged_and_nothing_else);
    ADD("after-a-failure-nothing-is-taken",
        test_after_a_failure_nothing_is_taken_until_all_are_collected);
    ADD("what-was-put-back-goes-first", test_what_was_put_back_goes_first_the_next_time);
    ADD("a-rejected-event-leaves-the-others",
        test_a_rejected_event_leaves_the_others_of_its_lease_under_way);
    ADD("poison-is-found", test_poison_is_found_although_others_are_acknowledged_beside_it);
    ADD("an-interrupt-gives-up-all", test_an_interrupt_gives_up_all_that_is_under_way);
    ADD("a-stop-waits", test_a_stop_without_drain_waits_for_what_is_under_way_and_tries_once_more);
    return g_test_run();
}
