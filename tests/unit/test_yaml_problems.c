/* test_yaml_problems.c - what a wrong file is told: every problem, its place and its remedy. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/problems.h"
#include "base/yaml_tree.h"

typedef struct {
    const char *text;
    const char *complaints; /* all of them */
} Row;

static char *
complaints_of(const char *text, gsize length, gboolean *ret_has_tree)
{
    g_autoptr(Problems) problems = problems_new("t");
    g_autoptr(YamlNode) root = yaml_tree_parse(text, length, problems);

    *ret_has_tree = root != NULL;
    return problems_to_text(problems);
}

static void
assert_complaints(const Row *rows, gboolean has_tree)
{
    for (; rows->text != NULL; rows++) {
        gboolean got_tree;
        g_autofree char *complaints = complaints_of(rows->text, strlen(rows->text), &got_tree);

        g_assert_cmpstr(complaints, ==, rows->complaints);
        g_assert_cmpint(got_tree, ==, has_tree);
    }
}

static void
test_all_problems_of_a_file_are_found_at_once(void)
{
    static const Row rows[] = {
        { "a: ${LEAT_NOT}\n"
          "b: { c: 1, c: 2 }\n"
          "d: [x, *nowhere]\n"
          "a: 3\n"
          "e: good\n"
          "---\n"
          "f: g\n",
          "t:1:4: a: the environment variable LEAT_NOT is not set; set it, or write "
          "${LEAT_NOT:-default}\n"
          "t:2:12: b.c: this key is given twice, first in line 2; remove one\n"
          "t:3:8: d[1]: there is no anchor '&nowhere' before this alias; write the value out\n"
          "t:4:1: a: this key is given twice, first in line 1; remove one\n"
          "t:6:1: a second document starts here; keep one in a file\n" },
        { 0 },
    };

    assert_complaints(rows, TRUE);
}

static void
test_a_key_is_a_word_written_once(void)
{
    static const Row rows[] = {
        { "? [a]\n: b\n",
          "t:1:3: a list or a mapping stands where a key is expected; write a name\n" },
        { "x: &x { a: b }\n*x : c\n",
          "t:2:1: a list or a mapping stands where a key is expected; write a name\n" },
        { "x: &x {}\ny: {<<: *x}\n",
          "t:2:5: y.<<: merge keys ('<<') are not supported; write the options out\n" },
        { "\"a\\0\": b\n", "t:1:1: the text holds a NUL (\\0); leave it out\n" },
        { "\"a\": 1\n'a': &n 2\nb: *n\n",
          "t:2:1: a: this key is given twice, first in line 1; remove one\n" },
        { "'<<': a\n", "" },
        { 0 },
    };

    assert_complaints(rows, TRUE);
}

static void
test_an_alias_needs_an_anchor_that_is_complete(void)
{
    static const Row rows[] = {
        { "a: *b\n", "t:1:4: a: there is no anchor '&b' before this alias; write the value out\n" },
        { "a: &b [1, { c: *b }]\n",
          "t:1:16: a[1].c: the alias '*b' stands inside its own anchor; write it out\n" },
        { 0 },
    };

    assert_complaints(rows, TRUE);
}

static void
test_a_tag_that_would_be_ignored_is_refused(void)
{
    static const Row rows[] = {
        { "a: !secret b\n", "t:1:4: a: the tag '!secret' has no meaning here; remove it\n" },
        { "a: !!binary YQ==\n",
          "t:1:4: a: the tag 'tag:yaml.org,2002:binary' has no meaning here; remove it\n" },
        { "a: !set [b]\n", "t:1:4: a: the tag '!set' has no meaning here; remove it\n" },
        { "a: !!str b\nc: !!seq [d]\ne: !!map {}\n", "" },
        { 0 },
    };

    assert_complaints(rows, TRUE);
}

static void
test_a_variable_that_cannot_be_expanded_is_named(void)
{
    static const Row rows[] = {
        { "a: ${LEAT_NOT}${LEAT_NOR}\n",
          "t:1:4: a: the environment variable LEAT_NOT is not set; set it, or write "
          "${LEAT_NOT:-default}\n"
          "t:1:4: a: the environment variable LEAT_NOR is not set; set it, or write "
          "${LEAT_NOR:-default}\n" },
        { "a: ${LEAT_NOT\n",
          "t:1:4: a: '${' has no '}'; close it, or write $${ for the text '${'\n" },
        { "a: ${}\n", "t:1:4: a: '${}' is no variable; write ${NAME} or ${NAME:-default}, or $${ "
                      "for the text '${'\n" },
        { "a: ${1}\n", "t:1:4: a: '${1}' is no variable; write ${NAME} or ${NAME:-default}, or "
                       "$${ for the text '${'\n" },
        { "a: ${A-b}\n", "t:1:4: a: '${A-b}' is no variable; write ${NAME} or ${NAME:-default}, "
                         "or $${ for the text '${'\n" },
        { "a: ${A:-${B}}\n", "t:1:4: a: the default of ${A} holds another variable; a default is "
                             "not expanded\n" },
        { "a: ${LEAT_RAW}\n",
          "t:1:4: a: the environment variable LEAT_RAW is not UTF-8; set it to text\n" },
        { 0 },
    };

    g_setenv("LEAT_RAW", "\xff", TRUE);
    assert_complaints(rows, TRUE);
}

static void
test_variables_cannot_make_a_text_without_end(void)
{
    g_autofree char *value = g_strnfill(100000, 'x');
    g_autoptr(GString) text = g_string_new("a: ");
    g_autofree char *complaints = NULL;
    gboolean has_tree;

    g_setenv("LEAT_LONG", value, TRUE);
    for (guint i = 0; i < 1000; i++)
        g_string_append(text, "${LEAT_LONG}");
    complaints = complaints_of(text->str, text->len, &has_tree);

    g_assert_cmpstr(complaints, ==,
                    "t:1:4: a: the text is longer than 1 MiB once its variables "
                    "are expanded; write a shorter one\n");
}

static void
test_a_file_without_a_mapping_is_refused(void)
{
    static const Row rows[] = {
        { "", "t:1:1: the file is empty; write 'name: value' lines\n" },
        { "# only this\n", "t:2:1: the file is empty; write 'name: value' lines\n" },
        { "---\n", "t:2:1: the file is empty; write 'name: value' lines\n" },
        { "- a\n", "t:1:1: the file is no mapping; write 'name: value' lines\n" },
        { "word\n", "t:1:1: the file is no mapping; write 'name: value' lines\n" },
        { 0 },
    };

    assert_complaints(rows, FALSE);
}

static void
test_a_syntax_error_comes_with_what_to_do_about_it(void)
{
    static const char *const rows[][2] = {
        { "a:\n\tb: c\n", "t:2:1: found character that cannot start any token (while scanning for "
                          "the next token that begins in line 2); indent with spaces" },
        { "a: b\n\tc: d\n", "indent with spaces, not with tabs" },
        { "a: %{host}\n", "t:1:4: found character that cannot start any token" },
        { "a: %{host}\n", "put a value that begins with % @ or ` in quotes" },
        { "a: { b: ${X} }\n", "t:1:10: " },
        { "a: { b: ${X} }\n", "inside { } and [ ] put a value with ${NAME} or %{NAME} in quotes" },
        { "a: { b: /log/%{app} }\n", "t:1:15: " },
        { "a: { b: /log/%{app} }\n", "put a value with ${NAME} or %{NAME} in quotes" },
        { "a: \"\\d+\"\n", "write \\\\ for a backslash, or use single quotes" },
        { "a: *.log\n", "put a value that begins with * or & in quotes" },
        { "a: b: c\n", "t:1:5: mapping values are not allowed in this context; put a value that" },
        { "a: !b!c d\n", "put a value that begins with ! in quotes" },
        { "%YAML 3.0\n---\na: b\n", "write %YAML 1.1 or 1.2" },
        { "a: [b, c\n", "t:2:1: did not find expected ',' or ']' (while parsing a flow sequence "
                        "that begins in line 1); check the indentation, the quotes" },
        { "é: \x01\n", "t:1:4: control characters are not allowed; remove it" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        gboolean has_tree;
        g_autofree char *complaints = complaints_of(rows[i][0], strlen(rows[i][0]), &has_tree);

        g_assert_nonnull(strstr(complaints, rows[i][1]));
        g_assert_false(has_tree);
    }
}

static void
test_bytes_that_are_no_text_are_found_where_they_stand(void)
{
    static const char not_utf8[] = "a: b\nü: x\xff\n";
    static const char raw_nul[] = "a: b\0c\n";
    gboolean has_tree;
    g_autofree char *first = complaints_of(not_utf8, sizeof not_utf8 - 1, &has_tree);
    g_autofree char *second = complaints_of(raw_nul, sizeof raw_nul - 1, &has_tree);

    g_assert_cmpstr(first, ==,
                    "t:2:5: the byte 0xff stands here, which is not UTF-8 text; save "
                    "the file as UTF-8\n");
    g_assert_cmpstr(second, ==,
                    "t:1:5: the byte 0x00 stands here, which is not UTF-8 text; save "
                    "the file as UTF-8\n");
}

static void
assert_load_complains(const char *path, const char *complaint)
{
    g_autoptr(Problems) problems = problems_new("t");
    g_autoptr(YamlNode) root = yaml_tree_load(path, problems);
    g_autofree char *complaints = problems_to_text(problems);

    g_assert_null(root);
    g_assert_nonnull(strstr(complaints, complaint));
}

static void
test_a_file_that_cannot_be_read_says_why(void)
{
    g_autofree char *folder = g_dir_make_tmp("leat-test-XXXXXX", NULL);
    g_autofree char *absent = g_build_filename(folder, "absent.yaml", NULL);
    g_autofree char *huge = g_build_filename(folder, "huge.yaml", NULL);

    g_assert_true(g_file_set_contents(huge, "a: b\n", -1, NULL));
    g_assert_cmpint(truncate(huge, 16 * 1024 * 1024 + 1), ==, 0);

    assert_load_complains(absent, "t: the file cannot be read: No such file or directory; ");
    assert_load_complains(folder, "t: the file cannot be read: Is a directory; ");
    assert_load_complains(huge, "t: the file cannot be read: is larger than 16 MiB; ");
    assert_load_complains("/dev/zero", "t: the file cannot be read: is larger than 16 MiB; ");

    g_remove(huge);
    g_rmdir(folder);
}

static void
test_a_good_file_is_loaded(void)
{
    g_autofree char *folder = g_dir_make_tmp("leat-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "agent.yaml", NULL);
    g_autoptr(Problems) problems = problems_new(path);
    g_autoptr(YamlNode) root = NULL;

    g_assert_true(g_file_set_contents(path, "a: b\n", -1, NULL));
    root = yaml_tree_load(path, problems);

    g_assert_cmpstr(yaml_node_get(root, "a")->text, ==, "b");
    g_remove(path);
    g_rmdir(folder);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_unsetenv("LEAT_NOT");
    g_unsetenv("LEAT_NOR");
    g_test_add_func("/yaml-problems/all-are-found-at-once",
                    test_all_problems_of_a_file_are_found_at_once);
    g_test_add_func("/yaml-problems/a-key-is-a-word-written-once",
                    test_a_key_is_a_word_written_once);
    g_test_add_func("/yaml-problems/an-alias-needs-an-anchor",
                    test_an_alias_needs_an_anchor_that_is_complete);
    g_test_add_func("/yaml-problems/a-tag-that-would-be-ignored",
                    test_a_tag_that_would_be_ignored_is_refused);
    g_test_add_func("/yaml-problems/a-variable-that-cannot-be-expanded",
                    test_a_variable_that_cannot_be_expanded_is_named);
    g_test_add_func("/yaml-problems/variables-cannot-make-a-text-without-end",
                    test_variables_cannot_make_a_text_without_end);
    g_test_add_func("/yaml-problems/a-file-without-a-mapping",
                    test_a_file_without_a_mapping_is_refused);
    g_test_add_func("/yaml-problems/a-syntax-error-comes-with-a-remedy",
                    test_a_syntax_error_comes_with_what_to_do_about_it);
    g_test_add_func("/yaml-problems/bytes-that-are-no-text",
                    test_bytes_that_are_no_text_are_found_where_they_stand);
    g_test_add_func("/yaml-problems/a-file-that-cannot-be-read",
                    test_a_file_that_cannot_be_read_says_why);
    g_test_add_func("/yaml-problems/a-good-file-is-loaded", test_a_good_file_is_loaded);
    return g_test_run();
}
