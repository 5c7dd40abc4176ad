/* test_file_time.c - whose time a path shows, in which zone. */
#include "agent/sinks/file_time.h"

#include <glib.h>

#include "tests/support/event_maker.h"

/* 2024-02-03 04:05:06.789 UTC, a Saturday */
#define CLOCK_US (G_GINT64_CONSTANT(1706933106789) * 1000)

static char *
show(FileTime *time, const char *timestamp, const char *letters)
{
    g_autofree char *header = g_strdup_printf("timestamp=%s", timestamp != NULL ? timestamp : "");
    g_autoptr(MadeEvent) event = timestamp != NULL ? MADE_EVENT("", header) : MADE_EVENT("");
    GString *text = g_string_new(NULL);

    file_time_choose(time, &event->view, CLOCK_US);
    for (; *letters != '\0'; letters++)
        if (g_ascii_isalpha(*letters))
            file_time_append(time, *letters, text);
        else
            g_string_append_c(text, *letters);
    return g_string_free(text, FALSE);
}

static void
assert_shows(FileTime *time, const char *timestamp, const char *letters, const char *expected)
{
    g_autofree char *text = show(time, timestamp, letters);

    g_assert_cmpstr(text, ==, expected);
}

static void
test_every_letter_has_its_meaning(void)
{
    g_autoptr(FileTime) time = file_time_new("utc", TRUE);

    assert_shows(time, NULL, "Y y m n d e j", "2024 24 02 2 03 3 034");
    assert_shows(time, NULL, "H k I p M S z", "04 4 04 AM 05 06 +0000");
    assert_shows(time, NULL, "a A b B", "Sat Saturday Feb February");
    assert_shows(time, NULL, "s t", "1706933106 1706933106789");
}

static void
test_noon_and_midnight_are_twelve(void)
{
    g_autoptr(FileTime) time = file_time_new("utc", TRUE);

    assert_shows(time, "1706918400000", "I p H k", "12 AM 00 0");
    assert_shows(time, "1706961600000", "I p H k", "12 PM 12 12");
}

static void
test_every_documented_letter_is_an_escape_and_no_other(void)
{
    g_autoptr(FileTime) time = file_time_new("utc", TRUE);

    for (int c = 1; c < 256; c++) {
        char letter[] = { (char) c, '\0' };

        if (!file_time_is_escape((char) c))
            continue;
        g_free(show(time, NULL, letter));
        g_assert_nonnull(strchr("YymndejHkIpMSaAbBstz", c));
    }
    g_assert_false(file_time_is_escape('%'));
    g_assert_false(file_time_is_escape(' '));
    g_assert_false(file_time_is_escape('\0'));
}

static void
test_days_end_at_midnight_of_the_zone(void)
{
    g_autoptr(FileTime) berlin = file_time_new("Europe/Berlin", TRUE);
    g_autoptr(FileTime) utc = file_time_new("UTC", TRUE);

    assert_shows(berlin, "1706914799999", "Y-m-d H:M:S", "2024-02-02 23:59:59");
    assert_shows(berlin, "1706914800000", "Y-m-d H:M:S", "2024-02-03 00:00:00");
    assert_shows(utc, "1706914800000", "Y-m-d H:M:S", "2024-02-02 23:00:00");
}

static void
test_daylight_saving_begins_and_ends(void)
{
    g_autoptr(FileTime) berlin = file_time_new("Europe/Berlin", TRUE);

    assert_shows(berlin, "1711846799000", "d H:M z", "31 01:59 +0100");
    assert_shows(berlin, "1711846800000", "d H:M z", "31 03:00 +0200");
    assert_shows(berlin, "1729990799000", "d H:M z", "27 02:59 +0200");
    assert_shows(berlin, "1729990800000", "d H:M z", "27 02:00 +0100");
}

static void
test_zones_west_of_greenwich_and_of_half_hours(void)
{
    g_autoptr(FileTime) west = file_time_new("America/St_Johns", TRUE);

    assert_shows(west, "1706933106789", "H:M z", "00:35 -0330");
}

static void
test_without_a_good_header_the_clock_counts(void)
{
    static const char *const bad[] = { "",
                                       "-",
                                       "soon",
                                       "12 ",
                                       " 12",
                                       "1e3",
                                       "0x10",
                                       "1706933106789.5",
                                       "999999999999999999999",
                                       "253402300800000" };
    g_autoptr(FileTime) time = file_time_new("utc", TRUE);

    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        assert_shows(time, bad[i], "t", "1706933106789");
    assert_shows(time, "-1", "Y t s", "1969 -1 -1");
    assert_shows(time, "0", "Y t", "1970 0");
}

static void
test_a_path_of_the_clock_does_not_look_at_headers(void)
{
    g_autoptr(FileTime) time = file_time_new("utc", FALSE);

    assert_shows(time, "0", "Y", "2024");
}

static void
test_a_zone_that_does_not_exist_is_told(void)
{
    g_assert_null(file_time_new("Europe/Berln", TRUE));
    g_assert_null(file_time_new("", TRUE));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-time/every-letter", test_every_letter_has_its_meaning);
    g_test_add_func("/file-time/twelve", test_noon_and_midnight_are_twelve);
    g_test_add_func("/file-time/escapes", test_every_documented_letter_is_an_escape_and_no_other);
    g_test_add_func("/file-time/midnight", test_days_end_at_midnight_of_the_zone);
    g_test_add_func("/file-time/daylight-saving", test_daylight_saving_begins_and_ends);
    g_test_add_func("/file-time/west", test_zones_west_of_greenwich_and_of_half_hours);
    g_test_add_func("/file-time/bad-header", test_without_a_good_header_the_clock_counts);
    g_test_add_func("/file-time/clock", test_a_path_of_the_clock_does_not_look_at_headers);
    g_test_add_func("/file-time/no-such-zone", test_a_zone_that_does_not_exist_is_told);
    return g_test_run();
}
