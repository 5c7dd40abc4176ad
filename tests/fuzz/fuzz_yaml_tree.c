/* fuzz_yaml_tree.c - any bytes make a sound tree or a problem, and options make sense of either. */
#include <glib.h>
#include <string.h>

#include "base/option.h"
#include "base/problems.h"
#include "base/yaml_tree.h"
#include "tests/fuzz/fuzz_target.h"

typedef struct {
    guint64 count;
} Row;

typedef struct {
    char *string;
    gboolean truth;
    guint64 count;
    guint64 size;
    gint64 duration;
    double ratio;
    guint choice;
    Regex *regex;
    char *path;
    Endpoint *listen;
    GPtrArray *endpoints;
    GStrv names;
    GPtrArray *map;
    GPtrArray *rows;
} Everything;

static const char *const choices[] = { "round-robin", "random", NULL };

static const OptionSpec row_options[] = {
    { .name = "count", OPTION_AT(COUNT, Row, count), .required = TRUE },
    { 0 },
};

static const OptionSpec options[] = {
    { .name = "string", OPTION_AT(STRING, Everything, string), .fallback = "text" },
    { .name = "bool", OPTION_AT(BOOL, Everything, truth), .fallback = "yes" },
    { .name = "count", OPTION_AT(COUNT, Everything, count), .fallback = "5", .max = 9 },
    { .name = "size", OPTION_AT(SIZE, Everything, size), .fallback = "1KiB", .min = 9 },
    { .name = "duration", OPTION_AT(DURATION, Everything, duration), .fallback = "1s" },
    { .name = "ratio", OPTION_AT(RATIO, Everything, ratio), .fallback = "10%" },
    { .name = "choice", OPTION_AT(CHOICE, Everything, choice), .choices = choices },
    { .name = "regex", OPTION_AT(REGEX, Everything, regex), .fallback = "^x" },
    { .name = "path", OPTION_AT(PATH, Everything, path), .fallback = "/" },
    { .name = "listen", OPTION_AT(LISTEN, Everything, listen), .fallback = ":1", .off_ok = TRUE },
    { .name = "endpoints", OPTION_AT(ENDPOINTS, Everything, endpoints), .required = TRUE },
    { .name = "names", OPTION_AT(NAMES, Everything, names), .fallback = "[a, b]" },
    { .name = "map", OPTION_AT(MAP, Everything, map), .value_kind = OPTION_NAMES },
    { .name = "rows",
      OPTION_AT(ROWS, Everything, rows),
      .rows = row_options,
      .row_size = sizeof(Row) },
    { .name = "part", .kind = OPTION_PART },
    { 0 },
};

static const OptionSpec *const tables[] = { options, NULL };

static guint
check_node(const YamlNode *node, guint depth)
{
    guint n_nodes = 1;

    g_assert_cmpint(node->line, >=, 1);
    g_assert_cmpint(node->column, >=, 1);
    if (node->key != NULL)
        n_nodes += check_node(node->key, depth);
    if (node->kind == YAML_SCALAR) {
        g_assert_true(g_utf8_validate(node->text, -1, NULL));
        return n_nodes;
    }
    g_assert_cmpuint(depth, <=, 32);
    for (guint i = 0; i < node->children->len; i++) {
        const YamlNode *child = g_ptr_array_index(node->children, i);

        g_assert_cmpint(child->key != NULL, ==, node->kind == YAML_MAPPING);
        n_nodes += check_node(child, depth + 1);
    }
    return n_nodes;
}

static void
check_problems(Problems *problems)
{
    g_autofree char *text = problems_to_text(problems);
    gsize n_lines = 0;

    g_assert_true(g_utf8_validate(text, -1, NULL));
    for (const char *c = text; *c != '\0'; c++)
        n_lines += *c == '\n';
    g_assert_cmpuint(n_lines, ==, MIN(problems_count(problems), 101));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(Problems) problems = problems_new("fuzz.yaml");
    g_autoptr(YamlNode) root = yaml_tree_parse((const char *) data, size, problems);
    Everything everything;

    if (root == NULL) {
        g_assert_cmpuint(problems_count(problems), >, 0);
    } else {
        g_assert_cmpint(root->kind, ==, YAML_MAPPING);
        g_assert_cmpuint(check_node(root, 1), <=, 100000);
    }
    options_apply(tables, root, &everything, "", problems);
    options_clear(tables, &everything);
    check_problems(problems);
    return 0;
}
