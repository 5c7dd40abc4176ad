/* test_problems.c - problems in the order of the file, and the nearest word. */
#include "base/problems.h"

#include <glib.h>

static void
test_problems_are_shown_in_the_order_of_the_file_whatever_the_order_found(void)
{
    g_autoptr(Problems) problems = problems_new("agent.yaml");
    g_autofree char *text = NULL;

    problems_add_at(problems, 14, 21, "sinks.archive.roll-size", "'%s' is not a size", "64Mb");
    problems_add_at(problems, 3, 9, "agent.http", "second in its line");
    problems_add_at(problems, 3, 1, "agent", "first in its line");
    problems_add_at(problems, 14, 21, "", "found later at the same place");
    problems_add(problems, NULL, "sources", "the section is missing");
    text = problems_to_text(problems);

    g_assert_cmpuint(problems_count(problems), ==, 5);
    g_assert_cmpstr(text, ==,
                    "agent.yaml: sources: the section is missing\n"
                    "agent.yaml:3:1: agent: first in its line\n"
                    "agent.yaml:3:9: agent.http: second in its line\n"
                    "agent.yaml:14:21: sinks.archive.roll-size: '64Mb' is not a size\n"
                    "agent.yaml:14:21: found later at the same place\n");
}

static void
test_a_hundred_problems_are_shown_and_the_rest_is_counted(void)
{
    g_autoptr(Problems) problems = problems_new("a.yaml");
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    for (int line = 100000; line > 0; line--)
        problems_add_at(problems, line, 1, "", "is wrong");
    text = problems_to_text(problems);
    lines = g_strsplit(text, "\n", -1);

    g_assert_cmpuint(problems_count(problems), ==, 100000);
    g_assert_cmpuint(g_strv_length(lines), ==, 102);
    g_assert_cmpstr(lines[0], ==, "a.yaml:1:1: is wrong");
    g_assert_cmpstr(lines[99], ==, "a.yaml:100:1: is wrong");
    g_assert_cmpstr(lines[100], ==, "a.yaml: and 99900 more");
}

static void
test_a_path_is_named_by_problems_of_its_own_value_alone(void)
{
    g_autoptr(Problems) problems = problems_new("a.yaml");

    problems_add_at(problems, 1, 1, "sinks.out.client", "'x' is none of the choices");

    g_assert_true(problems_name(problems, "sinks.out.client"));
    g_assert_false(problems_name(problems, "sinks.out"));
    g_assert_false(problems_name(problems, "sinks.out.clients"));
}

static void
test_a_value_in_a_problem_neither_breaks_the_line_nor_reaches_the_terminal(void)
{
    g_autoptr(Problems) problems = problems_new("a.yaml");
    g_autofree char *text = NULL;

    problems_add_at(problems, 1, 1, "k", "'%s' is wrong", "one\ntwo\t\x1b[31m \xff ü");
    text = problems_to_text(problems);

    g_assert_cmpstr(text, ==, "a.yaml:1:1: k: 'one\\ntwo\\t\\x1b[31m \xef\xbf\xbd ü' is wrong\n");
}

static const char *const candidates[] = { "compression", "capacity", "channel", "channels",
                                          "type",        "to",       NULL };

static void
test_a_slip_of_the_finger_finds_the_word_that_was_meant(void)
{
    g_assert_cmpstr(problems_nearest("comression", candidates), ==, "compression");
    g_assert_cmpstr(problems_nearest("capactiy", candidates), ==, "capacity");
    g_assert_cmpstr(problems_nearest("CHANNELS", candidates), ==, "channels");
    g_assert_cmpstr(problems_nearest("chanel", candidates), ==, "channel");
    g_assert_cmpstr(problems_nearest("tpye", candidates), ==, "type");
}

static void
test_a_word_that_is_near_to_nothing_finds_nothing(void)
{
    g_autofree char *long_word = g_strnfill(100000, 'c');

    g_assert_null(problems_nearest("prefix", candidates));
    g_assert_null(problems_nearest("x", candidates));
    g_assert_null(problems_nearest("", candidates));
    g_assert_null(problems_nearest(long_word, candidates));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/problems/are-shown-in-the-order-of-the-file",
                    test_problems_are_shown_in_the_order_of_the_file_whatever_the_order_found);
    g_test_add_func("/problems/a-hundred-are-shown-and-the-rest-is-counted",
                    test_a_hundred_problems_are_shown_and_the_rest_is_counted);
    g_test_add_func("/problems/a-path-is-named-by-problems-of-its-own-value-alone",
                    test_a_path_is_named_by_problems_of_its_own_value_alone);
    g_test_add_func("/problems/a-value-neither-breaks-the-line-nor-reaches-the-terminal",
                    test_a_value_in_a_problem_neither_breaks_the_line_nor_reaches_the_terminal);
    g_test_add_func("/problems/a-slip-of-the-finger-finds-the-word",
                    test_a_slip_of_the_finger_finds_the_word_that_was_meant);
    g_test_add_func("/problems/a-word-near-to-nothing-finds-nothing",
                    test_a_word_that_is_near_to_nothing_finds_nothing);
    return g_test_run();
}
