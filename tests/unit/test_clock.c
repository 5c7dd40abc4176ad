/* test_clock.c - deadlines and poll timeouts. */
#include "base/clock.h"

#include <glib.h>

static void
test_a_deadline_that_overflows_never_comes(void)
{
    g_assert_cmpint(clock_deadline_us(CLOCK_NEVER), ==, CLOCK_NEVER);
}

static void
test_a_poll_timeout_is_rounded_up_so_that_it_never_wakes_early(void)
{
    g_assert_cmpint(clock_poll_timeout_ms(clock_now_us() + 1), <=, 1);
    g_assert_cmpint(clock_poll_timeout_ms(clock_now_us() + 10 * G_USEC_PER_SEC), >, 9000);
    g_assert_cmpint(clock_poll_timeout_ms(0), ==, 0);
    g_assert_cmpint(clock_poll_timeout_ms(CLOCK_NEVER), ==, -1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/a-deadline-that-overflows-never-comes",
                    test_a_deadline_that_overflows_never_comes);
    g_test_add_func("/clock/a-poll-timeout-is-rounded-up",
                    test_a_poll_timeout_is_rounded_up_so_that_it_never_wakes_early);
    return g_test_run();
}
