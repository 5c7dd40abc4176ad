/* agent_part.c - a mapping with a `type` as a part of the agent. */
#include "agent/agent_part.h"

#include <string.h>

#include "agent/builtin.h"
#include "base/suggestion.h"

#define DEFAULT_SELECTOR "replicating"

/* Stand in for a type that does not exist: the options of the kind are checked all the same, and
 * what refers to the part finds it. They never run, as the configuration is refused. */
static const SourceType unknown_source = {
    .base = { .name = "unknown", .instance_size = sizeof(Source) },
};
static const InterceptorType unknown_interceptor = {
    .base = { .name = "unknown", .instance_size = sizeof(Interceptor) },
};
static const SelectorType unknown_selector = {
    .base = { .name = "unknown", .instance_size = sizeof(Selector) },
};
static const ChannelType unknown_channel = {
    .base = { .name = "unknown", .instance_size = sizeof(Channel) },
};
static const SinkType unknown_sink = {
    .base = { .name = "unknown", .instance_size = sizeof(Sink) },
};

static const GPtrArray *
no_addresses(const Registration *self G_GNUC_UNUSED)
{
    return NULL;
}

static const RegistrationType unknown_registration = {
    .base = { .name = "unknown", .instance_size = sizeof(Registration) },
    .addresses = no_addresses,
};

static const ComponentType *const unknown_types[N_COMPONENT_KINDS] = {
    [COMPONENT_SOURCE] = &unknown_source.base,
    [COMPONENT_INTERCEPTOR] = &unknown_interceptor.base,
    [COMPONENT_SELECTOR] = &unknown_selector.base,
    [COMPONENT_CHANNEL] = &unknown_channel.base,
    [COMPONENT_SINK] = &unknown_sink.base,
    [COMPONENT_SINK_GROUP] = &load_balance_sink_group,
    [COMPONENT_REGISTRATION] = &unknown_registration.base,
};

const YamlNode *
agent_part_place(const YamlNode *node)
{
    return node->key != NULL ? node->key : node;
}

/* The type that a mapping names, or NULL and a problem. */
static const ComponentType *
read_type(ComponentKind kind, const char *path, const YamlNode *node, Problems *problems)
{
    const char *key = component_kind_type_key(kind);
    const YamlNode *written = yaml_node_get(node, key);
    g_autofree const char **names = builtin_type_names(kind);
    g_autofree char *plural = g_strdup_printf("%s types", component_kind_name(kind));
    g_autofree char *type_path = g_strconcat(path, ".", key, NULL);
    g_autofree char *remedy = NULL;
    const ComponentType *type;

    if (written == NULL && kind == COMPONENT_SELECTOR)
        return builtin_find(kind, DEFAULT_SELECTOR);
    if (written != NULL && written->kind == YAML_SCALAR && written->broken)
        return NULL;
    if (written == NULL || written->kind != YAML_SCALAR || yaml_node_is_empty(written)) {
        remedy = suggestion_list(names, plural);
        problems_add(problems, written != NULL ? written : agent_part_place(node), path,
                     "the %s is missing; add '%s: ...', %s", key, key, remedy);
        return NULL;
    }
    type = builtin_find(kind, written->text);
    if (type != NULL)
        return type;
    remedy = suggestion_for(written->text, names, plural);
    problems_add(problems, written, type_path, "there is no %s of %s '%s'; %s",
                 component_kind_name(kind), key, written->text, remedy);
    return NULL;
}

static gboolean
has_row(const OptionSpec *rows, const char *name)
{
    for (; rows != NULL && rows->name != NULL; rows++)
        if (strcmp(rows->name, name) == 0)
            return TRUE;
    return FALSE;
}

/* What is for the part to read: all but the type, which no row describes, and of an unknown type
 * the options of its kind. (transfer container) */
static GPtrArray *
children_to_read(const YamlNode *node, ComponentKind kind, gboolean kind_only)
{
    const OptionSpec *kind_rows = builtin_kind_options(kind);
    const char *type_key = component_kind_type_key(kind);
    GPtrArray *children = g_ptr_array_new();

    for (guint i = 0; i < node->children->len; i++) {
        YamlNode *value = g_ptr_array_index(node->children, i);

        if (kind_only ? has_row(kind_rows, value->key->text)
                      : strcmp(value->key->text, type_key) != 0)
            g_ptr_array_add(children, value);
    }
    return children;
}

static Component *
part_from_mapping(ComponentKind kind, const char *name, const char *path, const YamlNode *node,
                  Problems *problems)
{
    const ComponentType *type = read_type(kind, path, node, problems);
    const OptionSpec *kind_rows = builtin_kind_options(kind);
    g_autoptr(GPtrArray) children = children_to_read(node, kind, type == NULL);
    YamlNode to_read = *node;
    Component *self;

    to_read.children = children;
    self = component_new(type != NULL ? type : unknown_types[kind], kind, kind_rows,
                         builtin_kind_metrics(kind), name, path, &to_read, problems);
    self->node = node;
    return self;
}

static void
report_no_mapping(ComponentKind kind, const char *path, const YamlNode *node, Problems *problems)
{
    const ComponentType *type = NULL;

    if (node->kind == YAML_SCALAR && node->broken)
        return;
    if (node->kind == YAML_SCALAR)
        type = builtin_find(kind, node->text);
    problems_add(problems, agent_part_place(node), path,
                 "%s %s is a mapping of options; write '{ %s: %s }' with its options",
                 kind == COMPONENT_INTERCEPTOR ? "an" : "a", component_kind_name(kind),
                 component_kind_type_key(kind), type != NULL ? type->name : "...");
}

Component *
agent_part_new(ComponentKind kind, const char *name, const char *path, const YamlNode *node,
               Problems *problems)
{
    if (node->kind == YAML_MAPPING)
        return part_from_mapping(kind, name, path, node, problems);
    report_no_mapping(kind, path, node, problems);
    return NULL;
}

const YamlNode *
agent_part_place_of_item(const Component *part, const char *option, guint index)
{
    const YamlNode *list = yaml_node_get(part->node, option);

    if (list == NULL)
        return agent_part_place(part->node);
    if (list->kind == YAML_SEQUENCE && index < list->children->len)
        return g_ptr_array_index(list->children, index);
    return list;
}

Component *
agent_part_new_default_selector(const char *name, const char *path, Problems *problems)
{
    return component_new(builtin_find(COMPONENT_SELECTOR, DEFAULT_SELECTOR), COMPONENT_SELECTOR,
                         builtin_kind_options(COMPONENT_SELECTOR),
                         builtin_kind_metrics(COMPONENT_SELECTOR), name, path, NULL, problems);
}
