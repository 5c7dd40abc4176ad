/* test_poison_room.c - a destination that is nearly full takes small events and refuses large ones:
 * that makes none of them poison. One that takes none above a size takes all others. */
#include "tests/support/poison_world.h"

#define SMALL 100
#define LARGE 90000

static guint one_of;

static gsize
bytes_one_large_of_some(guint64 seq)
{
    return seq % one_of == 7 ? LARGE : SMALL + seq % 50;
}

static gsize capacity;
static gsize used;
static gsize drains; /* in the time of a request */

static gboolean
fits_into_what_drains(gsize n_bytes, guint request G_GNUC_UNUSED)
{
    used -= MIN(used, drains);
    if (n_bytes > capacity - used)
        return FALSE;
    used += n_bytes;
    return TRUE;
}

static void
test_a_destination_that_is_nearly_full_makes_nothing_poison(void)
{
    static const gsize speeds[] = { 50, 300, 2000, 10000, 60000 };

    for (guint i = 0; i < G_N_ELEMENTS(speeds); i++)
        for (one_of = 10; one_of <= 1000; one_of *= 10) {
            g_autoptr(World) world = world_new(5 * BATCH, takes_all);

            world->bytes_of = bytes_one_large_of_some;
            world->has_room = fits_into_what_drains;
            capacity = 256 * 1024;
            used = 0;
            drains = speeds[i];
            run(world, 3000);

            g_assert_cmpuint(world->rejected->len, ==, 0);
            g_assert_cmpuint(world->n_delivered, >=, 300);
        }
}

static GRand *dice;

static gboolean
takes_what_is_large_seldom(gsize n_bytes, guint request G_GNUC_UNUSED)
{
    return g_rand_double(dice) < (n_bytes < 3000 ? 0.9 : 0.02);
}

static void
test_a_destination_that_seldom_takes_much_at_once_makes_nothing_poison(void)
{
    g_autoptr(GRand) fixed = g_rand_new_with_seed(1);

    dice = fixed;
    for (one_of = 10; one_of <= 1000; one_of *= 10) {
        g_autoptr(World) world = world_new(5 * BATCH, takes_all);

        world->bytes_of = bytes_one_large_of_some;
        world->has_room = takes_what_is_large_seldom;
        run(world, 20000);

        g_assert_cmpuint(world->rejected->len, ==, 0);
        g_assert_cmpuint(world->n_delivered, >=, 4 * BATCH);
    }
}

static gsize largest_taken;

static gboolean
takes_none_above_a_size(guint64 seq, guint request G_GNUC_UNUSED)
{
    return bytes_one_large_of_some(seq) <= largest_taken;
}

static void
test_a_destination_that_takes_none_above_a_size_gets_all_others(void)
{
    g_autoptr(World) world = world_new(100 * BATCH, takes_none_above_a_size);

    one_of = 10000;
    largest_taken = LARGE - 1;
    world->bytes_of = bytes_one_large_of_some;
    run(world, 1000);

    g_assert_cmpuint(world->n_delivered, ==, 100 * BATCH - 10);
    g_assert_cmpuint(world->rejected->len, >=, 9);
    for (guint i = 0; i < world->rejected->len; i++)
        g_assert_cmpuint(g_array_index(world->rejected, guint64, i) % one_of, ==, 7);
}

static void
test_what_is_too_large_and_has_too_little_to_compare_with_is_kept_and_passed(void)
{
    g_autoptr(World) world = world_new(BATCH / 2, takes_none_above_a_size);

    one_of = BATCH;
    largest_taken = LARGE - 1;
    world->bytes_of = bytes_one_large_of_some;
    run(world, 100);

    g_assert_cmpuint(world->n_delivered, ==, BATCH / 2 - 1);
    g_assert_cmpuint(world->rejected->len, ==, 0);
}

static void
test_a_connection_that_ends_is_no_lack_of_room(void)
{
    g_autoptr(Poison) poison = poison_new();
    guint64 seq;

    for (guint i = 0; i < POISON_PATIENCE; i++)
        poison_note_refused(poison, &(PoisonSent){ 0, 1, 0 }, A);
    for (guint i = 1; i < 100 && !poison_is_found(poison, &seq); i++) {
        g_assert_cmpuint(poison_limit(poison, BATCH), ==, 1);
        poison_note_acknowledged(poison, &(PoisonSent){ i, 1, SMALL }, A);
        if (poison_next_suspect(poison, &seq))
            poison_note_refused(poison, &(PoisonSent){ 0, 1, 0 }, A);
    }

    g_assert_true(poison_is_found(poison, &seq));
    g_assert_cmpuint(seq, ==, 0);
}

#define ADD(name, function) g_test_add_func("/poison-room/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("nearly-full", test_a_destination_that_is_nearly_full_makes_nothing_poison);
    ADD("seldom-much-at-once",
        test_a_destination_that_seldom_takes_much_at_once_makes_nothing_poison);
    ADD("none-above-a-size", test_a_destination_that_takes_none_above_a_size_gets_all_others);
    ADD("too-little-to-compare-with",
        test_what_is_too_large_and_has_too_little_to_compare_with_is_kept_and_passed);
    ADD("a-connection-that-ends", test_a_connection_that_ends_is_no_lack_of_room);
    return g_test_run();
}
