/* part.c - parts of an agent made from a few lines of YAML, for tests. */
#include "tests/support/part.h"

Component *
part_new_with_problems(const ComponentType *type, ComponentKind kind,
                       const OptionSpec *kind_options, const MetricSpec *kind_metrics,
                       const char *yaml, char **ret_problems)
{
    g_autoptr(Problems) problems = problems_new("test");
    g_autofree char *text = g_strdup_printf("{ %s }", yaml);
    g_autoptr(YamlNode) node = yaml_tree_parse(text, strlen(text), problems);
    Component *self =
        component_new(type, kind, kind_options, kind_metrics, "tested", "tested", node, problems);

    component_configure(self, problems);
    *ret_problems = problems_count(problems) > 0 ? problems_to_text(problems) : NULL;
    return self;
}

Component *
part_new(const ComponentType *type, ComponentKind kind, const OptionSpec *kind_options,
         const MetricSpec *kind_metrics, const char *yaml)
{
    g_autofree char *problems = NULL;
    g_autoptr(GError) error = NULL;
    Component *self =
        part_new_with_problems(type, kind, kind_options, kind_metrics, yaml, &problems);

    g_assert_cmpstr(problems, ==, NULL);
    g_assert_true(component_open(self, &error));
    g_assert_no_error(error);
    return self;
}

void
part_free(Component *self)
{
    component_close(self);
    component_free(self);
}
