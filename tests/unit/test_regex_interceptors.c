/* test_regex_interceptors.c - regex-filter, regex-extractor, search-replace. */
#include <glib.h>

#include "agent/builtin.h"
#include "tests/support/intercept.h"

/* A pattern, and a body on which it tries more ways than any library allows. */
#define HOPELESS_PATTERN "(a+)+$"
#define HOPELESS_BODY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"

#define assert_intercepts_body(interceptor, body, text)                                      \
    G_STMT_START                                                                             \
    {                                                                                        \
        g_autofree char *intercepted_ = intercept_body(interceptor, body, sizeof(body) - 1); \
        g_assert_cmpstr(intercepted_, ==, text);                                             \
    }                                                                                        \
    G_STMT_END

static guint64
n_given_up(const Interceptor *interceptor)
{
    return metric_get_value(interceptor->base.reports, 0, REPORT_MATCH_LIMIT);
}

/* ---- regex-filter ---- */

static void
test_filter_keeps_what_is_found_anywhere_in_the_body(void)
{
    g_autoptr(Interceptor) filter =
        interceptor_new(&regex_filter_interceptor, "regex: 'WARN|ERROR'");

    assert_intercepts(filter, "k=v:an ERROR here", "k=v:an ERROR here");
    assert_intercepts(filter, "k=ERROR:fine", "(dropped)");
    assert_intercepts_body(filter, "\0\xff WARN", "\\0\xff WARN");
}

static void
test_filter_may_exclude_instead(void)
{
    g_autoptr(Interceptor) filter =
        interceptor_new(&regex_filter_interceptor, "regex: DEBUG, exclude-events: true");

    assert_intercepts(filter, "a DEBUG line", "(dropped)");
    assert_intercepts(filter, "a line", "a line");
}

static void
test_filter_keeps_everything_by_default(void)
{
    g_autoptr(Interceptor) filter = interceptor_new(&regex_filter_interceptor, "");

    assert_intercepts(filter, "x", "x");
    assert_intercepts(filter, "", "");
}

static void
test_a_search_that_gives_up_leaves_the_event_alone_and_is_counted(void)
{
    g_autoptr(Interceptor) keeps =
        interceptor_new(&regex_filter_interceptor, "regex: '" HOPELESS_PATTERN "'");
    g_autoptr(Interceptor) replaces = interceptor_new(
        &search_replace_interceptor, "search-pattern: '" HOPELESS_PATTERN "', replace-string: x");

    assert_intercepts(keeps, HOPELESS_BODY, HOPELESS_BODY);
    assert_intercepts(replaces, HOPELESS_BODY, HOPELESS_BODY);

    g_assert_cmpuint(n_given_up(keeps), ==, 1);
    g_assert_cmpuint(n_given_up(replaces), ==, 1);
}

/* ---- regex-extractor ---- */

static void
test_extractor_writes_each_group_into_its_header(void)
{
    g_autoptr(Interceptor) extractor = interceptor_new(
        &regex_extractor_interceptor,
        "regex: '(\\d+):(\\w+)(x)?', serializers: [{name: n}, {name: word}, {name: x}]");

    assert_intercepts_body(extractor, "at 12:ab", "n=12,word=ab:at 12:ab");
    assert_intercepts_body(extractor, "nothing", "nothing");
    assert_intercepts_body(extractor, "1:a\0b 2:c", "n=1,word=a:1:a\\0b 2:c");
}

static void
test_extractor_may_have_fewer_serializers_than_groups(void)
{
    g_autoptr(Interceptor) extractor = interceptor_new(
        &regex_extractor_interceptor, "regex: '(a)(b)', serializers: [{name: first}]");

    assert_intercepts(extractor, "ab", "first=a:ab");
}

static void
test_extractor_turns_times_into_milliseconds(void)
{
    g_autoptr(Interceptor) extractor =
        interceptor_new(&regex_extractor_interceptor,
                        "regex: '^(\\S+ \\S+)', serializers: [{name: timestamp, type: millis, "
                        "pattern: 'yyyy-MM-dd HH:mm:ss', zone: UTC}]");

    assert_intercepts_body(extractor, "2009-02-13 23:31:30 hello",
                           "timestamp=1234567890000:2009-02-13 23:31:30 hello");
}

static void
test_extractor_leaves_out_a_time_it_cannot_read_and_counts_it(void)
{
    g_autoptr(Interceptor) extractor = interceptor_new(
        &regex_extractor_interceptor,
        "regex: '(\\S+) (.*)', serializers: [{name: at, type: millis, pattern: yyyy}, {name: b}]");

    assert_intercepts(extractor, "soon x", "b=x:soon x");
    g_assert_cmpuint(metric_get(extractor->base.part_metrics, 0), ==, 1);
}

static void
test_extractor_refuses_what_cannot_work(void)
{
    static const struct {
        const char *options;
        const char *problem;
    } cases[] = {
        { "serializers: [{name: a}]", "regex" },
        { "regex: (a)", "serializers" },
        { "regex: (a, serializers: [{name: a}]", "regex" },
        { "regex: a, serializers: [{name: a}]", "has 0 groups" },
        { "regex: (a), serializers: [{name: ''}]", "name" },
        { "regex: (a), serializers: [{type: default}]", "name" },
        { "regex: (a), serializers: [{name: a, type: seconds}]", "type" },
        { "regex: (a), serializers: [{name: a, type: millis}]", "no pattern" },
        { "regex: (a), serializers: [{name: a, type: millis, pattern: jjj}]", "letter 'j'" },
        { "regex: (a), serializers: [{name: a, type: millis, pattern: yyyy, zone: Mars}]", "Mars" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *problems =
            interceptor_problems(&regex_extractor_interceptor, cases[i].options);

        g_assert_nonnull(strstr(problems, cases[i].problem));
    }
}

/* ---- search-replace ---- */

static void
test_replace_changes_every_match(void)
{
    g_autoptr(Interceptor) replaces = interceptor_new(
        &search_replace_interceptor, "search-pattern: 'pass=\\S+', replace-string: 'pass=***'");

    assert_intercepts(replaces, "k=v:pass=a b pass=c", "k=v:pass=*** b pass=***");
    assert_intercepts(replaces, "no match", "no match");
}

static void
test_replace_removes_matches_by_default(void)
{
    g_autoptr(Interceptor) replaces =
        interceptor_new(&search_replace_interceptor, "search-pattern: '\\s+$'");

    assert_intercepts(replaces, "trailing  ", "trailing");
    assert_intercepts(replaces, "   ", "");
}

static void
test_replace_knows_the_groups_and_escapes_of_java(void)
{
    static const struct {
        const char *replacement;
        const char *result;
    } cases[] = {
        { "<$2$1>", "<ba>" },  { "$0$0", "abab" }, { "\\$1", "$1" },
        { "\\\\$1", "\\a" },   { "\\a", "a" },     { "$12", "a2" },
        { "$${letter}", "b" }, { "$3", "" },       { "x", "x" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *options = g_strdup_printf(
            "search-pattern: '(a)(?<letter>b)(c)?', replace-string: '%s'", cases[i].replacement);
        g_autoptr(Interceptor) replaces = interceptor_new(&search_replace_interceptor, options);

        assert_intercepts(replaces, "ab", cases[i].result);
    }
}

static void
test_replace_reads_two_digits_if_there_are_so_many_groups(void)
{
    g_autoptr(Interceptor) replaces = interceptor_new(
        &search_replace_interceptor, "search-pattern: '(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)', "
                                     "replace-string: '$11$1$119'");

    assert_intercepts(replaces, "abcdefghijk", "kak9");
}

static void
test_replace_matches_the_empty_string_between_all_bytes(void)
{
    g_autoptr(Interceptor) replaces =
        interceptor_new(&search_replace_interceptor, "search-pattern: 'x*', replace-string: '-'");

    assert_intercepts(replaces, "abc", "-a-b-c-");
    assert_intercepts(replaces, "", "-");
}

static void
test_replace_keeps_bytes_that_are_not_text(void)
{
    g_autoptr(Interceptor) replaces = interceptor_new(
        &search_replace_interceptor, "search-pattern: 'b(.)d', replace-string: '[$1]'");

    assert_intercepts_body(replaces,
                           "\0\xff"
                           "b\0d\xfe",
                           "\\0\xff[\\0]\xfe");
}

static void
test_replace_refuses_a_replacement_that_makes_no_sense(void)
{
    static const struct {
        const char *replacement;
        const char *problem;
    } cases[] = {
        { "$2", "group 2" }, { "cost $", "without a group" }, { "$x", "without a group" },
        { "x\\", "single" }, { "$${name}", "'name'" },        { "$${", "without a name" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *options =
            g_strdup_printf("search-pattern: (a), replace-string: '%s'", cases[i].replacement);
        g_autofree char *problems = interceptor_problems(&search_replace_interceptor, options);

        g_assert_nonnull(strstr(problems, cases[i].problem));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/regex-filter/found", test_filter_keeps_what_is_found_anywhere_in_the_body);
    g_test_add_func("/regex-filter/exclude", test_filter_may_exclude_instead);
    g_test_add_func("/regex-filter/default", test_filter_keeps_everything_by_default);
    g_test_add_func("/regex/gives-up",
                    test_a_search_that_gives_up_leaves_the_event_alone_and_is_counted);
    g_test_add_func("/regex-extractor/groups", test_extractor_writes_each_group_into_its_header);
    g_test_add_func("/regex-extractor/fewer-serializers",
                    test_extractor_may_have_fewer_serializers_than_groups);
    g_test_add_func("/regex-extractor/millis", test_extractor_turns_times_into_milliseconds);
    g_test_add_func("/regex-extractor/unreadable-time",
                    test_extractor_leaves_out_a_time_it_cannot_read_and_counts_it);
    g_test_add_func("/regex-extractor/problems", test_extractor_refuses_what_cannot_work);
    g_test_add_func("/search-replace/every-match", test_replace_changes_every_match);
    g_test_add_func("/search-replace/default", test_replace_removes_matches_by_default);
    g_test_add_func("/search-replace/groups", test_replace_knows_the_groups_and_escapes_of_java);
    g_test_add_func("/search-replace/two-digits",
                    test_replace_reads_two_digits_if_there_are_so_many_groups);
    g_test_add_func("/search-replace/empty-matches",
                    test_replace_matches_the_empty_string_between_all_bytes);
    g_test_add_func("/search-replace/raw-bytes", test_replace_keeps_bytes_that_are_not_text);
    g_test_add_func("/search-replace/problems",
                    test_replace_refuses_a_replacement_that_makes_no_sense);
    return g_test_run();
}
