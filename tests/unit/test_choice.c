/* test_choice.c - the order of hosts and sinks, and their back-off, under a clock of the test's
 * own. */
#include "base/choice.h"

#include <glib.h>

#define SECOND ((gint64) G_USEC_PER_SEC)
#define NOON (100 * SECOND)
#define CAP (30 * SECOND)

/* "0 2 1". (transfer full) */
static char *
order_of(Choice *choice, guint n_items, gint64 now_us)
{
    g_autofree guint *order = g_new(guint, n_items);
    g_autoptr(GString) text = g_string_new(NULL);

    choice_order(choice, now_us, order);
    for (guint i = 0; i < n_items; i++)
        g_string_append_printf(text, "%s%u", i > 0 ? " " : "", order[i]);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
assert_order(Choice *choice, guint n_items, gint64 now_us, const char *expected)
{
    g_autofree char *order = order_of(choice, n_items, now_us);

    g_assert_cmpstr(order, ==, expected);
}

/* ---- the order ---- */

static void
test_sticky_stays_with_what_works_and_wraps_round(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 3, 0);

    assert_order(choice, 3, NOON, "0 1 2");
    choice_note_failure(choice, 0, NOON);
    assert_order(choice, 3, NOON, "1 2 0");
    choice_note_success(choice, 1, NOON);
    assert_order(choice, 3, NOON + 3600 * SECOND, "1 2 0");
    choice_note_failure(choice, 1, NOON);
    choice_note_failure(choice, 2, NOON);
    assert_order(choice, 3, NOON, "0 1 2");
}

/* Of many calls that fail on one host only the first moves on. */
static void
test_sticky_does_not_run_past_a_host_that_nobody_tried(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 3, 0);

    choice_note_failure(choice, 0, NOON);
    choice_note_failure(choice, 0, NOON);
    choice_note_failure(choice, 0, NOON);
    assert_order(choice, 3, NOON, "1 2 0");
    choice_note_failure(choice, 1, NOON);
    choice_note_failure(choice, 0, NOON);

    assert_order(choice, 3, NOON, "2 0 1");
}

static void
test_sticky_stays_with_the_one_that_worked_while_all_were_backed_off(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 2, CAP);

    choice_note_failure(choice, 0, NOON);
    choice_note_failure(choice, 1, NOON);
    choice_note_success(choice, 1, NOON);

    assert_order(choice, 2, NOON + CAP, "1 0");
}

static void
test_priority_takes_the_first_that_is_due(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_PRIORITY, 3, CAP);

    assert_order(choice, 3, NOON, "0 1 2");
    choice_note_failure(choice, 0, NOON);
    assert_order(choice, 3, NOON, "1 2 0");
    assert_order(choice, 3, NOON + SECOND, "0 1 2");
}

static void
test_round_robin_begins_with_each_in_turn(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_ROUND_ROBIN, 3, 0);

    assert_order(choice, 3, NOON, "0 1 2");
    assert_order(choice, 3, NOON, "1 2 0");
    assert_order(choice, 3, NOON, "2 0 1");
    assert_order(choice, 3, NOON, "0 1 2");
}

static void
test_round_robin_shares_evenly_among_those_that_are_due(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_ROUND_ROBIN, 3, CAP);
    guint shares[3] = { 0 };

    choice_note_failure(choice, 1, NOON);
    for (guint i = 0; i < 100; i++) {
        guint order[3];

        choice_order(choice, NOON, order);
        shares[order[0]]++;
    }

    g_assert_cmpuint(shares[0], ==, 50);
    g_assert_cmpuint(shares[1], ==, 0);
    g_assert_cmpuint(shares[2], ==, 50);
}

static void
test_random_is_every_order_of_those_that_are_due(void)
{
    g_autoptr(GHashTable) orders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(Choice) choice = choice_new(CHOICE_RANDOM, 4, CAP);
    GHashTableIter iter;
    gpointer order;

    choice_note_failure(choice, 2, NOON);
    for (guint i = 0; i < 1000; i++)
        g_hash_table_add(orders, order_of(choice, 4, NOON));

    g_assert_cmpuint(g_hash_table_size(orders), ==, 6);
    g_hash_table_iter_init(&iter, orders);
    while (g_hash_table_iter_next(&iter, &order, NULL))
        g_assert_true(g_str_has_suffix(order, " 2"));
}

static void
test_when_none_is_due_the_earliest_due_comes_first(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_ROUND_ROBIN, 3, CAP);

    choice_note_failure(choice, 2, NOON);
    choice_note_failure(choice, 0, NOON + SECOND / 2);
    choice_note_failure(choice, 1, NOON + SECOND);
    g_assert_cmpint(choice_due_us(choice, 1), >, choice_due_us(choice, 2));

    if (choice_due_us(choice, 2) < choice_due_us(choice, 0))
        assert_order(choice, 3, NOON, "2 0 1");
    else
        assert_order(choice, 3, NOON, "0 2 1");
}

static void
test_higher_ranks_come_last_while_lower_ones_are_due_and_have_no_share(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_ROUND_ROBIN, 4, CAP);
    g_autofree char *order = NULL;

    choice_set_rank(choice, 1, 1);
    choice_set_rank(choice, 3, 1);
    assert_order(choice, 4, NOON, "0 2 1 3");
    assert_order(choice, 4, NOON, "2 0 1 3");
    assert_order(choice, 4, NOON, "0 2 3 1");
    choice_note_failure(choice, 0, NOON);
    assert_order(choice, 4, NOON, "2 1 3 0");
    choice_note_failure(choice, 2, NOON);
    order = order_of(choice, 4, NOON);

    g_assert_true(g_str_has_prefix(order, "3 1 "));
}

static void
test_sticky_goes_back_to_a_lower_rank_once_that_is_due(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 2, CAP);

    choice_set_rank(choice, 1, 1);
    choice_note_failure(choice, 0, NOON);
    choice_note_success(choice, 1, NOON);
    assert_order(choice, 2, NOON, "1 0");

    assert_order(choice, 2, NOON + SECOND, "0 1");
}

/* ---- back-off ---- */

static void
test_without_backoff_everything_is_always_due(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_PRIORITY, 2, 0);

    for (guint i = 0; i < 20; i++)
        choice_note_failure(choice, 0, NOON);

    assert_order(choice, 2, NOON, "0 1");
    g_assert_cmpint(choice_due_us(choice, 0), ==, 0);
}

/* Fails an item as soon as it is due. */
static gint64
fail_again(Choice *choice, gint64 *now_us)
{
    *now_us = MAX(*now_us, choice_due_us(choice, 0));
    choice_note_failure(choice, 0, *now_us);
    return choice_due_us(choice, 0) - *now_us;
}

static void
assert_within_upper_half(gint64 delay_us, gint64 full_us)
{
    g_assert_cmpint(delay_us, >=, full_us / 2);
    g_assert_cmpint(delay_us, <=, full_us);
}

static void
test_backoff_doubles_from_a_second_to_its_cap_with_jitter_over_the_upper_half(void)
{
    static const gint64 full_s[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 1, CAP);
    gint64 now_us = NOON;

    for (guint i = 0; i < G_N_ELEMENTS(full_s); i++)
        assert_within_upper_half(fail_again(choice, &now_us), full_s[i] * SECOND);
}

static void
test_a_cap_below_a_second_holds_from_the_first(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 1, SECOND / 10);
    gint64 now_us = NOON;

    for (guint i = 0; i < 5; i++)
        assert_within_upper_half(fail_again(choice, &now_us), SECOND / 10);
}

/* A hundred calls that were under way when the host died say one thing. */
static void
test_failures_of_one_outage_count_once(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 1, CAP);

    for (guint i = 0; i < 100; i++)
        choice_note_failure(choice, 0, NOON);

    assert_within_upper_half(choice_due_us(choice, 0) - NOON, SECOND);
}

static void
test_a_success_makes_due_and_keeps_the_count_until_it_has_lasted(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 1, CAP);
    gint64 now_us = NOON;

    for (guint i = 0; i < 4; i++)
        fail_again(choice, &now_us);
    choice_note_success(choice, 0, now_us);
    g_assert_cmpint(choice_due_us(choice, 0), ==, 0);

    assert_within_upper_half(fail_again(choice, &now_us), 16 * SECOND);
}

static void
test_the_count_starts_anew_after_success_for_as_long_as_the_last_backoff(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 1, CAP);
    gint64 now_us = NOON;
    gint64 last_us = 0;

    for (guint i = 0; i < 4; i++)
        last_us = fail_again(choice, &now_us);
    choice_note_success(choice, 0, now_us);
    now_us += last_us;
    choice_note_success(choice, 0, now_us);

    assert_within_upper_half(fail_again(choice, &now_us), SECOND);
}

/* Answers over eight seconds would do, but there was a failure among them. */
static void
test_a_failure_in_between_makes_the_success_begin_anew(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_STICKY, 1, CAP);
    gint64 now_us = NOON;

    for (guint i = 0; i < 3; i++)
        fail_again(choice, &now_us);
    choice_note_success(choice, 0, now_us);
    now_us += SECOND;
    assert_within_upper_half(fail_again(choice, &now_us), 8 * SECOND);
    choice_note_success(choice, 0, now_us + 4 * SECOND);
    now_us += 15 * SECOND / 2;
    choice_note_success(choice, 0, now_us);

    assert_within_upper_half(fail_again(choice, &now_us), 16 * SECOND);
}

/* ---- trials aside ---- */

static void
test_an_item_is_on_trial_once_it_is_due_again_and_until_it_succeeds(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_ROUND_ROBIN, 2, CAP);

    g_assert_false(choice_is_on_trial(choice, 0, NOON));
    choice_note_failure(choice, 0, NOON);
    g_assert_false(choice_is_on_trial(choice, 0, NOON));
    g_assert_true(choice_is_on_trial(choice, 0, NOON + SECOND));
    choice_note_success(choice, 0, NOON + SECOND);

    g_assert_false(choice_is_on_trial(choice, 0, NOON + SECOND));
}

static void
test_an_item_that_is_set_aside_comes_last_and_counts_its_failure_when_that_ends(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_PRIORITY, 2, CAP);
    gint64 now_us = NOON;

    fail_again(choice, &now_us);
    now_us += SECOND;
    choice_set_aside(choice, 0);
    assert_order(choice, 2, now_us + 3600 * SECOND, "1 0");
    choice_note_failure(choice, 0, now_us); /* of a call that was under way for long */
    g_assert_true(choice_end_aside(choice, 0, now_us));
    assert_order(choice, 2, now_us, "0 1");

    assert_within_upper_half(fail_again(choice, &now_us), 2 * SECOND);
}

static void
test_a_success_ends_a_trial_whatever_comes_of_it(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_PRIORITY, 2, CAP);

    choice_note_failure(choice, 0, NOON);
    choice_set_aside(choice, 0);
    choice_note_success(choice, 0, NOON + SECOND);

    assert_order(choice, 2, NOON + SECOND, "0 1");
    g_assert_false(choice_end_aside(choice, 0, NOON + SECOND));
}

/* ---- other items ---- */

static void
test_an_item_that_stays_keeps_its_backoff_at_its_new_place(void)
{
    static const guint from[] = { CHOICE_NEW, 0 };
    g_autoptr(Choice) before = choice_new(CHOICE_PRIORITY, 2, CAP);
    g_autoptr(Choice) choice = NULL;

    choice_note_failure(before, 0, NOON);
    choice_note_failure(before, 1, NOON);
    choice = choice_new_from(before, 2, from);

    g_assert_cmpint(choice_due_us(choice, 0), ==, 0);
    g_assert_cmpint(choice_due_us(choice, 1), ==, choice_due_us(before, 0));
}

static void
check_turn(ChoicePolicy policy, const guint *from, guint n_items, const char *expected)
{
    g_autoptr(Choice) before = choice_new(policy, 3, 0);
    g_autoptr(Choice) choice = NULL;
    guint order[3];

    choice_order(before, NOON, order); /* the next is 1 */
    choice_note_failure(before, 0, NOON);
    choice = choice_new_from(before, n_items, from);

    assert_order(choice, n_items, NOON, expected);
}

static void
test_whoever_has_the_turn_keeps_it_or_the_next_that_stays_has_it(void)
{
    static const guint reversed[] = { 2, 1, 0 };
    static const guint without_it[] = { 0, CHOICE_NEW, 2 };
    static const guint all_new[] = { CHOICE_NEW, CHOICE_NEW };

    check_turn(CHOICE_STICKY, reversed, 3, "1 2 0");
    check_turn(CHOICE_ROUND_ROBIN, reversed, 3, "1 2 0");
    check_turn(CHOICE_STICKY, without_it, 3, "2 0 1");
    check_turn(CHOICE_ROUND_ROBIN, without_it, 3, "2 0 1");
    check_turn(CHOICE_STICKY, all_new, 2, "0 1");
    check_turn(CHOICE_ROUND_ROBIN, NULL, 0, "");
}

/* ---- a server that returns ---- */

#define N_CLIENTS 100
#define DOWN_US (600 * SECOND)
#define STEP_US (SECOND / 10)

/* When a client with two hosts, one of which is down until then, first tries that one again. */
static gint64
first_attempt_after_outage(void)
{
    g_autoptr(Choice) choice = choice_new(CHOICE_ROUND_ROBIN, 2, CAP);

    for (gint64 now_us = NOON;; now_us += STEP_US) {
        guint order[2];

        choice_order(choice, now_us, order);
        if (order[0] == 0 && now_us >= NOON + DOWN_US)
            return now_us - NOON - DOWN_US;
        if (order[0] == 0)
            choice_note_failure(choice, 0, now_us);
        choice_note_success(choice, 1, now_us);
    }
}

static void
test_a_hundred_clients_do_not_stampede_a_server_that_returns(void)
{
    guint arrivals[32] = { 0 }; /* by second */
    g_autoptr(GString) text = g_string_new(NULL);
    guint most = 0;

    for (guint i = 0; i < N_CLIENTS; i++)
        arrivals[first_attempt_after_outage() / SECOND]++;
    for (guint i = 0; i < G_N_ELEMENTS(arrivals); i++) {
        most = MAX(most, arrivals[i]);
        g_string_append_printf(text, " %u", arrivals[i]);
    }

    g_test_message("clients that come back, by second:%s; most in one: %u", text->str, most);
    g_assert_cmpuint(arrivals[31], ==, 0);
    g_assert_cmpuint(most, <=, 20);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/choice/" name, function)
    ADD("sticky-stays-with-what-works-and-wraps-round",
        test_sticky_stays_with_what_works_and_wraps_round);
    ADD("sticky-does-not-run-past-a-host-that-nobody-tried",
        test_sticky_does_not_run_past_a_host_that_nobody_tried);
    ADD("sticky-stays-with-the-one-that-worked-while-all-were-backed-off",
        test_sticky_stays_with_the_one_that_worked_while_all_were_backed_off);
    ADD("priority-takes-the-first-that-is-due", test_priority_takes_the_first_that_is_due);
    ADD("round-robin-begins-with-each-in-turn", test_round_robin_begins_with_each_in_turn);
    ADD("round-robin-shares-evenly-among-those-that-are-due",
        test_round_robin_shares_evenly_among_those_that_are_due);
    ADD("random-is-every-order-of-those-that-are-due",
        test_random_is_every_order_of_those_that_are_due);
    ADD("when-none-is-due-the-earliest-due-comes-first",
        test_when_none_is_due_the_earliest_due_comes_first);
    ADD("without-backoff-everything-is-always-due", test_without_backoff_everything_is_always_due);
    ADD("backoff-doubles-from-a-second-to-its-cap",
        test_backoff_doubles_from_a_second_to_its_cap_with_jitter_over_the_upper_half);
    ADD("a-cap-below-a-second-holds-from-the-first",
        test_a_cap_below_a_second_holds_from_the_first);
    ADD("failures-of-one-outage-count-once", test_failures_of_one_outage_count_once);
    ADD("a-success-makes-due-and-keeps-the-count",
        test_a_success_makes_due_and_keeps_the_count_until_it_has_lasted);
    ADD("the-count-starts-anew-after-success-for-as-long-as-the-last-backoff",
        test_the_count_starts_anew_after_success_for_as_long_as_the_last_backoff);
    ADD("a-failure-in-between-makes-the-success-begin-anew",
        test_a_failure_in_between_makes_the_success_begin_anew);
    ADD("an-item-is-on-trial-once-it-is-due-again",
        test_an_item_is_on_trial_once_it_is_due_again_and_until_it_succeeds);
    ADD("an-item-that-is-set-aside-comes-last",
        test_an_item_that_is_set_aside_comes_last_and_counts_its_failure_when_that_ends);
    ADD("a-success-ends-a-trial", test_a_success_ends_a_trial_whatever_comes_of_it);
    ADD("an-item-that-stays-keeps-its-backoff",
        test_an_item_that_stays_keeps_its_backoff_at_its_new_place);
    ADD("whoever-has-the-turn-keeps-it",
        test_whoever_has_the_turn_keeps_it_or_the_next_that_stays_has_it);
    ADD("a-hundred-clients-do-not-stampede-a-server-that-returns",
        test_a_hundred_clients_do_not_stampede_a_server_that_returns);
    g_test_add_func("/choice/ranks",
                    test_higher_ranks_come_last_while_lower_ones_are_due_and_have_no_share);
    g_test_add_func("/choice/ranks-sticky", test_sticky_goes_back_to_a_lower_rank_once_that_is_due);
    return g_test_run();
}
