/* test_yaml_tree.c - what a tree keeps of a file: texts, places, copies; and how large it may be.
 */
#include "base/yaml_tree.h"

#include <glib.h>
#include <string.h>

#include "base/problems.h"

static YamlNode *
tree_of(const char *text)
{
    g_autoptr(Problems) problems = problems_new("t.yaml");
    YamlNode *root = yaml_tree_parse(text, strlen(text), problems);
    g_autofree char *complaints = problems_to_text(problems);

    g_assert_cmpstr(complaints, ==, "");
    return root;
}

static const YamlNode *
item(const YamlNode *sequence, guint index)
{
    return g_ptr_array_index(sequence->children, index);
}

static void
assert_place(const YamlNode *node, int line, int column)
{
    g_assert_cmpint(node->line, ==, line);
    g_assert_cmpint(node->column, ==, column);
}

static void
test_every_node_and_key_knows_its_line_and_column(void)
{
    g_autoptr(YamlNode) root = tree_of("# comment\n"
                                       "sinks:\n"
                                       "  ärchiv: { größe: 64, list: [a,\n"
                                       "     b] }\n"
                                       "  empty:\n");
    const YamlNode *sinks = yaml_node_get(root, "sinks");
    const YamlNode *archive = yaml_node_get(sinks, "ärchiv");

    assert_place(root, 2, 1);
    assert_place(sinks->key, 2, 1);
    assert_place(sinks, 3, 3);
    assert_place(archive->key, 3, 3);
    assert_place(archive, 3, 11);
    assert_place(yaml_node_get(archive, "größe"), 3, 20);
    assert_place(item(yaml_node_get(archive, "list"), 1), 4, 6);
    assert_place(yaml_node_get(sinks, "empty"), 5, 9);
}

static void
test_a_byte_order_mark_does_not_move_the_columns(void)
{
    g_autoptr(YamlNode) root = tree_of("\xef\xbb\xbf"
                                       "a: b\n");

    assert_place(yaml_node_get(root, "a")->key, 1, 1);
    assert_place(yaml_node_get(root, "a"), 1, 4);
}

static void
test_a_scalar_stays_the_text_that_was_written(void)
{
    static const char *const rows[][2] = {
        { "null", "null" },    { "010", "010" },
        { "yes", "yes" },      { "1e3", "1e3" },
        { "'a ''b'", "a 'b" }, { "\"\\u00e9\\n\"", "é\n" },
        { "!!int 5", "5" },    { "|\n  one\n  two\n", "one\ntwo\n" },
        { "~", "~" },          { "! word", "word" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strconcat("k: ", rows[i][0], NULL);
        g_autoptr(YamlNode) root = tree_of(text);

        g_assert_cmpstr(yaml_node_get(root, "k")->text, ==, rows[i][1]);
    }
}

static void
test_only_a_plain_nothing_counts_as_no_value(void)
{
    g_autoptr(YamlNode) root = tree_of("a:\nb: ~\nc: ''\nd: '~'\ne: null\nf: []\n");

    g_assert_true(yaml_node_is_empty(yaml_node_get(root, "a")));
    g_assert_true(yaml_node_is_empty(yaml_node_get(root, "b")));
    g_assert_false(yaml_node_is_empty(yaml_node_get(root, "c")));
    g_assert_false(yaml_node_is_empty(yaml_node_get(root, "d")));
    g_assert_false(yaml_node_is_empty(yaml_node_get(root, "e")));
    g_assert_false(yaml_node_is_empty(yaml_node_get(root, "f")));
}

static void
test_children_keep_the_order_of_the_file_and_absent_keys_are_absent(void)
{
    g_autoptr(YamlNode) root = tree_of("z: 1\na: 2\nm: [3, 4]\n");

    g_assert_cmpuint(root->children->len, ==, 3);
    g_assert_cmpstr(item(root, 0)->key->text, ==, "z");
    g_assert_cmpstr(item(root, 1)->key->text, ==, "a");
    g_assert_null(yaml_node_get(root, "x"));
    g_assert_null(yaml_node_get(yaml_node_get(root, "m"), "z"));
    g_assert_null(yaml_node_get(yaml_node_get(root, "a"), "z"));
}

static void
test_an_alias_is_a_copy_that_stands_where_it_is_written(void)
{
    g_autoptr(YamlNode) root = tree_of("a: &x { k: [1, 'two'] }\n"
                                       "b: *x\n"
                                       "c: &x again\n"
                                       "? *x\n"
                                       ": *x\n");
    const YamlNode *copy = yaml_node_get(root, "b");

    assert_place(copy, 2, 4);
    g_assert_cmpint(copy->kind, ==, YAML_MAPPING);
    assert_place(yaml_node_get(copy, "k")->key, 1, 9);
    g_assert_cmpstr(item(yaml_node_get(copy, "k"), 1)->text, ==, "two");
    g_assert_true(item(yaml_node_get(copy, "k"), 1)->quoted);
    g_assert_cmpstr(yaml_node_get(root, "again")->text, ==, "again");
    assert_place(yaml_node_get(root, "again")->key, 4, 3);
}

static void
test_variables_are_expanded_in_values_however_quoted(void)
{
    static const char *const rows[][2] = {
        { "${LEAT_A}", "apple" },
        { "'<${LEAT_A}>'", "<apple>" },
        { "\"${LEAT_A}${LEAT_A}\"", "appleapple" },
        { "|-\n  x ${LEAT_A}\n", "x apple" },
        { "${LEAT_NOT:-pear}", "pear" },
        { "${LEAT_A:-pear}", "apple" },
        { "${LEAT_EMPTY}", "" },
        { "${LEAT_EMPTY:-pear}", "pear" },
        { "${LEAT_NOT:-}", "" },
        { "${LEAT_NOT:-a b:-c}", "a b:-c" },
        { "$${LEAT_A}", "${LEAT_A}" },
        { "$$${LEAT_A}", "$${LEAT_A}" },
        { "$LEAT_A $ $$ {x}", "$LEAT_A $ $$ {x}" },
        { "${LEAT_DOLLAR}", "${LEAT_A}" },
        { "[x, \"${LEAT_A}\"]", NULL },
    };

    g_setenv("LEAT_A", "apple", TRUE);
    g_setenv("LEAT_EMPTY", "", TRUE);
    g_setenv("LEAT_DOLLAR", "${LEAT_A}", TRUE);
    g_unsetenv("LEAT_NOT");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strconcat("k: ", rows[i][0], NULL);
        g_autoptr(YamlNode) root = tree_of(text);
        const YamlNode *value = yaml_node_get(root, "k");

        if (value->kind == YAML_SEQUENCE)
            g_assert_cmpstr(item(value, 1)->text, ==, "apple");
        else
            g_assert_cmpstr(value->text, ==, rows[i][1]);
        g_assert_false(yaml_node_is_empty(value));
    }
}

static void
test_variables_are_not_expanded_in_keys(void)
{
    g_autoptr(YamlNode) root = tree_of("${LEAT_NOT}: x\n");

    g_assert_nonnull(yaml_node_get(root, "${LEAT_NOT}"));
}

/* "k: [[[...]]]" with so many brackets. */
static char *
nested(guint levels, const char *core)
{
    g_autofree char *open = g_strnfill(levels, '[');
    g_autofree char *close = g_strnfill(levels, ']');

    return g_strconcat(open, core, close, NULL);
}

static void
assert_too_large(const char *text, const char *complaint)
{
    g_autoptr(Problems) problems = problems_new("t.yaml");
    g_autoptr(YamlNode) root = yaml_tree_parse(text, strlen(text), problems);
    g_autofree char *complaints = problems_to_text(problems);

    g_assert_true(root == NULL || root->kind == YAML_MAPPING);
    g_assert_cmpuint(problems_count(problems), ==, 1);
    g_assert_nonnull(strstr(complaints, complaint));
}

static void
test_a_tree_nests_32_levels_and_no_more(void)
{
    g_autofree char *lists = nested(31, "");
    g_autofree char *half = nested(20, "");
    g_autofree char *alias_in_half = nested(20, "*x");
    g_autofree char *most = g_strconcat("k: ", lists, NULL);
    g_autofree char *more = g_strconcat("k: [", lists, "]\nl: m\n", NULL);
    g_autofree char *by_alias = g_strconcat("a: &x ", half, "\nb: ", alias_in_half, "\n", NULL);
    g_autoptr(YamlNode) root = tree_of(most);

    g_assert_nonnull(root);
    assert_too_large(more, "t.yaml:1:35: k[0]");
    assert_too_large(more, "this nests more than 32 levels");
    assert_too_large(by_alias, "t.yaml:2:24: b[0]");
    assert_too_large(by_alias, "this alias nests more than 32 levels");
}

static void
test_nesting_without_end_is_one_problem_and_no_time(void)
{
    g_autofree char *lists = nested(100000, "");
    g_autofree char *value = g_strconcat("k: ", lists, NULL);
    g_autofree char *key = g_strconcat("? ", lists, NULL);

    assert_too_large(value, "this nests more than 32 levels");
    assert_too_large(key, "a list or a mapping stands where a key is expected");
}

static void
test_a_bomb_of_aliases_is_one_problem_and_no_memory(void)
{
    g_autoptr(GString) bomb = g_string_new("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");

    for (guint i = 1; i < 9; i++) {
        g_string_append_printf(bomb, "a%u: &a%u [", i, i);
        for (guint j = 0; j < 10; j++)
            g_string_append_printf(bomb, "*a%u, ", i - 1);
        g_string_append(bomb, "]\n");
    }

    assert_too_large(bomb->str, "more than 100000 nodes");
}

static void
test_a_long_text_that_is_repeated_is_one_problem_and_no_memory(void)
{
    g_autofree char *megabyte = g_strnfill(1024 * 1024, 'x');
    g_autoptr(GString) text = g_string_new("a: &a ");

    g_string_append_printf(text, "%s\nb: [", megabyte);
    for (guint i = 0; i < 100; i++)
        g_string_append(text, "*a, ");
    g_string_append(text, "]\n");

    assert_too_large(text->str, "64 MiB of text");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/yaml-tree/every-node-knows-its-place",
                    test_every_node_and_key_knows_its_line_and_column);
    g_test_add_func("/yaml-tree/a-byte-order-mark-does-not-move-the-columns",
                    test_a_byte_order_mark_does_not_move_the_columns);
    g_test_add_func("/yaml-tree/a-scalar-stays-the-text-that-was-written",
                    test_a_scalar_stays_the_text_that_was_written);
    g_test_add_func("/yaml-tree/only-a-plain-nothing-counts-as-no-value",
                    test_only_a_plain_nothing_counts_as_no_value);
    g_test_add_func("/yaml-tree/children-keep-the-order-of-the-file",
                    test_children_keep_the_order_of_the_file_and_absent_keys_are_absent);
    g_test_add_func("/yaml-tree/an-alias-is-a-copy",
                    test_an_alias_is_a_copy_that_stands_where_it_is_written);
    g_test_add_func("/yaml-tree/variables-are-expanded-in-values",
                    test_variables_are_expanded_in_values_however_quoted);
    g_test_add_func("/yaml-tree/variables-are-not-expanded-in-keys",
                    test_variables_are_not_expanded_in_keys);
    g_test_add_func("/yaml-tree/nests-32-levels", test_a_tree_nests_32_levels_and_no_more);
    g_test_add_func("/yaml-tree/nesting-without-end",
                    test_nesting_without_end_is_one_problem_and_no_time);
    g_test_add_func("/yaml-tree/a-bomb-of-aliases",
                    test_a_bomb_of_aliases_is_one_problem_and_no_memory);
    g_test_add_func("/yaml-tree/a-long-text-repeated",
                    test_a_long_text_that_is_repeated_is_one_problem_and_no_memory);
    return g_test_run();
}
