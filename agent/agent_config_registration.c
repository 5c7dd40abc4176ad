/* agent_config_registration.c - the section `registration`: which source is announced where. */
#include "agent/agent_config_registration.h"

#include <string.h>

#include "agent/agent_part.h"
#include "base/suggestion.h"

#define SECTION "registration"

static gboolean
listens(const Source *source)
{
    return source_type(source)->bound_to != NULL && source_type(source)->listens_on != NULL;
}

/* Names of the sources that listen, NULL-terminated. (transfer container) */
static const char **
listening_names(const AgentConfig *self)
{
    GPtrArray *names = g_ptr_array_new();

    for (guint i = 0; i < self->sources->len; i++) {
        const Source *source = g_ptr_array_index(self->sources, i);

        if (listens(source))
            g_ptr_array_add(names, source->base.name);
    }
    g_ptr_array_add(names, NULL);
    return (const char **) g_ptr_array_free(names, FALSE);
}

static const Source *
find_source(const AgentConfig *self, const char *name)
{
    for (guint i = 0; i < self->sources->len; i++) {
        const Source *source = g_ptr_array_index(self->sources, i);

        if (strcmp(source->base.name, name) == 0)
            return source;
    }
    return NULL;
}

/* The only one that listens. NULL and a problem if it is not the only one. */
static const Source *
only_source(const AgentConfig *self, const Registration *registration, const char *const *names,
            Problems *problems)
{
    g_autofree char *remedy = suggestion_list(names, "sources that listen");

    if (names[0] == NULL)
        component_problem(&registration->base, problems, "source",
                          "no source listens, so that there is none to announce");
    else if (names[1] != NULL)
        component_problem(&registration->base, problems, "source",
                          "the source is missing; add 'source: ...', %s", remedy);
    else
        return find_source(self, names[0]);
    return NULL;
}

/* NULL and a problem, unless that is one already. */
static const Source *
choose_source(const AgentConfig *self, const Registration *registration, Problems *problems)
{
    g_autofree const char **names = listening_names(self);
    const char *name = registration->source_name;
    g_autofree char *remedy = NULL;
    const Source *source;

    if (self->sources->len == 0)
        return NULL;
    if (name == NULL)
        return only_source(self, registration, names, problems);
    source = find_source(self, name);
    if (source != NULL && listens(source))
        return source;
    remedy = suggestion_for(name, names, "sources that listen");
    component_problem(&registration->base, problems, "source",
                      source != NULL ? "source '%s' does not listen; %s"
                                     : "there is no source '%s'; %s",
                      name, remedy);
    return NULL;
}

static void
add_registration(AgentConfig *self, const YamlNode *node, guint index, Problems *problems)
{
    g_autofree char *path = g_strdup_printf(SECTION "[%u]", index);
    Registration *registration =
        (Registration *) agent_part_new(COMPONENT_REGISTRATION, path, path, node, problems);

    if (registration == NULL)
        return;
    g_ptr_array_add(self->registrations, registration);
    registration->agent_name = self->name;
    registration->source = choose_source(self, registration, problems);
}

void
agent_config_read_registration(AgentConfig *self, const YamlNode *root, Problems *problems)
{
    const YamlNode *list = yaml_node_get(root, SECTION);

    if (list == NULL || (list->kind == YAML_SCALAR && list->broken))
        return;
    if (list->kind == YAML_SEQUENCE && list->children->len == 0) {
        problems_add(problems, list, SECTION,
                     "the list is empty; write '- { type: ... }' for each, or leave the section "
                     "out");
        return;
    }
    if (list->kind != YAML_SEQUENCE) {
        problems_add(problems, agent_part_place(list), SECTION,
                     "registrations are a list; write '- { type: ... }' for each");
        return;
    }
    for (guint i = 0; i < list->children->len; i++)
        add_registration(self, g_ptr_array_index(list->children, i), i, problems);
}

/* ---- what must differ ---- */

/* The first registry that both go to, or NULL. */
static const Endpoint *
find_shared_registry(const Registration *a, const Registration *b)
{
    const GPtrArray *of_a = registration_type(a)->addresses(a);
    const GPtrArray *of_b = registration_type(b)->addresses(b);

    return of_a != NULL && of_b != NULL ? endpoints_find_common(of_a, of_b) : NULL;
}

/* Adds a problem at the node if both would take turns at one place in a registry. */
static void
check_differ(const Registration *self, const Registration *before, const YamlNode *node,
             Problems *problems)
{
    const Endpoint *registry = find_shared_registry(self, before);
    g_autofree char *identity = NULL;
    g_autofree char *identity_before = NULL;
    g_autofree char *address = NULL;

    if (self->base.type != before->base.type || registry == NULL)
        return;
    identity = registration_type(self)->identity(self);
    identity_before = registration_type(before)->identity(before);
    if (identity == NULL || g_strcmp0(identity, identity_before) != 0)
        return;
    address = endpoint_to_text(registry);
    problems_add(problems, node, self->base.path,
                 "%s is announced at %s by %s too; leave one of them out, or let them differ",
                 identity, address, before->base.path);
}

void
agent_config_configure_registrations(const AgentConfig *self, Problems *problems)
{
    for (guint i = 0; i < self->registrations->len; i++) {
        Registration *registration = g_ptr_array_index(self->registrations, i);
        const YamlNode *node = registration->base.node;

        component_configure(&registration->base, problems);
        for (guint j = 0; j < i; j++)
            check_differ(registration, self->registrations->pdata[j], node, problems);
    }
}
