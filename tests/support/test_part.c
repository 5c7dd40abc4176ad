/* test_part.c - makes one part for a test from YAML text, as the configuration would. */
#include "tests/support/test_part.h"

#include <string.h>

#include "agent/builtin.h"

static Component *
test_part_make(const ComponentType *type, ComponentKind kind, const char *name, const char *yaml,
               char **ret_problems)
{
    const char *text = *yaml != '\0' ? yaml : "{}";
    g_autoptr(Problems) problems = problems_new("test.yaml");
    g_autoptr(YamlNode) node = yaml_tree_parse(text, strlen(text), problems);
    Component *component;

    component = component_new(type, kind, builtin_kind_options(kind), builtin_kind_metrics(kind),
                              name, name, node, problems);
    component_configure(component, problems);
    *ret_problems = problems_to_text(problems);
    return component;
}

Component *
test_part_new(const ComponentType *type, ComponentKind kind, const char *name, const char *yaml)
{
    g_autofree char *found = NULL;
    Component *component = test_part_make(type, kind, name, yaml, &found);

    g_assert_cmpstr(found, ==, "");
    return component;
}

Component *
test_part_open(const ComponentType *type, ComponentKind kind, const char *name, const char *yaml)
{
    Component *component = test_part_new(type, kind, name, yaml);
    g_autoptr(GError) error = NULL;

    component_open(component, &error);
    g_assert_no_error(error);
    return component;
}

void
test_part_free(Component *self)
{
    component_close(self);
    component_free(self);
}

char *
test_part_problems(const ComponentType *type, ComponentKind kind, const char *yaml)
{
    char *problems;

    component_free(test_part_make(type, kind, "tested", yaml, &problems));
    return problems;
}
