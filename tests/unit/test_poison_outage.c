/* test_poison_outage.c - a destination that refuses everything, or now and then, loses nothing by
 * the search for poison, and is asked no more often than back-off allows. */
#include "tests/support/poison_world.h"

static void
test_two_refusals_are_no_reason_to_search(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_nothing);

    run(world, POISON_PATIENCE - 1);

    g_assert_false(poison_is_searching(world->poison));
    g_assert_cmpuint(poison_limit(world->poison, BATCH), ==, BATCH);
}

static void
test_refusals_of_different_leases_are_not_added_up(void)
{
    g_autoptr(Poison) poison = poison_new();

    for (guint i = 0; i < 10; i++)
        g_assert_cmpint(poison_note_refused(poison, &(PoisonSent){ i % 2, 5, 5 }, A), ==,
                        POISON_PAUSE);

    g_assert_false(poison_is_searching(poison));
}

static void
test_an_acknowledgement_of_the_lease_starts_the_count_anew(void)
{
    g_autoptr(Poison) poison = poison_new();

    poison_note_refused(poison, &(PoisonSent){ 10, 5, 5 }, A);
    poison_note_refused(poison, &(PoisonSent){ 10, 5, 5 }, A);
    poison_note_acknowledged(poison, &(PoisonSent){ 8, 5, 5 }, A);
    poison_note_refused(poison, &(PoisonSent){ 10, 3, 3 }, A);

    g_assert_false(poison_is_searching(poison));
}

static void
test_a_destination_that_refuses_everything_is_asked_for_two_events_a_pause(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_nothing);

    run(world, POISON_PATIENCE);
    g_assert_cmpuint(world->n_requests, ==, POISON_PATIENCE);
    run(world, 500);

    g_assert_cmpuint(world->rejected->len, ==, 0);
    g_assert_cmpuint(world->n_requests, <=, POISON_PATIENCE + 2 * 500);
}

static void
test_what_an_outage_held_up_is_delivered_without_a_pause_when_it_ends(void)
{
    for (guint duration = 1; duration < 100; duration++) {
        g_autoptr(World) world = world_new(BATCH, takes_nothing);

        run(world, duration);
        world->n_requests = 0;
        world->takes = takes_all;
        run(world, 1);

        g_assert_cmpuint(world->n_delivered, ==, BATCH);
        g_assert_cmpuint(world->rejected->len, ==, 0);
        g_assert_cmpuint(world->n_requests, <=, 2);
        g_assert_false(poison_is_searching(world->poison));
    }
}

static guint period;

static gboolean
takes_all_but_every_nth_request(guint64 seq G_GNUC_UNUSED, guint request)
{
    return request % period != 0;
}

static void
test_a_destination_that_refuses_in_a_rhythm_gets_everything(void)
{
    for (period = 2; period < 100; period++) {
        g_autoptr(World) world = world_new(10 * BATCH, takes_all_but_every_nth_request);

        run(world, 1000);

        g_assert_cmpuint(world->n_delivered, ==, 10 * BATCH);
    }
}

static GRand *dice;
static double refuses;

/* Thrown once a request. */
static gboolean
takes_by_chance(guint64 seq G_GNUC_UNUSED, guint request)
{
    static guint last_request;
    static gboolean takes;

    if (request != last_request)
        takes = g_rand_double(dice) > refuses;
    last_request = request;
    return takes;
}

static void
test_a_destination_that_refuses_at_random_gets_next_to_everything(void)
{
    g_autoptr(GRand) fixed = g_rand_new_with_seed(1);

    dice = fixed;
    for (refuses = 0.1; refuses < 0.95; refuses += 0.2) {
        g_autoptr(World) world = world_new(20 * BATCH, takes_by_chance);

        run(world, 100000);

        g_assert_cmpuint(world->n_delivered + world->rejected->len, ==, 20 * BATCH);
        g_assert_cmpuint(world->rejected->len, <=, 1);
    }
}

static void
test_a_trickle_into_a_destination_that_is_mostly_full_gets_through(void)
{
    g_autoptr(GRand) fixed = g_rand_new_with_seed(1);

    dice = fixed;
    for (refuses = 0.5; refuses < 0.95; refuses += 0.1) {
        g_autoptr(World) world = world_new(BATCH, takes_by_chance);

        for (world->n_come = 1; world->n_come < BATCH; world->n_come++)
            run(world, 2);
        run(world, 10000);

        g_assert_cmpuint(world->rejected->len, <=, BATCH / 100);
    }
}

#define ADD(name, function) g_test_add_func("/poison-outage/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("two-refusals-are-no-reason", test_two_refusals_are_no_reason_to_search);
    ADD("refusals-of-different-leases", test_refusals_of_different_leases_are_not_added_up);
    ADD("an-acknowledgement-starts-anew",
        test_an_acknowledgement_of_the_lease_starts_the_count_anew);
    ADD("an-outage-is-asked-for-two-events-a-pause",
        test_a_destination_that_refuses_everything_is_asked_for_two_events_a_pause);
    ADD("after-an-outage-no-pause",
        test_what_an_outage_held_up_is_delivered_without_a_pause_when_it_ends);
    ADD("refusals-in-a-rhythm", test_a_destination_that_refuses_in_a_rhythm_gets_everything);
    ADD("refusals-at-random", test_a_destination_that_refuses_at_random_gets_next_to_everything);
    ADD("a-trickle-gets-through",
        test_a_trickle_into_a_destination_that_is_mostly_full_gets_through);
    return g_test_run();
}
