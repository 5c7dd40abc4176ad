/* test_time_pattern.c - times by a pattern of letters. */
#include "agent/interceptors/time_pattern.h"

#include <glib.h>

/* -1 if the text does not fit. */
static gint64
read_time(const char *pattern, const char *zone, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TimePattern) self = time_pattern_new(pattern, zone, &error);
    gint64 ms;

    g_assert_no_error(error);
    return time_pattern_read(self, byte_span_of_text(text), &ms) ? ms : -1;
}

static gint64
ms_of(const char *iso8601)
{
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(iso8601, NULL);

    return g_date_time_to_unix(time) * 1000 + g_date_time_get_microsecond(time) / 1000;
}

static void
test_times_as_programs_write_them(void)
{
    static const struct {
        const char *pattern;
        const char *text;
        const char *is;
    } times[] = {
        { "yyyy-MM-dd HH:mm:ss", "2026-02-28 13:14:15", "2026-02-28T13:14:15Z" },
        { "yyyy-MM-dd HH:mm:ss,SSS", "2026-02-28 13:14:15,678", "2026-02-28T13:14:15.678Z" },
        { "yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2026-02-28T13:14:15.6781234+02:00",
          "2026-02-28T11:14:15.678Z" },
        { "yyyy-MM-dd'T'HH:mm:ssZ", "2026-02-28T13:14:15Z", "2026-02-28T13:14:15Z" },
        { "dd/MMM/yyyy:HH:mm:ss Z", "28/Feb/2026:13:14:15 -0130", "2026-02-28T14:44:15Z" },
        { "EEE, d MMMM yyyy hh:mm a", "Saturday, 3 october 2026 12:05 PM", "2026-10-03T12:05:00Z" },
        { "EEE MMM d hh:mm a yy", "Sat Oct 3 12:05 am 70", "1970-10-03T00:05:00Z" },
        { "yyyyMMddHHmmss", "20260228131415", "2026-02-28T13:14:15Z" },
        { "yyMMdd HHmmssSSS", "260228 131415042", "2026-02-28T13:14:15.042Z" },
        { "yyyy-MM-dd", "2024-02-29", "2024-02-29T00:00:00Z" },
        { "'o''clock' HH yyyy", "o'clock 7 2026", "2026-01-01T07:00:00Z" },
        { "y''M", "2026'5", "2026-05-01T00:00:00Z" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(times); i++)
        g_assert_cmpint(read_time(times[i].pattern, "UTC", times[i].text), ==, ms_of(times[i].is));
}

static void
test_a_text_that_does_not_fit_is_refused(void)
{
    static const struct {
        const char *pattern;
        const char *text;
    } misfits[] = {
        { "yyyy-MM-dd", "" },
        { "yyyy-MM-dd", "2026-02-30" },
        { "yyyy-MM-dd", "2026-02-28 " },
        { "yyyy-MM-dd", "2026/02/28" },
        { "yyyyMMdd", "2026228" },
        { "HH:mm yyyy", "24:00 2026" },
        { "MMM yyyy", "Foo 2026" },
        { "hh a yyyy", "10 xm 2026" },
        { "yyyy Z", "2026 0100" },
        { "yyyy Z", "2026 +1" },
        { "yyyy Z", "2026 +25:00" },
        { "yyyy.SSS", "2026." },
        { "EEE yyyy", " 2026" },
        { "yyyy-MM", "0-1" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(misfits); i++)
        g_assert_cmpint(read_time(misfits[i].pattern, "UTC", misfits[i].text), ==, -1);
}

static void
test_a_zone_and_its_summer_time_are_minded(void)
{
    const char *pattern = "yyyy-MM-dd HH:mm";

    g_assert_cmpint(read_time(pattern, "Europe/Berlin", "2026-01-15 12:00"), ==,
                    ms_of("2026-01-15T11:00:00Z"));
    g_assert_cmpint(read_time(pattern, "Europe/Berlin", "2026-07-15 12:00"), ==,
                    ms_of("2026-07-15T10:00:00Z"));
    g_assert_cmpint(read_time(pattern, "-03:30", "2026-07-15 12:00"), ==,
                    ms_of("2026-07-15T15:30:00Z"));
}

static void
test_a_time_without_a_year_is_the_latest_that_is_not_ahead(void)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    gint64 now_ms = g_date_time_to_unix(now) * 1000;

    for (int days = -300; days <= 60; days += 30) {
        g_autoptr(GDateTime) day = g_date_time_add_days(now, days);
        g_autofree char *text = g_date_time_format(day, "%b %d %H:%M:%S");
        gint64 ms = read_time("MMM d HH:mm:ss", "UTC", text);

        if (ms < 0)
            continue; /* the 29th of February, in a year that has none */
        g_assert_cmpint(ms, <=, now_ms + 24 * 3600 * 1000);
        g_assert_cmpint(ms, >, now_ms - (gint64) 367 * 24 * 3600 * 1000);
    }
}

static void
test_a_pattern_that_makes_no_sense_is_refused_with_a_reason(void)
{
    static const struct {
        const char *pattern;
        const char *zone;
        const char *reason;
    } patterns[] = {
        { "yyyy-MM-dd QQ", "UTC", "letter 'Q'" },
        { "yyyy 'open", "UTC", "quote" },
        { "", "UTC", "empty" },
        { "yyyy", "Atlantis/Capital", "zone 'Atlantis/Capital'" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(patterns); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(time_pattern_new(patterns[i].pattern, patterns[i].zone, &error));
        g_assert_nonnull(strstr(error->message, patterns[i].reason));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/time-pattern/as-programs-write-them", test_times_as_programs_write_them);
    g_test_add_func("/time-pattern/misfits", test_a_text_that_does_not_fit_is_refused);
    g_test_add_func("/time-pattern/zones", test_a_zone_and_its_summer_time_are_minded);
    g_test_add_func("/time-pattern/without-a-year",
                    test_a_time_without_a_year_is_the_latest_that_is_not_ahead);
    g_test_add_func("/time-pattern/bad-patterns",
                    test_a_pattern_that_makes_no_sense_is_refused_with_a_reason);
    return g_test_run();
}
