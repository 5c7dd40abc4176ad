/* test_sink_group.c - whose turn it is: Flume's FailoverSinkProcessor and
 * LoadBalancingSinkProcessor, with a thread for each sink. */
#include "agent/core/sink_group.h"

#include <string.h>

#include "base/clock.h"
#include "tests/support/scripted_sink.h"
#include "tests/support/test_part.h"

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

/* ---- a group and its members ---- */

/* Members are the sinks of the bench. */
static SinkGroup *
group_new(const ComponentType *type, Bench *bench, const char *yaml)
{
    g_autoptr(Problems) problems = problems_new("test.yaml");
    g_autoptr(YamlNode) node = yaml_tree_parse(yaml, strlen(yaml), problems);
    g_autofree char *found = NULL;
    Component *group = component_new(type, COMPONENT_SINK_GROUP, sink_group_options,
                                     sink_group_metrics, "g", "sink-groups.g", node, problems);

    sink_group_set_members((SinkGroup *) group, bench->sinks);
    component_configure(group, problems);
    found = problems_to_text(problems);
    g_assert_cmpstr(found, ==, "");
    return (SinkGroup *) group;
}

typedef struct {
    Bench *bench;
    SinkGroup *group;
} Party;

static Party *
party_new(const ComponentType *type, const char *yaml, const char *options)
{
    Party *self = g_new0(Party, 1);

    self->bench = bench_new_empty();
    bench_add(self->bench, &scripted_sink, "a", options, SCRIPT({ DO_DELIVER, 0 }), NULL);
    bench_add(self->bench, &scripted_sink, "b", options, SCRIPT({ DO_DELIVER, 0 }), NULL);
    bench_add(self->bench, &scripted_sink, "c", options, SCRIPT({ DO_DELIVER, 0 }), NULL);
    self->group = group_new(type, self->bench, yaml);
    return self;
}

static void
party_free(Party *self)
{
    bench_free(self->bench);
    component_free((Component *) self->group);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Party, party_free)

static ScriptedSink *
guest(const Party *self, guint index)
{
    return g_ptr_array_index(self->bench->sinks, index);
}

#define PLAIN "{ channel: buffer }"
#define ABC "{ sinks: [a, b, c] }"
#define FAST "{ channel: buffer, batch-size: 1, linger: 0s, backoff: 1ms, max-backoff: 1ms }"

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

static guint64
group_metric(const SinkGroup *group, SinkGroupMetric metric)
{
    return metric_get(((const Component *) group)->metrics, metric);
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

/* ---- failover, with threads ---- */

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
    while (!sink_group_is_live(party->group, 0)) {
        bench_put(party->bench, "-");
        bench_wait_until_left(party->bench, 0);
    }
    bench_put(party->bench, "def");
    bench_wait_until_left(party->bench, 0);
    g_autofree char *arrived = bench_arrived(guest(party, 0));

    g_assert_true(g_str_has_suffix(arrived, "def"));
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
    while (!guest(party, 0)->blocked) {
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

    bench_tell(guest(party, 1), DO_BLOCK);
    bench_put(party->bench, "abcdefghijklmnopqrstuvwxyz");
    bench_start(party->bench);
    bench_wait_until_left(party->bench, 1);

    g_assert_cmpuint(guest(party, 0)->arrived->len + guest(party, 2)->arrived->len, ==, 25);
}

#define ADD(name, function) g_test_add_func("/sink-group/" name, function)

static void
add_failover(void)
{
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
    ADD("failover/the-others-deliver", test_the_others_deliver_what_the_first_does_not);
    ADD("failover/the-first-is-back", test_events_go_through_the_first_again_when_it_is_back);
    ADD("failover/a-hanging-sink", test_a_hanging_sink_that_is_tried_does_not_stall_the_live_one);
    ADD("failover/the-drain-ends", test_sinks_that_wait_for_their_turn_end_with_the_drain);
    ADD("failover/a-drain-goes-through-whoever-works", test_a_drain_goes_through_whoever_works);
    ADD("failover/a-stop-does-not-wait", test_a_stop_without_drain_does_not_wait_for_turns);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_failover();
    ADD("load-balance/a-busy-one-is-passed-over", test_a_busy_sink_is_passed_over);
    ADD("load-balance/a-failed-one-is-left-alone",
        test_a_sink_that_failed_is_left_alone_for_its_penalty);
    ADD("load-balance/without-backoff", test_without_backoff_there_are_no_penalties);
    ADD("load-balance/round-robin", test_round_robin_gives_even_shares);
    ADD("load-balance/random", test_random_gives_everybody_a_share);
    ADD("load-balance/a-dead-one", test_a_dead_sink_gets_nothing_and_nothing_is_lost);
    ADD("load-balance/the-only-good-one", test_all_events_go_through_the_only_good_sink);
    ADD("load-balance/a-hanging-one", test_a_hanging_sink_holds_up_no_more_than_it_has);
    return g_test_run();
}
