/* test_option_problems.c - what a wrong option is told: where, what, and what to write instead. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/option.h"
#include "tests/unit/every_option.h"

typedef struct {
    const char *text;
    const char *complaints; /* all of them */
} Row;

static char *
complaints_of(const OptionSpec *const *tables, const char *text)
{
    g_autoptr(Problems) problems = problems_new("t");
    g_autoptr(YamlNode) root = yaml_tree_parse(text, strlen(text), problems);
    EveryOption options;

    memset(&options, 0xaa, sizeof options);
    options_apply(tables, yaml_node_get(root, "s"), &options, "s", problems);
    options_clear(tables, &options);
    return problems_to_text(problems);
}

static void
assert_complaints(const Row *rows)
{
    for (; rows->text != NULL; rows++) {
        g_autofree char *complaints = complaints_of(every_table, rows->text);

        g_assert_cmpstr(complaints, ==, rows->complaints);
    }
}

static void
test_all_wrong_options_are_named_in_the_order_of_the_file(void)
{
    static const Row rows[] = {
        { "s:\n  tiem: 5s\n  bytes: 64Mb\n  count: x\n",
          "t:2:3: s: unknown option 'tiem'; did you mean 'time'?\n"
          "t:3:10: s.bytes: '64Mb' is not a size; write a number with KiB, MiB or GiB\n"
          "t:4:10: s.count: 'x' is not a whole number; write a number from 0 to 10\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static void
test_an_unknown_option_near_to_none_lists_them(void)
{
    static const Row rows[] = {
        { "s: { zzzzzz: 1 }\n",
          "t:1:6: s: unknown option 'zzzzzz'; options are: text, truth, count, bytes, time, ratio, "
          "choice, regex, path, secret-file, listen, hosts, names, words, routes, rows, part, "
          "parts\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static void
test_a_number_out_of_range_is_told_the_range(void)
{
    static const Row rows[] = {
        { "s: { count: 11 }\n",
          "t:1:13: s.count: '11' is out of range; write a number from 0 to 10\n" },
        { "s: { count: -5 }\n",
          "t:1:13: s.count: '-5' is not a whole number; write a number from 0 to 10\n" },
        { "s: { count: 99999999999999999999 }\n",
          "t:1:13: s.count: '99999999999999999999' is too large; write a number from 0 to 10\n" },
        { "s: { bytes: 1KiB }\n",
          "t:1:13: s.bytes: '1KiB' is out of range; write a size from 4KiB to 1GiB, or 0\n" },
        { "s: { bytes: 2GiB }\n",
          "t:1:13: s.bytes: '2GiB' is out of range; write a size from 4KiB to 1GiB, or 0\n" },
        { "s: { time: 0s }\n",
          "t:1:12: s.time: '0s' is too small; write a duration of at least 1ms\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static void
test_a_value_of_the_wrong_shape_is_told_the_right_one(void)
{
    static const Row rows[] = {
        { "s: { bytes: [1] }\n", "t:1:13: s.bytes: a list stands here; write a size\n" },
        { "s: { truth: {} }\n", "t:1:13: s.truth: a mapping stands here; write true or false\n" },
        { "s: { names: {} }\n", "t:1:13: s.names: a mapping stands here; write a list of names\n" },
        { "s: { names: [a, [b]] }\n", "t:1:17: s.names[1]: a list stands here; write one value\n" },
        { "s: { words: [a] }\n", "t:1:13: s.words: a list stands here; write a mapping\n" },
        { "s: { words: { a: [b] } }\n", "t:1:18: s.words.a: a list stands here; write one text\n" },
        { "s: { rows: a }\n",
          "t:1:12: s.rows: a single value stands here; write a list of mappings\n" },
        { "s: { rows: { header: [a] } }\n",
          "t:1:22: s.rows.header: a list stands here; write one text\n" },
        { "s: { rows: [a] }\n",
          "t:1:13: s.rows[0]: a single value stands here; write a mapping\n" },
        { "s: word\n", "t:1:4: s: a single value stands here; write a mapping\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static void
test_an_option_without_a_value_is_told_what_to_write(void)
{
    static const Row rows[] = {
        { "s:\n  text:\n", "t:2:8: s.text: there is no value; write one text\n" },
        { "s: { time: ~ }\n", "t:1:12: s.time: there is no value; write a duration\n" },
        { "s: { names: [~] }\n", "t:1:14: s.names[0]: there is no value; write one value\n" },
        { "s: { hosts: }\n", "t:1:13: s.hosts: there is no value; write a list of addresses\n" },
        { "s: { words: ~ }\n", "t:1:13: s.words: there is no value; write a mapping\n" },
        { "s:\n", "t:1:3: s: there is no value; write a mapping\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static void
test_a_value_that_its_kind_does_not_know_is_told_what_it_does(void)
{
    static const Row rows[] = {
        { "s: { truth: maybe }\n",
          "t:1:13: s.truth: 'maybe' is neither true nor false; write true or false\n" },
        { "s: { ratio: 2 }\n", "t:1:13: s.ratio: '2' is not a ratio; write a number from 0 to 1, "
                               "or a percentage such as 25%\n" },
        { "s: { choice: fialover }\n",
          "t:1:14: s.choice: 'fialover' is none of the choices; did you mean 'failover'? choices "
          "are: round-robin, failover, random\n" },
        { "s: { choice: x }\n", "t:1:14: s.choice: 'x' is none of the choices; choices are: "
                                "round-robin, failover, random\n" },
        { "s: { path: ~/spool }\n", "t:1:12: s.path: '~/spool' begins with ~, which is not "
                                    "expanded; write ${HOME} instead\n" },
        { "s: { path: '' }\n",
          "t:1:12: s.path: '' is no path; write the name of a file or folder\n" },
        { "s: { names: [a, ''] }\n", "t:1:17: s.names[1]: '' is no name; write a name\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static void
test_a_bad_pattern_is_told_where_it_goes_wrong(void)
{
    g_autofree char *complaints = complaints_of(every_table, "s: { regex: 'a(' }\n");

    /* The reason is in the words of PCRE. */
    g_assert_true(g_str_has_prefix(
        complaints, "t:1:13: s.regex: 'a(' is not a regular expression: at char 2: missing "));
    g_assert_true(g_str_has_suffix(complaints, "; correct the pattern\n"));
}

static void
test_a_wrong_address_is_told_what_an_address_is(void)
{
    static const Row rows[] = {
        { "s: { listen: hub }\n", "t:1:14: s.listen: 'hub' has no port; write hub:PORT, or off\n" },
        { "s: { hosts: ['a:1', ':2', 'c:0', 'd'] }\n",
          "t:1:21: s.hosts[1]: ':2' has no host to connect to; write host:port, such as "
          "hub1:4141\n"
          "t:1:27: s.hosts[2]: 'c:0' has port 0, which nobody can connect to; write the port that "
          "is listened on\n"
          "t:1:34: s.hosts[3]: 'd' has no port; write d:PORT\n" },
        { "s: { hosts: 'a:1,b:2' }\n", "t:1:13: s.hosts: 'a:1,b:2' is more than one address; write "
                                       "a list, such as [\"hub1:4141\", \"hub2:4141\"]\n" },
        { "s: { hosts: a:1 b:2 }\n", "t:1:13: s.hosts: 'a:1 b:2' is more than one address; write "
                                     "a list, such as [\"hub1:4141\", \"hub2:4141\"]\n" },
        { "s: { hosts: '::1' }\n", "t:1:13: s.hosts: '::1' has more than one ':'; write an IPv6 "
                                   "address as [::1]:4141\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static const OptionSpec switch_options[] = {
    { .name = "backoff", OPTION_AT(DURATION, EveryOption, time_us), .fallback = "1s" },
    { .name = "host-backoff", OPTION_AT(BOOL, EveryOption, truth), .fallback = "true" },
    { 0 },
};

static void
test_true_or_false_for_a_duration_is_told_of_the_switch_of_like_name(void)
{
    static const OptionSpec *const tables[] = { switch_options, NULL };
    g_autofree char *meant = complaints_of(tables, "s: { backoff: false }\n");
    g_autofree char *plain = complaints_of(every_table, "s: { time: false }\n");

    g_assert_cmpstr(meant, ==,
                    "t:1:15: s.backoff: 'false' is not a duration; did you mean "
                    "'host-backoff: false'?\n");
    g_assert_nonnull(strstr(plain, "'false' is not a duration; write a number with us"));
}

static void
test_options_of_rows_are_checked_like_any_other(void)
{
    static const Row rows[] = {
        { "s:\n  rows:\n    - { weight: x, haeder: a }\n    - { header: b }\n",
          "t:3:7: s.rows[0]: the option 'header' is missing; add 'header: <text>'\n"
          "t:3:17: s.rows[0].weight: 'x' is not a whole number; write a number of at least 0\n"
          "t:3:20: s.rows[0]: unknown option 'haeder'; did you mean 'header'?\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static void
test_what_the_tree_has_complained_about_is_not_complained_about_again(void)
{
    static const Row rows[] = {
        { "s: { bytes: \"${LEAT_NOT}\", names: [\"${LEAT_NOT}\"] }\n",
          "t:1:13: s.bytes: the environment variable LEAT_NOT is not set; set it, or write "
          "${LEAT_NOT:-default}\n"
          "t:1:36: s.names[0]: the environment variable LEAT_NOT is not set; set it, or write "
          "${LEAT_NOT:-default}\n" },
        { 0 },
    };

    assert_complaints(rows);
}

static const OptionSpec required_options[] = {
    { .name = "bytes", OPTION_AT(SIZE, EveryOption, bytes), .required = TRUE, .example = "64MiB" },
    { .name = "names", OPTION_AT(NAMES, EveryOption, names), .required = TRUE },
    { .name = "rows",
      OPTION_AT(ROWS, EveryOption, rows),
      .required = TRUE,
      .rows = every_row_options,
      .row_size = sizeof(EveryRow) },
    { 0 },
};

static void
test_a_missing_option_is_told_how_it_would_look(void)
{
    static const OptionSpec *const tables[] = { required_options, NULL };
    g_autofree char *missing = complaints_of(tables, "s:\n  {}\n");
    g_autofree char *empty = complaints_of(tables, "s: { bytes: 1, names: [], rows: [] }\n");

    g_assert_cmpstr(missing, ==,
                    "t:2:3: s: the option 'bytes' is missing; add 'bytes: 64MiB'\n"
                    "t:2:3: s: the option 'names' is missing; add 'names: <list of names>'\n"
                    "t:2:3: s: the option 'rows' is missing; add 'rows: <list of mappings>'\n");
    g_assert_cmpstr(empty, ==,
                    "t:1:23: s.names: the list is empty; write at least one\n"
                    "t:1:33: s.rows: the list is empty; write at least one\n");
}

static void
test_a_secret_that_cannot_be_had_says_why(void)
{
    g_autofree char *folder = g_dir_make_tmp("leat-test-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "secret", NULL);
    g_autofree char *text = g_strdup_printf("s: { secret-file: %s }\n", file);
    g_autofree char *absent = complaints_of(every_table, text);
    g_autofree char *empty = NULL;

    g_assert_true(g_file_set_contents(file, "\n", -1, NULL));
    empty = complaints_of(every_table, text);

    g_assert_nonnull(strstr(absent, "cannot be read: No such file or directory; name a file"));
    g_assert_nonnull(strstr(empty, "holds no text; write the secret into that file"));
    g_remove(file);
    g_rmdir(folder);
}

static void
test_a_long_value_is_cut_short_in_its_problem(void)
{
    g_autofree char *value = g_strnfill(10000, 'x');
    g_autofree char *text = g_strdup_printf("s: { count: %s }\n", value);
    g_autofree char *complaints = complaints_of(every_table, text);

    g_assert_cmpuint(strlen(complaints), <, 200);
    g_assert_nonnull(strstr(complaints, "xxx...' is not a whole number"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_unsetenv("LEAT_NOT");
    g_test_add_func("/option-problems/all-wrong-options-are-named",
                    test_all_wrong_options_are_named_in_the_order_of_the_file);
    g_test_add_func("/option-problems/an-unknown-option-near-to-none-lists-them",
                    test_an_unknown_option_near_to_none_lists_them);
    g_test_add_func("/option-problems/a-number-out-of-range-is-told-the-range",
                    test_a_number_out_of_range_is_told_the_range);
    g_test_add_func("/option-problems/a-value-of-the-wrong-shape",
                    test_a_value_of_the_wrong_shape_is_told_the_right_one);
    g_test_add_func("/option-problems/an-option-without-a-value",
                    test_an_option_without_a_value_is_told_what_to_write);
    g_test_add_func("/option-problems/a-value-that-its-kind-does-not-know",
                    test_a_value_that_its_kind_does_not_know_is_told_what_it_does);
    g_test_add_func("/option-problems/a-bad-pattern",
                    test_a_bad_pattern_is_told_where_it_goes_wrong);
    g_test_add_func("/option-problems/a-wrong-address",
                    test_a_wrong_address_is_told_what_an_address_is);
    g_test_add_func("/option-problems/true-or-false-for-a-duration",
                    test_true_or_false_for_a_duration_is_told_of_the_switch_of_like_name);
    g_test_add_func("/option-problems/options-of-rows-are-checked",
                    test_options_of_rows_are_checked_like_any_other);
    g_test_add_func("/option-problems/nothing-is-complained-about-twice",
                    test_what_the_tree_has_complained_about_is_not_complained_about_again);
    g_test_add_func("/option-problems/a-missing-option",
                    test_a_missing_option_is_told_how_it_would_look);
    g_test_add_func("/option-problems/a-secret-that-cannot-be-had",
                    test_a_secret_that_cannot_be_had_says_why);
    g_test_add_func("/option-problems/a-long-value-is-cut-short",
                    test_a_long_value_is_cut_short_in_its_problem);
    return g_test_run();
}
