/* test_part.c - makes one part for a test from YAML text, as the configuration would. */
#include "tests/support/test_part.h"

#include <string.h>

#include "agent/builtin.h"

Component *
test_part_new(const ComponentType *type, ComponentKind kind, const char *name, const char *yaml)
{
    const char *text = *yaml != '\0' ? yaml : "{}";
    g_autoptr(Problems) problems = problems_new("test.yaml");
    g_autoptr(YamlNode) node = yaml_tree_parse(text, strlen(text), problems);
    g_autofree char *found = NULL;
    Component *component;

    component = component_new(type, kind, builtin_kind_options(kind), builtin_kind_metrics(kind),
                              name, name, node, problems);
    component_configure(component, problems);
    found = problems_to_text(problems);
    g_assert_cmpstr(found, ==, "");
    return component;
}
