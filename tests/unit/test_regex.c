/* test_regex.c - what regular expressions find in bytes, and that every search comes to an end. */
#include "base/regex.h"

#include <glib.h>
#include <string.h>

#include "base/clock.h"

#define LARGE ((gsize) 32 * 1024)

/* A run of letters behind which a repeat within a repeat tries 2^14 ways: below the limit of one
 * beginning, but there are two thousand such. */
#define SLOW_PATTERN "(a+)+$"
#define SLOW_UNIT "aaaaaaaaaaaaaab"

static Regex *
regex_of(const char *pattern)
{
    g_autoptr(GError) error = NULL;
    Regex *regex = regex_new(pattern, &error);

    g_assert_no_error(error);
    return regex;
}

/* unit again and again. */
static GString *
repeated(const char *unit, gsize length)
{
    GString *text = g_string_sized_new(length);

    while (text->len < length)
        g_string_append(text, unit);
    return text;
}

static RegexResult
search_in(const char *pattern, const char *text, gsize length)
{
    g_autoptr(Regex) regex = regex_of(pattern);
    RegexSearch search;

    regex_search_init(&search, regex, byte_span(text, length), NULL, NULL);
    return regex_search_next(&search);
}

/* All matches as "[whole|group|...]", "-" for a group that took no part. */
static char *
find_all(const char *pattern, const char *text, gsize length)
{
    g_autoptr(Regex) regex = regex_of(pattern);
    GString *out = g_string_new(NULL);
    RegexSearch search;

    regex_search_init(&search, regex, byte_span(text, length), NULL, NULL);
    while (regex_search_next(&search) == REGEX_FOUND) {
        for (guint i = 0; i <= regex_n_groups(regex); i++) {
            ByteSpan group = byte_span_of_text("-");

            regex_search_group(&search, i, &group);
            g_string_append_c(out, i == 0 ? '[' : '|');
            g_string_append_len(out, (const char *) group.data, (gssize) group.length);
        }
        g_string_append_c(out, ']');
    }
    return g_string_free(out, FALSE);
}

static void
test_matches_come_one_after_the_other_with_their_groups(void)
{
    static const struct {
        const char *pattern;
        const char *text;
        const char *found;
    } cases[] = {
        { "(\\w)=(\\d)?", "a=1 b= c", "[a=1|a|1][b=|b|-]" },
        { "x*", "axb", "[][x][][]" },
        { "^a", "aa", "[a]" },
        { "\\Ga", "aaba", "[a][a]" },
        { "(?<=a)b", "abab", "[b][b]" },
        { "$", "a", "[]" },
        { "a", "", "" },
        { "", "", "[]" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *found = find_all(cases[i].pattern, cases[i].text, strlen(cases[i].text));

        g_assert_cmpstr(found, ==, cases[i].found);
    }
}

static void
test_a_dot_stops_at_the_end_of_a_line_and_at_no_other_byte(void)
{
    static const char text[] = "\xc4\x85\x0b\x0c\0\xff\r\nb\rc\nd";
    g_autoptr(Regex) regex = regex_of(".+");
    static const gsize lengths[] = { 6, 1, 1, 1 };
    RegexSearch search;

    regex_search_init(&search, regex, byte_span(text, sizeof text - 1), NULL, NULL);

    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        ByteSpan line;

        g_assert_cmpint(regex_search_next(&search), ==, REGEX_FOUND);
        g_assert_true(regex_search_group(&search, 0, &line));
        g_assert_cmpuint(line.length, ==, lengths[i]);
    }
    g_assert_cmpint(regex_search_next(&search), ==, REGEX_NOT_FOUND);
    g_assert_cmpint(regex_search_next(&search), ==, REGEX_NOT_FOUND);
}

static void
test_groups_have_numbers_and_names(void)
{
    g_autoptr(Regex) regex = regex_of("(a)(?<letter>b)");

    g_assert_cmpuint(regex_n_groups(regex), ==, 2);
    g_assert_cmpint(regex_group_of_name(regex, "letter"), ==, 2);
    g_assert_cmpint(regex_group_of_name(regex, "digit"), ==, -1);
    g_assert_cmpstr(regex_pattern(regex), ==, "(a)(?<letter>b)");
}

static void
test_a_pattern_that_is_none_is_told_with_its_place(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(regex_new("a(b", &error));

    g_assert_error(error, REGEX_ERROR, REGEX_ERROR_SYNTAX);
    g_assert_cmpstr(error->message, ==, "at char 3: missing closing parenthesis");
}

/* ---- how long it may take ---- */

#define LINE "2023-01-02 host app[12]: key=value; the quick brown fox "
#define JSON "{\"level\":\"info\",\"msg\":\"say \\\"hi\\\" to all\",\"n\":12345},"
#define CSV "\"alpha\",12,\"be,ta\",,\"the \"\"quick\"\" fox\",3.14\n"

static void
test_honest_patterns_never_give_up_on_large_bodies(void)
{
    static const struct {
        const char *pattern;
        const char *unit;
        RegexResult result;
    } cases[] = {
        { "(?i)error|warn|fatal", LINE, REGEX_NOT_FOUND },
        { "(\\d+)-(\\d+)-(\\d+) (\\w+) (.*)$", LINE, REGEX_FOUND },
        { "(\\w+)=(\\w+);.*zebra", LINE, REGEX_NOT_FOUND },
        { "^.*?,.*?,.*?,zebra", LINE, REGEX_NOT_FOUND },
        { "^(?:[^,]|x)*$", LINE, REGEX_FOUND },
        { "^([a-z0-9 :;=\\[\\]-]|,)*$", LINE, REGEX_FOUND },
        { "^(\\S+ )*zebra", LINE, REGEX_NOT_FOUND },
        { "^(?=.*fox)(?=.*quick)(?!.*zebra)", LINE, REGEX_FOUND },
        { "\\s+$", LINE, REGEX_FOUND },
        { "\\s+$", "                        ", REGEX_FOUND },
        { "((?:\\w+\\.)+\\w+)@", LINE, REGEX_NOT_FOUND },
        { "\"(?:[^\"\\\\]|\\\\.)*\"$", JSON, REGEX_NOT_FOUND },
        { "^(?:[^\"]|\"(?:[^\"\\\\]|\\\\.)*\")*$", JSON, REGEX_FOUND },
        { "^(?:(?:\"(?:[^\"]|\"\")*\"|[^,\"\\n]*)(?:,|\\n|$))+$", CSV, REGEX_FOUND },
        { "(?:\\d[ -]*?){13,16}", CSV, REGEX_NOT_FOUND },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) body = repeated(cases[i].unit, LARGE);

        g_test_message("%s", cases[i].pattern);
        g_assert_cmpint(search_in(cases[i].pattern, body->str, body->len), ==, cases[i].result);
    }
}

static void
test_a_hopeless_search_gives_up_before_long(void)
{
    static const char *const patterns[] = { "^(a|aa)+$",          "(a+)+$",
                                            "(?:a*)*$",           "(a|a?)+$",
                                            "(*NO_JIT)^(a|aa)+$", "(*NO_JIT)(a+)+$" };
    g_autoptr(GString) body = repeated("a", LARGE);
    gint64 begin_us = clock_thread_us();

    g_string_append_c(body, 'b');
    for (guint i = 0; i < G_N_ELEMENTS(patterns); i++) {
        g_test_message("%s", patterns[i]);
        g_assert_cmpint(search_in(patterns[i], body->str, body->len), ==, REGEX_GAVE_UP);
    }

    g_assert_cmpint(clock_thread_us() - begin_us, <, 5 * G_USEC_PER_SEC);
}

static gboolean
count_down(gpointer user)
{
    int *left = user;

    return --*left > 0;
}

static void
test_a_long_search_asks_whether_it_may_go_on(void)
{
    g_autoptr(Regex) regex = regex_of(SLOW_PATTERN);
    g_autoptr(GString) body = repeated(SLOW_UNIT, LARGE);
    int left = 4;
    RegexSearch search;

    regex_search_init(&search, regex, byte_span(body->str, body->len), count_down, &left);

    g_assert_cmpint(regex_search_next(&search), ==, REGEX_GAVE_UP);
    g_assert_cmpint(left, ==, 0);
    g_assert_nonnull(search.why);
    g_assert_cmpint(regex_search_next(&search), ==, REGEX_NOT_FOUND);
}

static void
test_a_short_search_asks_once(void)
{
    g_autoptr(Regex) regex = regex_of("zebra");
    g_autoptr(GString) body = repeated(LINE, LARGE);
    int left = 2;
    RegexSearch search;

    regex_search_init(&search, regex, byte_span(body->str, body->len), count_down, &left);

    g_assert_cmpint(regex_search_next(&search), ==, REGEX_NOT_FOUND);
    g_assert_cmpint(left, ==, 1);
}

/* Each beginning takes more than a search of the whole may give it, and less than the limit. */
static void
test_what_needs_many_steps_is_found_where_it_is(void)
{
    g_autoptr(GString) body = repeated("aaaaaaaaaaaaab", LARGE);
    g_autoptr(Regex) regex = regex_of("(a+)+c|(needle)");
    gsize where = body->len;
    RegexSearch search;
    ByteSpan needle;

    g_string_append(body, "needle");
    regex_search_init(&search, regex, byte_span(body->str, body->len), NULL, NULL);

    g_assert_cmpint(regex_search_next(&search), ==, REGEX_FOUND);
    g_assert_true(regex_search_group(&search, 2, &needle));
    g_assert_true(needle.data == search.subject.data + where);
    g_assert_false(regex_search_group(&search, 1, &needle));
}

static void
test_a_very_large_body_is_searched_to_its_end(void)
{
    g_autoptr(GString) body = repeated(LINE, (gsize) 5 * 1024 * 1024);

    g_string_append(body, "zebra\n");

    g_assert_cmpint(search_in("\\bzebra$", body->str, body->len), ==, REGEX_FOUND);
    g_assert_cmpint(search_in("z(?!ebra)", body->str, body->len), ==, REGEX_NOT_FOUND);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/regex/matches", test_matches_come_one_after_the_other_with_their_groups);
    g_test_add_func("/regex/dot", test_a_dot_stops_at_the_end_of_a_line_and_at_no_other_byte);
    g_test_add_func("/regex/groups", test_groups_have_numbers_and_names);
    g_test_add_func("/regex/syntax", test_a_pattern_that_is_none_is_told_with_its_place);
    g_test_add_func("/regex/honest", test_honest_patterns_never_give_up_on_large_bodies);
    g_test_add_func("/regex/hopeless", test_a_hopeless_search_gives_up_before_long);
    g_test_add_func("/regex/long", test_a_long_search_asks_whether_it_may_go_on);
    g_test_add_func("/regex/short", test_a_short_search_asks_once);
    g_test_add_func("/regex/many-steps", test_what_needs_many_steps_is_found_where_it_is);
    g_test_add_func("/regex/very-large", test_a_very_large_body_is_searched_to_its_end);
    return g_test_run();
}
