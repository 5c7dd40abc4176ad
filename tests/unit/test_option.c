/* test_option.c - rows applied to a mapping: what the members receive. */
#include "base/option.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "tests/unit/every_option.h"

static void
every_option_clear(EveryOption *self)
{
    options_clear(every_table, self);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EveryOption, every_option_clear)

/* NULL: nothing is written. Members begin as garbage, since all of them are to be set. */
static void
apply(const char *text, EveryOption *ret_options)
{
    g_autoptr(Problems) problems = problems_new("t.yaml");
    g_autoptr(YamlNode) root = text == NULL ? NULL : yaml_tree_parse(text, strlen(text), problems);
    g_autofree char *complaints = NULL;

    memset(ret_options, 0xaa, sizeof *ret_options);
    options_apply(every_table, root, ret_options, "", problems);
    complaints = problems_to_text(problems);
    g_assert_cmpstr(complaints, ==, "");
}

static gboolean
finds(const Regex *regex, const char *text)
{
    RegexSearch search;

    regex_search_init(&search, regex, byte_span_of_text(text), NULL, NULL);
    return regex_search_next(&search) == REGEX_FOUND;
}

static void
test_what_is_not_written_has_its_fallback(void)
{
    g_auto(EveryOption) options;

    apply(NULL, &options);

    g_assert_cmpstr(options.text, ==, "a: %{b}");
    g_assert_true(options.truth);
    g_assert_cmpuint(options.count, ==, 5);
    g_assert_cmpuint(options.bytes, ==, 4096);
    g_assert_cmpint(options.time_us, ==, 10 * G_USEC_PER_SEC);
    g_assert_cmpfloat(options.ratio, ==, 0.25);
    g_assert_cmpuint(options.choice, ==, 1);
    g_assert_true(finds(options.regex, "a: b"));
    g_assert_cmpstr(options.path, ==, "/var/log");
    g_assert_cmpuint(options.listen->port, ==, 41414);
    g_assert_cmpuint(options.endpoints->len, ==, 2);
    g_assert_cmpstr(options.names[1], ==, "y");
    g_assert_cmpstr(((OptionMapEntry *) options.words->pdata[0])->string, ==, "v");
}

static void
test_without_a_fallback_a_member_is_empty(void)
{
    g_auto(EveryOption) options;

    apply(NULL, &options);

    g_assert_null(options.secret);
    g_assert_null(options.routes);
    g_assert_null(options.rows);
}

static void
test_a_written_value_of_each_kind_reaches_its_member(void)
{
    g_auto(EveryOption) options;

    apply("text: ' a '\ntruth: no\ncount: 10\nbytes: 1GiB\ntime: 1ms\nratio: 1\nchoice: random\n"
          "regex: '\\d+'\npath: spool\nlisten: ':0'\n",
          &options);

    g_assert_cmpstr(options.text, ==, " a ");
    g_assert_false(options.truth);
    g_assert_cmpuint(options.count, ==, 10);
    g_assert_cmpuint(options.bytes, ==, 1 << 30);
    g_assert_cmpint(options.time_us, ==, 1000);
    g_assert_cmpfloat(options.ratio, ==, 1);
    g_assert_cmpuint(options.choice, ==, 2);
    g_assert_true(finds(options.regex, "x7"));
    g_assert_cmpstr(options.path, ==, "spool");
    g_assert_cmpstr(options.listen->host, ==, "");
}

static void
test_choices_and_truths_ignore_case(void)
{
    static const char *const truths[] = { "true", "TRUE", "yes", "Yes", "on", "ON", NULL };
    static const char *const choices[] = { "round-robin", "Round-Robin", "ROUND_ROBIN", NULL };

    for (guint i = 0; truths[i] != NULL; i++) {
        g_autofree char *text = g_strconcat("truth: ", truths[i], NULL);
        g_auto(EveryOption) options;

        apply(text, &options);
        g_assert_cmpint(options.truth, ==, TRUE);
    }
    for (guint i = 0; choices[i] != NULL; i++) {
        g_autofree char *text = g_strconcat("choice: ", choices[i], NULL);
        g_auto(EveryOption) options;

        apply(text, &options);
        g_assert_cmpuint(options.choice, ==, 0);
    }
}

static void
test_zero_and_off_are_taken_where_the_row_says_so(void)
{
    g_auto(EveryOption) options;

    apply("bytes: 0\nlisten: OFF\n", &options);

    g_assert_cmpuint(options.bytes, ==, 0);
    g_assert_null(options.listen);
}

static void
test_a_text_may_be_empty_if_that_is_written(void)
{
    g_auto(EveryOption) options;

    apply("text: ''\n", &options);

    g_assert_cmpstr(options.text, ==, "");
}

static void
test_a_regex_sees_bytes(void)
{
    g_auto(EveryOption) options;

    apply("regex: '^.\\xff$'\n", &options);

    g_assert_true(finds(options.regex, "\xc3\xff"));
}

static void
test_a_list_may_be_written_as_one_value(void)
{
    g_auto(EveryOption) options;

    apply("names: only\nhosts: hub:1\nroutes: { a: one, b: [one, two], c: [] }\n", &options);

    g_assert_cmpstr(options.names[0], ==, "only");
    g_assert_null(options.names[1]);
    g_assert_cmpuint(options.endpoints->len, ==, 1);
    g_assert_cmpstr(((OptionMapEntry *) options.routes->pdata[0])->names[0], ==, "one");
    g_assert_cmpstr(((OptionMapEntry *) options.routes->pdata[1])->key, ==, "b");
    g_assert_cmpstr(((OptionMapEntry *) options.routes->pdata[1])->names[1], ==, "two");
    g_assert_null(((OptionMapEntry *) options.routes->pdata[2])->names[0]);
}

static void
test_a_map_keeps_the_order_of_the_file(void)
{
    g_auto(EveryOption) options;

    apply("words: { z: '1', a: '2', '': '' }\n", &options);

    g_assert_cmpuint(options.words->len, ==, 3);
    g_assert_cmpstr(((OptionMapEntry *) options.words->pdata[0])->key, ==, "z");
    g_assert_cmpstr(((OptionMapEntry *) options.words->pdata[1])->string, ==, "2");
    g_assert_cmpstr(((OptionMapEntry *) options.words->pdata[2])->key, ==, "");
}

static void
test_rows_are_instances_with_fallbacks_of_their_own(void)
{
    g_auto(EveryOption) options;
    const EveryRow *first, *second;

    apply("rows: [{ header: a }, { header: b, weight: 7 }]\n", &options);
    first = options.rows->pdata[0];
    second = options.rows->pdata[1];

    g_assert_cmpuint(options.rows->len, ==, 2);
    g_assert_cmpstr(first->header, ==, "a");
    g_assert_cmpuint(first->weight, ==, 1);
    g_assert_cmpstr(second->header, ==, "b");
    g_assert_cmpuint(second->weight, ==, 7);
}

static void
test_one_row_needs_no_list(void)
{
    g_auto(EveryOption) options;
    const EveryRow *row;

    apply("rows: { header: a }\n", &options);
    row = options.rows->pdata[0];

    g_assert_cmpuint(options.rows->len, ==, 1);
    g_assert_cmpstr(row->header, ==, "a");
}

static void
test_parts_are_left_to_whoever_makes_them(void)
{
    g_auto(EveryOption) options;

    apply("part: { type: x, anything: goes }\nparts: [{ type: y }]\n", &options);

    g_assert_cmpuint(options.count, ==, 5);
}

static void
test_a_secret_is_the_content_of_its_file_without_the_last_newline(void)
{
    g_autofree char *folder = g_dir_make_tmp("leat-test-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "secret", NULL);
    g_autofree char *text = g_strdup_printf("secret-file: %s\n", file);
    g_auto(EveryOption) options;

    g_assert_true(g_file_set_contents(file, "pass word\n\n", -1, NULL));
    apply(text, &options);

    g_assert_cmpstr(options.secret, ==, "pass word\n");
    g_remove(file);
    g_rmdir(folder);
}

static void
test_a_cleared_instance_is_empty_and_may_be_cleared_again(void)
{
    g_auto(EveryOption) options;

    apply("rows: [{ header: a }]\nroutes: { a: b }\n", &options);
    options_clear(every_table, &options);

    g_assert_null(options.text);
    g_assert_null(options.regex);
    g_assert_null(options.path);
    g_assert_null(options.listen);
    g_assert_null(options.endpoints);
    g_assert_null(options.names);
    g_assert_null(options.words);
    g_assert_null(options.routes);
    g_assert_null(options.rows);
}

static void
test_a_fallback_that_is_none_stops_the_program_and_names_the_row(void)
{
    static const OptionSpec wrong[] = {
        { .name = "roll-size", OPTION_AT(SIZE, EveryOption, bytes), .fallback = "64Mb" },
        { 0 },
    };
    static const OptionSpec *const tables[] = { wrong, NULL };

    if (g_test_subprocess()) {
        g_autoptr(Problems) problems = problems_new("t.yaml");
        EveryOption options;

        options_apply(tables, NULL, &options, "", problems);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);

    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*row 'roll-size' has a fallback that is none*'64Mb' is not a size*");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/option/what-is-not-written-has-its-fallback",
                    test_what_is_not_written_has_its_fallback);
    g_test_add_func("/option/without-a-fallback-a-member-is-empty",
                    test_without_a_fallback_a_member_is_empty);
    g_test_add_func("/option/a-written-value-reaches-its-member",
                    test_a_written_value_of_each_kind_reaches_its_member);
    g_test_add_func("/option/choices-and-truths-ignore-case", test_choices_and_truths_ignore_case);
    g_test_add_func("/option/zero-and-off", test_zero_and_off_are_taken_where_the_row_says_so);
    g_test_add_func("/option/a-text-may-be-empty", test_a_text_may_be_empty_if_that_is_written);
    g_test_add_func("/option/a-regex-sees-bytes", test_a_regex_sees_bytes);
    g_test_add_func("/option/a-list-may-be-written-as-one-value",
                    test_a_list_may_be_written_as_one_value);
    g_test_add_func("/option/a-map-keeps-the-order-of-the-file",
                    test_a_map_keeps_the_order_of_the_file);
    g_test_add_func("/option/rows-are-instances",
                    test_rows_are_instances_with_fallbacks_of_their_own);
    g_test_add_func("/option/one-row", test_one_row_needs_no_list);
    g_test_add_func("/option/parts-are-left", test_parts_are_left_to_whoever_makes_them);
    g_test_add_func("/option/a-secret-is-the-content-of-its-file",
                    test_a_secret_is_the_content_of_its_file_without_the_last_newline);
    g_test_add_func("/option/a-cleared-instance-is-empty",
                    test_a_cleared_instance_is_empty_and_may_be_cleared_again);
    g_test_add_func("/option/a-fallback-that-is-none",
                    test_a_fallback_that_is_none_stops_the_program_and_names_the_row);
    return g_test_run();
}
