/* test_poison.c - an event that its destination never takes is found, wherever it is. */
#include "tests/support/poison_world.h"

static guint64 poison_seq;

static gboolean
takes_all_but_one(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq != poison_seq;
}

static void
test_one_poison_event_is_found_wherever_it_is(void)
{
    for (poison_seq = 0; poison_seq < BATCH; poison_seq++) {
        g_autoptr(World) world = world_new(2 * BATCH, takes_all_but_one);

        run(world, 10);

        g_assert_cmpuint(world->n_delivered, ==, 2 * BATCH - 1);
        g_assert_cmpuint(world->rejected->len, ==, 1);
        g_assert_cmpuint(g_array_index(world->rejected, guint64, 0), ==, poison_seq);
        g_assert_cmpuint(world->n_pauses, <=, POISON_PATIENCE + 1);
        g_assert_cmpuint(world->n_requests, <=, 60);
    }
}

static void
test_a_poison_event_alone_is_kept_until_others_have_been_acknowledged(void)
{
    g_autoptr(World) world = world_new(1, takes_nothing);

    run(world, 100);

    g_assert_cmpuint(world->rejected->len, ==, 0);
    g_assert_cmpuint(world->n_delivered, ==, 0);
}

static void
test_one_acknowledgement_and_a_while_alone_are_enough(void)
{
    for (poison_seq = 0; poison_seq < 5; poison_seq++) {
        g_autoptr(World) world = world_new(5, takes_all_but_one);

        run(world, 100);

        g_assert_cmpuint(world->rejected->len, ==, 1);
        g_assert_cmpuint(world->n_delivered, ==, 4);
        g_assert_cmpuint(world->n_pauses, <=, POISON_PATIENCE + 6);
    }
}

static gboolean
takes_none_of_twelve(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq < 100 || seq >= 112;
}

static void
test_poison_events_in_a_row_are_all_found(void)
{
    g_autoptr(World) world = world_new(2 * BATCH, takes_none_of_twelve);

    run(world, 30);

    g_assert_cmpuint(world->rejected->len, ==, 12);
    g_assert_cmpuint(world->n_delivered, ==, 2 * BATCH - 12);
}

static gboolean
takes_nine_of_ten(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq % 10 != 0;
}

static void
test_after_one_was_found_the_next_is_searched_for_at_once(void)
{
    g_autoptr(World) world = world_new(10 * BATCH, takes_nine_of_ten);

    run(world, 30);

    g_assert_cmpuint(world->rejected->len, ==, BATCH);
    g_assert_cmpuint(world->n_delivered, ==, 9 * BATCH);
    g_assert_cmpuint(world->n_pauses, <, 10);
}

static gboolean
takes_every_second(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq % 2 != 0;
}

static void
test_a_channel_half_of_poison_is_worked_off(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_every_second);

    run(world, 1000);

    g_assert_cmpuint(world->n_delivered, ==, BATCH / 2);
    g_assert_cmpuint(world->rejected->len, >=, BATCH / 2 - 64); /* the last have to wait */
}

static void
test_what_one_destination_refused_is_not_poison_because_another_takes_the_rest(void)
{
    g_autoptr(Poison) poison = poison_new();
    guint64 seq;

    for (guint i = 0; i < POISON_PATIENCE; i++)
        poison_note_refused(poison, &(PoisonSent){ 0, 1, 1 }, A);
    for (guint i = 1; i < 100; i++) {
        g_assert_false(poison_note_taken(poison, i, 1));
        poison_note_acknowledged(poison, &(PoisonSent){ i, 1, 1 }, B);
        g_assert_false(poison_is_found(poison, &seq));
        g_assert_true(poison_next_suspect(poison, &seq));
        g_assert_cmpint(poison_note_refused(poison, &(PoisonSent){ 0, 1, 1 }, A), ==,
                        POISON_KEEP_ASIDE);
    }
}

static void
test_one_of_several_destinations_that_refused_is_enough(void)
{
    g_autoptr(Poison) poison = poison_new();
    guint64 seq;

    for (guint i = 0; i < POISON_PATIENCE; i++)
        poison_note_refused(poison, &(PoisonSent){ 0, 1, 1 }, A | B);
    for (guint i = 1; i < 100 && !poison_is_found(poison, &seq); i++) {
        poison_note_acknowledged(poison, &(PoisonSent){ i, 1, 1 }, i % 2 == 0 ? A : B);
        if (poison_next_suspect(poison, &seq))
            g_assert_cmpint(poison_note_refused(poison, &(PoisonSent){ 0, 1, 1 }, A | B), ==,
                            POISON_KEEP_ASIDE);
    }

    g_assert_true(poison_is_found(poison, &seq));
    g_assert_cmpuint(seq, ==, 0);
}

static void
test_a_destination_that_nobody_can_name_proves_nothing(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_all_but_one);

    poison_seq = 5;
    world->answers_as = NOBODY;
    run(world, 100);

    g_assert_cmpuint(world->rejected->len, ==, 0);
}

static void
test_suspects_that_another_sink_has_delivered_are_forgotten(void)
{
    g_autoptr(Poison) poison = poison_new();

    for (guint i = 0; i < POISON_PATIENCE; i++)
        poison_note_refused(poison, &(PoisonSent){ 0, 1, 1 }, A);
    poison_note_pause(poison);
    g_assert_cmpuint(poison_limit(poison, BATCH), ==, 1);
    g_assert_false(poison_note_taken(poison, 7, 1));
    poison_note_acknowledged(poison, &(PoisonSent){ 7, 1, 1 }, A);

    g_assert_false(poison_is_searching(poison));
    g_assert_cmpuint(poison_limit(poison, BATCH), ==, BATCH);
}

static guint n_sent;

static gboolean
takes_up_to_300(guint64 seq, guint request)
{
    static guint last_request;

    n_sent = request == last_request ? n_sent + 1 : 1;
    last_request = request;
    (void) seq;
    return n_sent <= 300;
}

static void
test_batches_that_are_too_large_are_halved_at_once_after_the_first(void)
{
    g_autoptr(World) world = world_new(20 * BATCH, takes_up_to_300);

    run(world, 100);

    g_assert_cmpuint(world->n_delivered, ==, 20 * BATCH);
    g_assert_cmpuint(world->n_pauses, <=, POISON_PATIENCE + 1);
    g_assert_cmpuint(world->n_requests, <=, 20 * 25);
}

#define ADD(name, function) g_test_add_func("/poison/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("found-wherever-it-is", test_one_poison_event_is_found_wherever_it_is);
    ADD("alone-it-is-kept", test_a_poison_event_alone_is_kept_until_others_have_been_acknowledged);
    ADD("one-acknowledgement-and-a-while", test_one_acknowledgement_and_a_while_alone_are_enough);
    ADD("in-a-row", test_poison_events_in_a_row_are_all_found);
    ADD("the-next-is-searched-for-at-once",
        test_after_one_was_found_the_next_is_searched_for_at_once);
    ADD("half-of-poison", test_a_channel_half_of_poison_is_worked_off);
    ADD("another-destination",
        test_what_one_destination_refused_is_not_poison_because_another_takes_the_rest);
    ADD("one-of-several-destinations", test_one_of_several_destinations_that_refused_is_enough);
    ADD("nobody-can-name", test_a_destination_that_nobody_can_name_proves_nothing);
    ADD("delivered-by-another-sink", test_suspects_that_another_sink_has_delivered_are_forgotten);
    ADD("batches-that-are-too-large",
        test_batches_that_are_too_large_are_halved_at_once_after_the_first);
    return g_test_run();
}
