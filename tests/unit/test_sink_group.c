/* test_sink_group.c - whose turn it is, and for how long a sink that failed has none. */
#include "agent/core/sink_group.h"

#include "base/clock.h"
#include "tests/support/sink_party.h"

/* The clock of the code under test can be moved on. */
static _Atomic gint64 clock_offset_us;

gint64
g_get_monotonic_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000 + clock_offset_us;
}

static void
pass_seconds(gint64 seconds)
{
    clock_offset_us += seconds * G_USEC_PER_SEC;
}

/* Whether it gets a turn now; it takes something and is not heard of again. */
static gboolean
gets_turn(SinkGroup *group, guint rank)
{
    static const gint never = 0;
    const gint *yields;

    if (!sink_group_await_turn(group, rank, &never, 0, &yields))
        return FALSE;
    sink_group_end_turn(group, rank, TRUE);
    return TRUE;
}

/* ---- failover: FailoverSinkProcessor ---- */

static void
test_the_first_has_every_turn_while_it_works(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    for (guint i = 0; i < 3; i++) {
        g_assert_true(gets_turn(party->group, 0));
        g_assert_false(gets_turn(party->group, 1));
        g_assert_false(gets_turn(party->group, 2));
        sink_group_note_success(party->group, 0);
    }

    g_assert_cmpuint(group_metric(party->group, SINK_GROUP_TURNS), ==, 3);
    g_assert_cmpuint(group_metric(party->group, SINK_GROUP_TAKEOVERS), ==, 0);
}

static void
test_priorities_rank_the_sinks(void)
{
    g_autoptr(Party) party = party_new(
        &failover_sink_group, "{ sinks: [a, b, c], priorities: { a: -3, b: 5, c: 10 } }", PLAIN);

    g_assert_cmpuint(guest(party, 2)->base.rank, ==, 0);
    g_assert_cmpuint(guest(party, 1)->base.rank, ==, 1);
    g_assert_cmpuint(guest(party, 0)->base.rank, ==, 2);
}

static void
test_a_failure_hands_over_to_the_next_priority(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    sink_group_note_failure(party->group, 0);

    g_assert_false(gets_turn(party->group, 0));
    g_assert_true(gets_turn(party->group, 1));
    g_assert_false(gets_turn(party->group, 2));
    g_assert_cmpuint(group_metric(party->group, SINK_GROUP_TAKEOVERS), ==, 1);
    g_assert_cmpuint(group_metric(party->group, SINK_GROUP_LIVE), ==, 2);
}

static void
test_after_its_penalty_a_better_sink_is_tried_beside_the_live_one(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    sink_group_note_failure(party->group, 0);
    pass_seconds(2);

    g_assert_true(gets_turn(party->group, 0));
    g_assert_true(gets_turn(party->group, 1));
    g_assert_cmpuint(group_metric(party->group, SINK_GROUP_PROBES), ==, 1);
}

static void
test_a_recovered_sink_of_higher_priority_takes_over_at_once(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    sink_group_note_failure(party->group, 0);
    pass_seconds(2);
    sink_group_note_success(party->group, 0);

    g_assert_true(gets_turn(party->group, 0));
    g_assert_false(gets_turn(party->group, 1));
    g_assert_cmpuint(group_metric(party->group, SINK_GROUP_TAKEOVERS), ==, 2);
}

static void
test_a_worse_sink_is_not_tried_while_a_better_one_is_live(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    sink_group_note_failure(party->group, 1);
    pass_seconds(2);

    g_assert_false(gets_turn(party->group, 1));
}

static void
test_when_all_have_failed_each_is_tried_once_its_penalty_is_over(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    for (guint rank = 0; rank < 3; rank++)
        sink_group_note_failure(party->group, rank);
    for (guint rank = 0; rank < 3; rank++)
        g_assert_false(gets_turn(party->group, rank));
    g_assert_false(sink_group_has_live(party->group));
    pass_seconds(2);

    for (guint rank = 0; rank < 3; rank++)
        g_assert_true(gets_turn(party->group, rank));
}

static void
test_penalties_double_and_are_clamped_however_often_it_failed(void)
{
    g_autoptr(Party) party =
        party_new(&failover_sink_group, "{ sinks: [a, b, c], max-penalty: 8s }", PLAIN);
    const gint64 most_s[] = { 1, 2, 4, 8, 8 };

    for (guint i = 0; i < 100; i++) {
        gint64 due_us = sink_group_note_failure(party->group, 0);
        gint64 penalty_us = due_us - clock_now_us();
        gint64 most_us = most_s[MIN(i, G_N_ELEMENTS(most_s) - 1)] * G_USEC_PER_SEC;

        g_assert_cmpint(penalty_us, <=, most_us);
        g_assert_cmpint(penalty_us, >=, most_us / 2 - G_USEC_PER_SEC / 10);
        pass_seconds(8);
    }
    g_assert_cmpuint(group_metric(party->group, SINK_GROUP_PENALTIES), ==, 100);
}

static void
test_a_stop_forgives_penalties(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    for (guint rank = 0; rank < 3; rank++)
        sink_group_note_failure(party->group, rank);
    sink_group_forgive(party->group);

    g_assert_true(gets_turn(party->group, 0));
}

static void
test_a_stop_tries_no_sink_that_failed_while_another_works(void)
{
    g_autoptr(Party) party = party_new(&failover_sink_group, ABC, PLAIN);

    sink_group_note_failure(party->group, 0);
    pass_seconds(2);
    sink_group_forgive(party->group);

    g_assert_false(gets_turn(party->group, 0));
    g_assert_true(gets_turn(party->group, 1));
}

/* ---- load balancing: LoadBalancingSinkProcessor ---- */

static void
test_a_busy_sink_is_passed_over(void)
{
    g_autoptr(Party) party = party_new(&load_balance_sink_group, ABC, PLAIN);

    for (guint i = 0; i < 10; i++)
        g_assert_true(gets_turn(party->group, 1));
    g_assert_true(gets_turn(party->group, 0));
}

static void
test_a_sink_that_failed_is_left_alone_for_its_penalty(void)
{
    g_autoptr(Party) party = party_new(&load_balance_sink_group, ABC, PLAIN);
    gint64 due_us = sink_group_note_failure(party->group, 1);

    g_assert_cmpint(due_us, >, clock_now_us());
    g_assert_false(gets_turn(party->group, 1));
    g_assert_true(gets_turn(party->group, 0));
    g_assert_true(gets_turn(party->group, 2));
    pass_seconds(2);

    g_assert_true(gets_turn(party->group, 1));
}

static void
test_without_backoff_there_are_no_penalties(void)
{
    g_autoptr(Party) party =
        party_new(&load_balance_sink_group, "{ sinks: [a, b, c], backoff: false }", PLAIN);

    g_assert_cmpint(sink_group_note_failure(party->group, 1), ==, 0);
    g_assert_true(gets_turn(party->group, 1));
}

#define ADD(name, function) g_test_add_func("/sink-group/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("failover/the-first-has-every-turn", test_the_first_has_every_turn_while_it_works);
    ADD("failover/priorities", test_priorities_rank_the_sinks);
    ADD("failover/a-failure-hands-over", test_a_failure_hands_over_to_the_next_priority);
    ADD("failover/a-better-one-is-tried-beside-the-live-one",
        test_after_its_penalty_a_better_sink_is_tried_beside_the_live_one);
    ADD("failover/a-recovered-one-takes-over-at-once",
        test_a_recovered_sink_of_higher_priority_takes_over_at_once);
    ADD("failover/a-worse-one-is-not-tried",
        test_a_worse_sink_is_not_tried_while_a_better_one_is_live);
    ADD("failover/all-have-failed",
        test_when_all_have_failed_each_is_tried_once_its_penalty_is_over);
    ADD("failover/penalties-are-clamped",
        test_penalties_double_and_are_clamped_however_often_it_failed);
    ADD("failover/a-stop-forgives", test_a_stop_forgives_penalties);
    ADD("failover/a-stop-tries-no-sink-that-failed",
        test_a_stop_tries_no_sink_that_failed_while_another_works);
    ADD("load-balance/a-busy-one-is-passed-over", test_a_busy_sink_is_passed_over);
    ADD("load-balance/a-failed-one-is-left-alone",
        test_a_sink_that_failed_is_left_alone_for_its_penalty);
    ADD("load-balance/without-backoff", test_without_backoff_there_are_no_penalties);
    return g_test_run();
}
