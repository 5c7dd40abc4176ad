/* test_backoff.c - delays double up to their cap, half of each by chance. */
#include "base/backoff.h"

static void
test_delays_double_up_to_the_cap_and_their_upper_half_is_random(void)
{
    static const gint64 full_us[] = { 1000, 2000, 4000, 5000, 5000 };
    Backoff backoff;

    backoff_init(&backoff, 1000, 5000);

    for (gsize i = 0; i < G_N_ELEMENTS(full_us); i++) {
        gint64 delay_us = backoff_next_delay_us(&backoff);

        g_assert_cmpint(delay_us, >=, full_us[i] / 2);
        g_assert_cmpint(delay_us, <=, full_us[i]);
    }
}

static void
test_success_starts_again_from_the_first_delay(void)
{
    Backoff backoff;

    backoff_init(&backoff, 1000, G_MAXINT64);
    for (int i = 0; i < 100; i++)
        g_assert_cmpint(backoff_next_delay_us(&backoff), >, 0);
    backoff_reset(&backoff);

    g_assert_cmpint(backoff_next_delay_us(&backoff), <=, 1000);
}

static void
test_many_agents_do_not_come_back_together(void)
{
    g_autoptr(GHashTable) delays = g_hash_table_new(g_int64_hash, g_int64_equal);
    gint64 all[100];

    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        Backoff backoff;

        backoff_init(&backoff, G_USEC_PER_SEC, G_USEC_PER_SEC);
        all[i] = backoff_next_delay_us(&backoff);
        g_hash_table_add(delays, &all[i]);
    }

    g_assert_cmpuint(g_hash_table_size(delays), >, 90);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/backoff/delays-double-up-to-the-cap",
                    test_delays_double_up_to_the_cap_and_their_upper_half_is_random);
    g_test_add_func("/backoff/success-starts-again",
                    test_success_starts_again_from_the_first_delay);
    g_test_add_func("/backoff/many-agents-do-not-come-back-together",
                    test_many_agents_do_not_come_back_together);
    return g_test_run();
}
