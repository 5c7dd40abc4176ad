/* test_progress.c - how far a command is, in words. */
#include "agent/commands/progress.h"

#include <glib.h>

static void
assert_text(const ProgressCount *count, guint columns, const char *expected)
{
    g_autofree char *text = progress_to_text(count, columns);

    g_assert_cmpstr(text, ==, expected);
}

static void
test_a_known_total_gives_a_share_and_the_time_left(void)
{
    const ProgressCount count = {
        .n_events = 500, .n_bytes = 1024, .total_bytes = 4096, .elapsed_us = 30 * G_USEC_PER_SEC
    };

    assert_text(&count, 200, "[#####...............]  25%  500 events  1 KiB  16/s  0:01:31 left");
}

static void
test_an_unknown_total_gives_neither(void)
{
    const ProgressCount count = { .n_events = 500, .n_bytes = 1024, .elapsed_us = G_USEC_PER_SEC };

    assert_text(&count, 200, "500 events  1 KiB  500/s");
}

static void
test_a_file_that_has_grown_has_no_known_total(void)
{
    const ProgressCount count = {
        .n_events = 1, .n_bytes = 1024, .total_bytes = 512, .elapsed_us = G_USEC_PER_SEC
    };

    assert_text(&count, 200, "1 event  1 KiB  1/s");
}

static void
test_a_narrow_terminal_gets_what_fits(void)
{
    const ProgressCount count = { .n_events = 500, .n_bytes = 1024, .elapsed_us = G_USEC_PER_SEC };

    assert_text(&count, 10, "500 events");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/progress/a-known-total-gives-a-share-and-the-time-left",
                    test_a_known_total_gives_a_share_and_the_time_left);
    g_test_add_func("/progress/an-unknown-total-gives-neither",
                    test_an_unknown_total_gives_neither);
    g_test_add_func("/progress/a-file-that-has-grown-has-no-known-total",
                    test_a_file_that_has_grown_has_no_known_total);
    g_test_add_func("/progress/a-narrow-terminal-gets-what-fits",
                    test_a_narrow_terminal_gets_what_fits);
    return g_test_run();
}
