/* test_quantity.c - sizes, durations, counts and ratios from text and back. */
#include "base/quantity.h"

#include <glib.h>

typedef struct {
    const char *text;
    guint64 number;
} Good;

typedef struct {
    const char *text;
    const char *complaint; /* a part of it */
} Bad;

static void
test_a_count_is_digits_and_nothing_else(void)
{
    static const Good good[] = {
        { "0", 0 }, { "007", 7 }, { "18446744073709551615", G_MAXUINT64 }, { 0 }
    };
    static const Bad bad[] = {
        { "", "whole number" },
        { "-1", "whole number" },
        { "+1", "whole number" },
        { "1.0", "whole number" },
        { "1e3", "whole number" },
        { "0x10", "whole number" },
        { "1 ", "whole number" },
        { " 1", "whole number" },
        { "1k", "whole number" },
        { "1,000", "whole number" },
        { "18446744073709551616", "too large" },
        { "99999999999999999999999999999999999999999999", "too large" },
        { 0 },
    };
    guint64 count = 42;

    for (const Bad *row = bad; row->text != NULL; row++) {
        const char *complaint = quantity_parse_count(row->text, &count);

        g_assert_nonnull(complaint);
        g_assert_nonnull(g_strstr_len(complaint, -1, row->complaint));
        g_assert_cmpuint(count, ==, 42);
    }
    for (const Good *row = good; row->text != NULL; row++) {
        g_assert_null(quantity_parse_count(row->text, &count));
        g_assert_cmpuint(count, ==, row->number);
    }
}

static void
test_a_size_is_bytes_or_has_a_unit_that_means_one_thing(void)
{
    static const Good good[] = {
        { "0", 0 },
        { "512", 512 },
        { "512B", 512 },
        { "4KiB", 4096 },
        { "4 KiB", 4096 },
        { "4kib", 4096 },
        { "256MiB", 256 * 1024 * 1024 },
        { "1.5GiB", G_GUINT64_CONSTANT(3) << 29 },
        { "0.3KiB", 307 },
        { "1kB", 1000 },
        { "16.384MB", 16384000 },
        { "2TB", G_GUINT64_CONSTANT(2000000000000) },
        { "16777215TiB", G_GUINT64_CONSTANT(16777215) << 40 },
        { 0 },
    };
    guint64 bytes;

    for (const Good *row = good; row->text != NULL; row++) {
        g_assert_null(quantity_parse_size(row->text, &bytes));
        g_assert_cmpuint(bytes, ==, row->number);
    }
}

static void
test_a_size_that_could_mean_two_things_is_refused(void)
{
    static const Bad bad[] = {
        { "64Mb", "is not a size" },
        { "64mb", "is not a size" },
        { "64M", "is ambiguous" },
        { "64k", "is ambiguous" },
        { "1G", "is ambiguous" },
        { "1KB", "is ambiguous" },
        { "", "is not a size" },
        { "-1", "is not a size" },
        { "1.5", "is not a size" },
        { "1.5B", "is not a size" },
        { ".5GiB", "is not a size" },
        { "1.GiB", "is not a size" },
        { "1,5GiB", "is not a size" },
        { "1GiB x", "is not a size" },
        { "1 ", "is not a size" },
        { "GiB", "is not a size" },
        { "1.0000000001GiB", "is not a size" },
        { "16777216TiB", "too large" },
        { "1 GiB ", "is not a size" },
        { 0 },
    };
    guint64 bytes = 42;

    for (const Bad *row = bad; row->text != NULL; row++) {
        const char *complaint = quantity_parse_size(row->text, &bytes);

        g_assert_nonnull(complaint);
        g_assert_nonnull(g_strstr_len(complaint, -1, row->complaint));
    }
    g_assert_cmpuint(bytes, ==, 42);
}

static void
test_a_duration_has_a_unit_unless_it_is_nothing(void)
{
    static const Good good[] = {
        { "0", 0 },
        { "0s", 0 },
        { "200us", 200 },
        { "250ms", 250000 },
        { "10s", 10000000 },
        { "1.5s", 1500000 },
        { "2m", 120000000 },
        { "1h", G_GUINT64_CONSTANT(3600000000) },
        { "1 d", G_GUINT64_CONSTANT(86400000000) },
        { "9223372036854775807us", G_MAXINT64 },
        { 0 },
    };
    gint64 us;

    for (const Good *row = good; row->text != NULL; row++) {
        g_assert_null(quantity_parse_duration(row->text, &us));
        g_assert_cmpint(us, ==, (gint64) row->number);
    }
}

static void
test_a_duration_without_a_known_unit_is_refused(void)
{
    static const Bad bad[] = {
        { "10", "has no unit" },
        { "0.5", "has no unit" },
        { "", "is not a duration" },
        { "-1s", "is not a duration" },
        { "10sec", "is not a duration" },
        { "10S", "is not a duration" },
        { "1h30m", "is not a duration" },
        { "0.5us", "is not a duration" },
        { "9223372036854775808us", "too large" },
        { "106751992d", "too large" },
        { 0 },
    };
    gint64 us = 42;

    for (const Bad *row = bad; row->text != NULL; row++) {
        const char *complaint = quantity_parse_duration(row->text, &us);

        g_assert_nonnull(complaint);
        g_assert_nonnull(g_strstr_len(complaint, -1, row->complaint));
    }
    g_assert_cmpint(us, ==, 42);
}

static void
test_a_ratio_lies_between_nothing_and_all(void)
{
    static const char *const bad[] = { "",    "1.1",  "101%", "-1",   "nan",
                                       "inf", "1e-1", "%",    "0.5x", "99999999999999999999999",
                                       NULL };
    double ratio = 42;

    for (guint i = 0; bad[i] != NULL; i++)
        g_assert_nonnull(quantity_parse_ratio(bad[i], &ratio));
    g_assert_cmpfloat(ratio, ==, 42);

    g_assert_null(quantity_parse_ratio("0.25", &ratio));
    g_assert_cmpfloat(ratio, ==, 0.25);
    g_assert_null(quantity_parse_ratio("12.5%", &ratio));
    g_assert_cmpfloat(ratio, ==, 0.125);
    g_assert_null(quantity_parse_ratio("1", &ratio));
    g_assert_cmpfloat(ratio, ==, 1);
    g_assert_null(quantity_parse_ratio("0", &ratio));
    g_assert_cmpfloat(ratio, ==, 0);
}

static void
assert_text(char *text /* (transfer full) */, const char *expected)
{
    g_assert_cmpstr(text, ==, expected);
    g_free(text);
}

static void
test_a_number_is_shown_in_the_unit_that_people_would_choose(void)
{
    assert_text(quantity_size_to_text(0), "0 B");
    assert_text(quantity_size_to_text(1000), "1000 B");
    assert_text(quantity_size_to_text(1024), "1 KiB");
    assert_text(quantity_size_to_text(G_GUINT64_CONSTANT(3) << 29), "1.5 GiB");
    assert_text(quantity_size_to_text(1048575), "1 MiB");
    assert_text(quantity_size_to_text(G_MAXUINT64), "16777216 TiB");
    assert_text(quantity_duration_to_text(0), "0 s");
    assert_text(quantity_duration_to_text(250000), "250 ms");
    assert_text(quantity_duration_to_text(1500000), "1.5 s");
    assert_text(quantity_duration_to_text(G_GUINT64_CONSTANT(86400000000)), "1 d");
    assert_text(quantity_duration_to_text(-1), "0 us");
}

static void
test_two_sizes_that_differ_are_not_shown_as_the_same_text(void)
{
    assert_text(quantity_size_to_text_beside(16384000, 1048576), "15.6 MiB");
    assert_text(quantity_size_to_text_beside(16384001, 16384000), "16384001 B");
    assert_text(quantity_size_to_text_beside(16384000, 16384001), "16384000 B");
    assert_text(quantity_size_to_text_beside(1048576, 1048576), "1 MiB");
}

static void
test_a_number_written_as_an_option_reads_as_the_same_number(void)
{
    static const guint64 numbers[] = { 0,         1,        1000,    1024,
                                       4097,      16384000, 1536000, G_GUINT64_CONSTANT(1) << 40,
                                       G_MAXINT64 };

    assert_text(quantity_size_to_option(4096), "4KiB");
    assert_text(quantity_size_to_option(16384000), "16000KiB");
    assert_text(quantity_size_to_option(4097), "4097B");
    assert_text(quantity_duration_to_option(90000000), "90s");
    assert_text(quantity_duration_to_option(0), "0s");
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autofree char *size = quantity_size_to_option(numbers[i]);
        g_autofree char *duration = quantity_duration_to_option((gint64) numbers[i]);
        guint64 bytes;
        gint64 us;

        g_assert_null(quantity_parse_size(size, &bytes));
        g_assert_cmpuint(bytes, ==, numbers[i]);
        g_assert_null(quantity_parse_duration(duration, &us));
        g_assert_cmpint(us, ==, (gint64) numbers[i]);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/quantity/two-sizes-that-differ",
                    test_two_sizes_that_differ_are_not_shown_as_the_same_text);
    g_test_add_func("/quantity/a-count-is-digits", test_a_count_is_digits_and_nothing_else);
    g_test_add_func("/quantity/a-size-is-bytes-or-has-a-unit",
                    test_a_size_is_bytes_or_has_a_unit_that_means_one_thing);
    g_test_add_func("/quantity/a-size-that-could-mean-two-things-is-refused",
                    test_a_size_that_could_mean_two_things_is_refused);
    g_test_add_func("/quantity/a-duration-has-a-unit",
                    test_a_duration_has_a_unit_unless_it_is_nothing);
    g_test_add_func("/quantity/a-duration-without-a-known-unit-is-refused",
                    test_a_duration_without_a_known_unit_is_refused);
    g_test_add_func("/quantity/a-ratio-lies-between-nothing-and-all",
                    test_a_ratio_lies_between_nothing_and_all);
    g_test_add_func("/quantity/a-number-is-shown-in-the-unit-that-people-would-choose",
                    test_a_number_is_shown_in_the_unit_that_people_would_choose);
    g_test_add_func("/quantity/a-number-written-as-an-option-reads-as-the-same",
                    test_a_number_written_as_an_option_reads_as_the_same_number);
    return g_test_run();
}
