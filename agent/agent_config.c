/* agent_config.c - one YAML file into parts: its sections, names and wires. */
#include "agent/agent_config.h"

#include <string.h>

#include "agent/agent_config_check.h"
#include "agent/agent_config_registration.h"
#include "agent/agent_config_sinks.h"
#include "agent/agent_part.h"
#include "agent/agent_route.h"
#include "agent/builtin.h"
#include "base/suggestion.h"

#define NAME_LENGTH_MAX 64

const OptionSpec agent_options[] = {
    { .name = "name",
      OPTION_AT(STRING, AgentConfig, name),
      .fallback_text = "the host name",
      .example = "edge-1",
      .help = "Name of this agent in the topology and in its log." },
    { .name = "shutdown-timeout",
      OPTION_AT(DURATION, AgentConfig, shutdown_timeout_us),
      .fallback = "10s",
      .help = "A stop ends after this time, whatever could not be delivered until then." },
    { .name = "http",
      OPTION_AT(LISTEN, AgentConfig, http),
      .fallback = "127.0.0.1:41414",
      .off_ok = TRUE,
      .help =
          "Address of /metrics, /metrics.json and /healthz; off disables them, port 0 picks one "
          "and logs it. While it is in use the agent works without, and tries again." },
    { 0 },
};

static const OptionSpec *const agent_tables[] = { agent_options, NULL };

/* ---- sections ---- */

static const char *const section_names[] = { "agent",       "sources",      "channels", "sinks",
                                             "sink-groups", "registration", NULL };

/* The first section that only leat-registry has, if there is none of ours: then all else that could
 * be said misses the point. */
static const YamlNode *
find_section_of_registry(const YamlNode *root)
{
    static const char *const of_registry[] = { "nsqlookupd", "namesrv", NULL };
    const YamlNode *found = NULL;

    for (guint i = root->children->len; i > 0; i--) {
        const YamlNode *section = g_ptr_array_index(root->children, i - 1);

        if (g_strv_contains(section_names, section->key->text))
            return NULL;
        if (g_strv_contains(of_registry, section->key->text))
            found = section;
    }
    return found;
}

static void
check_sections(const YamlNode *root, Problems *problems)
{
    for (guint i = 0; i < root->children->len; i++) {
        const YamlNode *section = g_ptr_array_index(root->children, i);
        const char *name = section->key->text;
        g_autofree char *remedy = NULL;

        if (g_strv_contains(section_names, name))
            continue;
        remedy = suggestion_for(name, section_names, "sections");
        problems_add(problems, section->key, name, "unknown section '%s'; %s", name, remedy);
    }
}

/* NULL and a problem if the section is missing, empty or no mapping. Sink groups may be missing. */
static const YamlNode *
find_section(const YamlNode *root, const char *name, ComponentKind kind, Problems *problems)
{
    const char *kind_name = component_kind_name(kind);
    const char *type_key = component_kind_type_key(kind);
    const YamlNode *section = yaml_node_get(root, name);

    if (section == NULL && kind == COMPONENT_SINK_GROUP)
        return NULL;
    if (section == NULL) {
        problems_add_at(problems, 0, 0, name,
                        "the section is missing; an agent needs a %s, add '%s:' with one",
                        kind_name, name);
        return NULL;
    }
    if (section->kind == YAML_MAPPING && section->children->len > 0)
        return section;
    if (section->kind == YAML_SCALAR && section->broken)
        return NULL;
    if (section->kind == YAML_SEQUENCE)
        problems_add(problems, agent_part_place(section), name,
                     "a list has no names; write '%s-name: { %s: ... }' for each %s", kind_name,
                     type_key, kind_name);
    else
        problems_add(problems, agent_part_place(section), name,
                     "the section has no %s; write '%s-name: { %s: ... }' below it", kind_name,
                     kind_name, type_key);
    return NULL;
}

static void
check_name(const YamlNode *key, const char *path, Problems *problems)
{
    const char *name = key->text;

    if (name[0] == '\0' ||
        strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-") < strlen(name))
        problems_add(problems, key, path,
                     "'%s' is not a name; use letters, digits, '_', '.' and '-'", name);
    else if (strlen(name) > NAME_LENGTH_MAX)
        problems_add(problems, key, path, "the name has %u characters; use at most %d",
                     (guint) strlen(name), NAME_LENGTH_MAX);
}

static void
read_section(GPtrArray *parts, const YamlNode *root, const char *section_name, ComponentKind kind,
             Problems *problems)
{
    const YamlNode *section = find_section(root, section_name, kind, problems);

    for (guint i = 0; section != NULL && i < section->children->len; i++) {
        const YamlNode *node = g_ptr_array_index(section->children, i);
        const char *name = node->key->text;
        g_autofree char *path = g_strdup_printf("%s.%s", section_name, name);
        Component *part;

        check_name(node->key, path, problems);
        part = agent_part_new(kind, name, path, node, problems);
        if (part != NULL)
            g_ptr_array_add(parts, part);
    }
}

static void
read_agent(AgentConfig *self, const YamlNode *root, Problems *problems)
{
    options_apply(agent_tables, yaml_node_get(root, "agent"), self, "agent", problems);
    if (self->name == NULL)
        self->name = g_strdup(g_get_host_name());
}

/* ---- wires ---- */

const char **
agent_config_channel_names(const AgentConfig *self)
{
    const char **names = g_new0(const char *, self->channels->len + 1);

    for (guint i = 0; i < self->channels->len; i++)
        names[i] = ((const Channel *) g_ptr_array_index(self->channels, i))->base.name;
    return names;
}

Channel *
agent_config_find_channel(const AgentConfig *self, const char *name, const YamlNode *where,
                          const char *path, Problems *problems)
{
    g_autofree const char **names = agent_config_channel_names(self);
    g_autofree char *remedy = NULL;

    for (guint i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return g_ptr_array_index(self->channels, i);
    if (names[0] == NULL) /* which is a problem already */
        return NULL;
    remedy = suggestion_for(name, names, "channels");
    problems_add(problems, where, path, "there is no channel '%s'; %s", name, remedy);
    return NULL;
}

static void
wire_sources(AgentConfig *self, Problems *problems)
{
    for (guint i = 0; i < self->sources->len; i++) {
        Source *source = g_ptr_array_index(self->sources, i);

        g_ptr_array_add(self->routes, agent_route_new(self, source, problems));
    }
}

static void
configure_all(GPtrArray *parts, Problems *problems)
{
    for (guint i = 0; i < parts->len; i++)
        component_configure(g_ptr_array_index(parts, i), problems);
}

/* ---- the whole ---- */

static AgentConfig *
agent_config_new(void)
{
    AgentConfig *self = g_new0(AgentConfig, 1);
    GDestroyNotify free_part = (GDestroyNotify) component_free;

    self->channels = g_ptr_array_new_with_free_func(free_part);
    self->sources = g_ptr_array_new_with_free_func(free_part);
    self->sinks = g_ptr_array_new_with_free_func(free_part);
    self->sink_groups = g_ptr_array_new_with_free_func(free_part);
    self->interceptors = g_ptr_array_new_with_free_func(free_part);
    self->selectors = g_ptr_array_new_with_free_func(free_part);
    self->registrations = g_ptr_array_new_with_free_func(free_part);
    self->routes = g_ptr_array_new_with_free_func((GDestroyNotify) agent_route_free);
    return self;
}

void
agent_config_free(AgentConfig *self)
{
    if (self == NULL)
        return;
    g_ptr_array_unref(self->routes); /* their processors look at all the rest */
    g_ptr_array_unref(self->registrations);
    g_ptr_array_unref(self->sources);
    g_ptr_array_unref(self->selectors);
    g_ptr_array_unref(self->interceptors);
    g_ptr_array_unref(self->sinks);
    g_ptr_array_unref(self->sink_groups);
    g_ptr_array_unref(self->channels);
    options_clear(agent_tables, self);
    g_free(self);
}

/* Takes the tree; NULL, if there is none because it has problems, gives NULL. */
static AgentConfig *
agent_config_from_tree(YamlNode *tree, Problems *problems)
{
    g_autoptr(YamlNode) root = tree;
    g_autoptr(AgentConfig) self = agent_config_new();
    const YamlNode *of_registry = root != NULL ? find_section_of_registry(root) : NULL;

    if (root == NULL)
        return NULL;
    if (of_registry != NULL) {
        problems_add(problems, of_registry->key, of_registry->key->text,
                     "this is a file of leat-registry, not of an agent; give it to leat-registry");
        return NULL;
    }
    check_sections(root, problems);
    read_agent(self, root, problems);
    read_section(self->channels, root, "channels", COMPONENT_CHANNEL, problems);
    read_section(self->sinks, root, "sinks", COMPONENT_SINK, problems);
    read_section(self->sources, root, "sources", COMPONENT_SOURCE, problems);
    read_section(self->sink_groups, root, "sink-groups", COMPONENT_SINK_GROUP, problems);
    agent_config_wire_sinks(self, problems);
    wire_sources(self, problems);
    agent_config_read_registration(self, root, problems);
    agent_config_check(self, root, problems);
    configure_all(self->channels, problems);
    configure_all(self->sinks, problems);
    configure_all(self->sink_groups, problems);
    configure_all(self->sources, problems);
    agent_config_configure_registrations(self, problems);
    if (problems_count(problems) > 0)
        return NULL;
    for (guint i = 0; i < self->routes->len; i++)
        agent_route_connect(g_ptr_array_index(self->routes, i));
    return g_steal_pointer(&self);
}

AgentConfig *
agent_config_load(const char *path, Problems *problems)
{
    return agent_config_from_tree(yaml_tree_load(path, problems), problems);
}

AgentConfig *
agent_config_parse(const char *text, gsize length, Problems *problems)
{
    return agent_config_from_tree(yaml_tree_parse(text, length, problems), problems);
}
