/* test_builtin.c - every part of the catalogue keeps the rules that help, schema and manual rely
 * on.
 */
#include "agent/builtin.h"

#include <string.h>

#include "agent/agent_config.h"

static gboolean
is_kebab_case(const char *name)
{
    return name[0] != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static void
check_row(const char *where, const OptionSpec *row)
{
    const char *last = row->help != NULL ? row->help + strlen(row->help) - 1 : "";

    g_test_message("%s: %s", where, row->name);
    g_assert_true(is_kebab_case(row->name));
    g_assert_cmpstr(row->name, !=, "type");
    g_assert_cmpint(*last, ==, '.');
    g_assert_true(row->example != NULL || row->fallback != NULL);
    g_assert_false(row->required && row->fallback != NULL);
    if (row->kind == OPTION_ROWS)
        for (const OptionSpec *member = row->rows; member->name != NULL; member++)
            g_assert_nonnull(member->help);
}

static void
check_metrics(const MetricSpec *rows)
{
    for (; rows != NULL && rows->name != NULL; rows++) {
        g_test_message("%s", rows->name);
        g_assert_true(g_str_has_prefix(rows->name, "leat_"));
        g_assert_cmpint(rows->help[strlen(rows->help) - 1], ==, '.');
        g_assert_true(g_str_has_suffix(rows->name, "_total") == (rows->kind == METRIC_COUNTER));
        g_assert_true(rows->label != NULL || rows->values == NULL);
        g_assert_true(rows->label == NULL || rows->values != NULL ||
                      g_str_equal(rows->label, "peer"));
    }
}

static void
check_type(ComponentKind kind, const ComponentType *type)
{
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    const OptionSpec *const tables[] = { builtin_kind_options(kind), type->options };

    g_assert_true(is_kebab_case(type->name));
    g_assert_cmpint(type->summary[strlen(type->summary) - 1], ==, '.');
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
        for (const OptionSpec *row = tables[i]; row != NULL && row->name != NULL; row++) {
            check_row(type->name, row);
            g_assert_true(g_hash_table_add(names, (gpointer) row->name));
        }
    check_metrics(type->metrics);
}

static void
test_every_row_has_a_name_a_value_to_show_and_a_sentence(void)
{
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++) {
        for (const ComponentType *const *type = builtin_types(kind); *type != NULL; type++)
            check_type(kind, *type);
        check_metrics(builtin_kind_metrics(kind));
    }
    for (const OptionSpec *row = agent_options; row->name != NULL; row++)
        check_row("agent", row);
}

static void
test_types_of_a_kind_are_sorted_and_unique(void)
{
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++) {
        const ComponentType *const *types = builtin_types(kind);

        g_assert_nonnull(types[0]);
        for (guint i = 1; types[i] != NULL; i++)
            g_assert_cmpstr(types[i - 1]->name, <, types[i]->name);
    }
}

static void
test_a_type_is_found_in_any_case_and_with_underscores(void)
{
    const ComponentType *type = builtin_find(COMPONENT_INTERCEPTOR, "regex-filter");

    g_assert_nonnull(type);
    g_assert_true(builtin_find(COMPONENT_INTERCEPTOR, "REGEX_Filter") == type);
    g_assert_null(builtin_find(COMPONENT_INTERCEPTOR, "regex-filte"));
    g_assert_null(builtin_find(COMPONENT_INTERCEPTOR, "regex-filters"));
    g_assert_null(builtin_find(COMPONENT_INTERCEPTOR, ""));
    g_assert_null(builtin_find(COMPONENT_SINK, "regex-filter"));
}

/* What a part makes of nothing: required options are missing, and it must not mind. */
static void
test_every_part_survives_a_mapping_without_options(void)
{
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++) {
        for (const ComponentType *const *type = builtin_types(kind); *type != NULL; type++) {
            g_autoptr(Problems) problems = problems_new("nothing.yaml");
            g_autoptr(YamlNode) nothing = yaml_tree_parse("{}", 2, problems);
            g_autoptr(Component) part =
                component_new(*type, kind, builtin_kind_options(kind), builtin_kind_metrics(kind),
                              "part", "parts.part", nothing, problems);

            component_configure(part, problems);

            g_assert_cmpstr(part->name, ==, "part");
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/builtin/every_row_has_a_name_a_value_to_show_and_a_sentence",
                    test_every_row_has_a_name_a_value_to_show_and_a_sentence);
    g_test_add_func("/builtin/types_of_a_kind_are_sorted_and_unique",
                    test_types_of_a_kind_are_sorted_and_unique);
    g_test_add_func("/builtin/a_type_is_found_in_any_case_and_with_underscores",
                    test_a_type_is_found_in_any_case_and_with_underscores);
    g_test_add_func("/builtin/every_part_survives_a_mapping_without_options",
                    test_every_part_survives_a_mapping_without_options);
    return g_test_run();
}
