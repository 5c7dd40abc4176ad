/* test_sink_group_threads.c - sinks of a group, each on its thread, as Flume tests its
 * FailoverSinkProcessor and LoadBalancingSinkProcessor. */
#include "agent/core/sink_group.h"

#include "base/clock.h"
#include "tests/support/sink_party.h"

/* ---- failover ---- */

static void
test_the_others_deliver_what_the_first_does_not(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, FAST);

    bench_tell(guest(party, 0), DO_RETRY);
    bench_tell(guest(party, 1), DO_RETRY);
    bench_put(party->bench, "abcdefghij");
    bench_start(party->bench);
    bench_wait_until_left(party->bench, 0);
    g_autofree char *arrived = bench_arrived(guest(party, 2));

    g_assert_cmpstr(arrived, ==, "abcdefghij");
}

static void
test_events_go_through_the_first_again_when_it_is_back(void)
{
    g_autoptr(Party) party =
        party_new(&failover_sink_group, "{ sinks: [a, b, c], max-penalty: 1ms }", FAST);

    bench_tell(guest(party, 0), DO_RETRY);
    bench_start(party->bench);
    bench_put(party->bench, "abc");
    bench_wait_until_left(party->bench, 0);
    bench_tell(guest(party, 0), DO_DELIVER);
    while (group_metric(party->group, SINK_GROUP_TAKEOVERS) < 2) {
        bench_put(party->bench, "-");
        bench_wait_until_left(party->bench, 0);
    }
    bench_put(party->bench, "def"); /* the other may have begun to take */
    bench_wait_until_left(party->bench, 0);
    g_autofree char *arrived = bench_arrived(guest(party, 0));

    g_assert_true(g_str_has_suffix(arrived, "ef"));
}

static void
test_a_hanging_sink_that_is_tried_does_not_stall_the_live_one(void)
{
    g_autoptr(Party) party =
        party_new(&failover_sink_group, "{ sinks: [a, b, c], max-penalty: 1ms }", FAST);

    bench_tell(guest(party, 0), DO_RETRY);
    bench_start(party->bench);
    bench_put(party->bench, "a");
    bench_wait_until_left(party->bench, 0);
    bench_tell(guest(party, 0), DO_BLOCK);
    while (!bench_is_blocked(guest(party, 0))) {
        bench_put(party->bench, "-");
        bench_wait_until_left(party->bench, 1);
    }
    bench_put(party->bench, "bcdefghij");
    bench_wait_until_left(party->bench, 1);
    g_autofree char *arrived = bench_arrived(guest(party, 1));

    g_assert_true(g_str_has_suffix(arrived, "bcdefghij"));
    g_assert_cmpuint(guest(party, 0)->arrived->len, ==, 0);
}

static void
test_sinks_that_wait_for_their_turn_end_with_the_drain(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, FAST);

    bench_put(party->bench, "abcdefghij");
    bench_start(party->bench);
    bench_end(party->bench, TRUE);

    g_assert_cmpuint(channel_n_events(party->bench->channel), ==, 0);
}

static void
test_a_drain_goes_through_whoever_works(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, FAST);

    for (guint i = 0; i < 3; i++)
        bench_tell(guest(party, i), DO_RETRY);
    bench_put(party->bench, "abc");
    bench_start(party->bench);
    bench_wait_for(guest(party, 2), &guest(party, 2)->n_attempts, 1);
    bench_tell(guest(party, 2), DO_DELIVER);
    bench_end(party->bench, TRUE);

    g_assert_cmpuint(guest(party, 2)->arrived->len, ==, 3);
}

/* Its lease is given up at half the time, and it gets no other one. */
static void
check_drain_leaves_one_that_hangs(const ComponentType *type)
{
    g_autoptr(Party) party = party_new(type, ABC, FAST);
    gint64 begin_us;

    bench_tell(guest(party, 0), DO_BLOCK);
    bench_put(party->bench, "abcdef");
    bench_make_runners(party->bench);
    for (guint i = 0; i < 3; i++) {
        g_assert_true(sink_runner_start(g_ptr_array_index(party->bench->runners, i), NULL));
        if (i == 0)
            bench_wait_for(guest(party, 0), &guest(party, 0)->n_attempts, 1);
    }
    begin_us = clock_now_us();
    for (guint i = 0; i < 3; i++)
        sink_runner_finish(g_ptr_array_index(party->bench->runners, i), TRUE);
    for (guint i = 0; i < 3; i++)
        sink_runner_reroute(g_ptr_array_index(party->bench->runners, i), begin_us);
    bench_end(party->bench, TRUE);

    g_assert_cmpuint(channel_n_events(party->bench->channel), ==, 0);
    g_assert_cmpuint(guest(party, 0)->n_attempts, ==, 1);
}

static void
test_a_drain_leaves_a_sink_that_hangs_for_one_that_works(void)
{
    check_drain_leaves_one_that_hangs(&failover_sink_group);
    check_drain_leaves_one_that_hangs(&load_balance_sink_group);
}

static void
test_a_sink_that_has_nobody_to_take_over_is_left_to_finish(void)
{
    g_autoptr(Bench) bench =
        bench_new("{ channel: buffer, backoff: 1ms, max-backoff: 1ms }", { DO_BLOCK, 0 });

    bench_put(bench, "a");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 1);
    sink_runner_finish(bench->runner, TRUE);
    sink_runner_reroute(bench->runner, clock_now_us());

    g_assert_true(bench_is_blocked(bench->sink));
    bench_tell(bench->sink, DO_DELIVER);
    bench_end(bench, TRUE);
    g_assert_cmpuint(channel_n_events(bench->channel), ==, 0);
}

static void
test_a_stop_without_drain_does_not_wait_for_turns(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, FAST);

    bench_tell(guest(party, 0), DO_BLOCK);
    bench_put(party->bench, "abc");
    bench_start(party->bench);
    bench_wait_for(guest(party, 0), &guest(party, 0)->n_attempts, 1);
    sink_runner_finish(g_ptr_array_index(party->bench->runners, 1), FALSE);

    g_assert_true(sink_runner_wait(g_ptr_array_index(party->bench->runners, 1),
                                   clock_now_us() + BENCH_LIMIT_US));
    g_assert_cmpuint(guest(party, 1)->n_attempts, ==, 0);
}

static guint64
party_metric(const Party *party, SinkMetric metric)
{
    guint64 sum = 0;

    for (guint i = 0; i < 3; i++)
        sum += bench_metric(guest(party, i), metric);
    return sum;
}

/* Whichever of them looks for it, there must be others to compare it with. */
static void
check_poison(const ComponentType *type)
{
    g_autoptr(Party) party = party_new(type, "{ sinks: [a, b, c], max-penalty: 1ms }",
                                       "{ channel: buffer, batch-size: 4, linger: 0s, "
                                       "backoff: 1ms, max-backoff: 1ms }");
    guint64 n_good = 24;

    for (guint i = 0; i < 3; i++)
        bench_tell(guest(party, i), DO_TASTE);
    bench_put(party->bench, "abcdxefghijkxlmnopqrstuvwy");
    bench_start(party->bench);
    for (; party_metric(party, SINK_EVENTS_REJECTED) < 2; n_good++) {
        g_assert_cmpuint(n_good, <, 10000);
        bench_put(party->bench, "-");
        bench_wait_until_left(party->bench, 2);
    }
    bench_wait_until_left(party->bench, 0);

    g_assert_cmpuint(party_metric(party, SINK_EVENTS_DELIVERED), ==, n_good);
    g_assert_cmpuint(party_metric(party, SINK_EVENTS_REJECTED), ==, 2);
}

static void
test_poison_is_found_by_a_group_too(void)
{
    check_poison(&failover_sink_group);
    check_poison(&load_balance_sink_group);
}

/* ---- load balancing ---- */

/* Each waits for its turn while the others have theirs. */
typedef struct {
    SinkGroup *group;
    guint rank;
    gint *n_left; /* atomic */
    guint n_turns;
} Player;

static gpointer
play_turns(gpointer user)
{
    Player *self = user;
    static const gint never = 0;
    const gint *yields;

    while (sink_group_await_turn(self->group, self->rank, &never, clock_now_us() + BENCH_LIMIT_US,
                                 &yields)) {
        gboolean over = g_atomic_int_add(self->n_left, -1) <= 0;

        if (!over) {
            self->n_turns++;
            g_usleep(200); /* the others come back meanwhile */
        }
        sink_group_end_turn(self->group, self->rank, !over);
        if (over)
            return NULL;
    }
    g_assert_not_reached();
}

/* How many of 300 turns each of the three gets. */
static void
share_turns(SinkGroup *group, guint *ret_turns)
{
    gint n_left = 300;
    Player players[3];
    GThread *threads[3];

    for (guint i = 0; i < 3; i++) {
        players[i] = (Player){ .group = group, .rank = i, .n_left = &n_left };
        threads[i] = g_thread_new(NULL, play_turns, &players[i]);
    }
    for (guint i = 0; i < 3; i++) {
        g_thread_join(threads[i]);
        ret_turns[i] = players[i].n_turns;
    }
}

static void
test_round_robin_gives_even_shares(void)
{
    g_autoptr(Party) party = party_new(&load_balance_sink_group, ABC, PLAIN);
    guint turns[3];

    share_turns(party->group, turns);

    for (guint i = 0; i < 3; i++)
        g_assert_cmpuint(turns[i], >=, 90);
}

static void
test_random_gives_everybody_a_share(void)
{
    g_autoptr(Party) party =
        party_new(&load_balance_sink_group, "{ sinks: [a, b, c], selector: random }", PLAIN);
    guint turns[3];

    share_turns(party->group, turns);

    g_assert_cmpuint(turns[0] + turns[1] + turns[2], ==, 300);
    for (guint i = 0; i < 3; i++)
        g_assert_cmpuint(turns[i], >, 30);
}

static void
test_a_dead_sink_gets_nothing_and_nothing_is_lost(void)
{
    g_autoptr(Party) party = party_new(&load_balance_sink_group, ABC, FAST);

    bench_tell(guest(party, 1), DO_RETRY);
    bench_put(party->bench, "abcdefghijklmnopqrstuvwxyz");
    bench_start(party->bench);
    bench_wait_until_left(party->bench, 0);

    g_assert_cmpuint(guest(party, 1)->arrived->len, ==, 0);
    g_assert_cmpuint(guest(party, 0)->arrived->len + guest(party, 2)->arrived->len, ==, 26);
}

static void
test_all_events_go_through_the_only_good_sink(void)
{
    g_autoptr(Party) party =
        party_new(&load_balance_sink_group, "{ sinks: [a, b, c], selector: random }", FAST);

    bench_tell(guest(party, 0), DO_RETRY);
    bench_tell(guest(party, 1), DO_RETRY);
    bench_put(party->bench, "abcdefghijklmnopqrstuvwxyz");
    bench_start(party->bench);
    bench_wait_until_left(party->bench, 0);

    g_assert_cmpuint(guest(party, 2)->arrived->len, ==, 26);
}

static void
test_a_hanging_sink_holds_up_no_more_than_it_has(void)
{
    g_autoptr(Party) party = party_new(&load_balance_sink_group, ABC, FAST);

    guint n_before;

    bench_tell(guest(party, 1), DO_BLOCK);
    bench_start(party->bench);
    while (!bench_is_blocked(guest(party, 1))) {
        bench_put(party->bench, "-");
        bench_wait_until_left(party->bench, 1);
    }
    bench_wait_until_left(party->bench, 1);
    n_before = guest(party, 0)->arrived->len + guest(party, 2)->arrived->len;
    bench_put(party->bench, "abcdefghijklmnopqrstuvwxyz");
    bench_wait_until_left(party->bench, 1);

    g_assert_cmpuint(guest(party, 0)->arrived->len + guest(party, 2)->arrived->len - n_before, ==,
                     26);
}

#define ADD(name, function) g_test_add_func("/sink-group-threads/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("failover/the-others-deliver", test_the_others_deliver_what_the_first_does_not);
    ADD("failover/the-first-is-back", test_events_go_through_the_first_again_when_it_is_back);
    ADD("failover/a-hanging-sink", test_a_hanging_sink_that_is_tried_does_not_stall_the_live_one);
    ADD("failover/the-drain-ends", test_sinks_that_wait_for_their_turn_end_with_the_drain);
    ADD("failover/a-drain-goes-through-whoever-works", test_a_drain_goes_through_whoever_works);
    ADD("a-drain-leaves-a-sink-that-hangs",
        test_a_drain_leaves_a_sink_that_hangs_for_one_that_works);
    ADD("a-sink-alone-is-left-to-finish",
        test_a_sink_that_has_nobody_to_take_over_is_left_to_finish);
    ADD("failover/a-stop-does-not-wait", test_a_stop_without_drain_does_not_wait_for_turns);
    ADD("load-balance/round-robin", test_round_robin_gives_even_shares);
    ADD("load-balance/random", test_random_gives_everybody_a_share);
    ADD("load-balance/a-dead-one", test_a_dead_sink_gets_nothing_and_nothing_is_lost);
    ADD("load-balance/the-only-good-one", test_all_events_go_through_the_only_good_sink);
    ADD("load-balance/a-hanging-one", test_a_hanging_sink_holds_up_no_more_than_it_has);
    ADD("poison", test_poison_is_found_by_a_group_too);
    return g_test_run();
}
