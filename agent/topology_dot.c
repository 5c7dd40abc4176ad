/* topology_dot.c - a configuration as a graph for Graphviz. */
#include "agent/agent_config.h"
#include "agent/agent_route.h"
#include "agent/topology_label.h"

static void
append_quoted(GString *dot, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            g_string_append_c(dot, '\\');
        g_string_append_c(dot, *text);
    }
}

/* The kind is part of the identity: a source and a sink may share a name. */
static void
append_node(GString *dot, const Component *component, const char *shape,
            GPtrArray *lines /* (transfer full) */)
{
    g_autoptr(GPtrArray) label = lines;

    g_string_append_printf(dot, "  \"%s\" [shape=%s, label=\"", component->path, shape);
    for (guint i = 0; i < label->len; i++) {
        append_quoted(dot, g_ptr_array_index(label, i));
        if (i + 1 < label->len)
            g_string_append(dot, "\\n");
    }
    g_string_append(dot, "\"];\n");
}

static void
append_source_edges(GString *dot, const AgentRoute *route)
{
    for (guint i = 0; i < route->channels->len; i++) {
        const Channel *channel = g_ptr_array_index(route->channels, i);

        g_string_append_printf(dot, "  \"%s\" -> \"%s\"%s;\n", route->source->base.path,
                               channel->base.path, i >= route->n_required ? " [style=dashed]" : "");
    }
}

static void
append_group(GString *dot, const SinkGroup *group)
{
    const Component *component = (const Component *) group;
    const GPtrArray *members = sink_group_members(group);

    g_string_append_printf(dot, "  subgraph \"cluster %s\" {\n    label=\"%s, %s\";\n",
                           component->path, component->name, component->type->name);
    for (guint rank = 0; rank < members->len; rank++)
        g_string_append_printf(dot, "    \"%s\";\n",
                               ((const Sink *) g_ptr_array_index(members, rank))->base.path);
    g_string_append(dot, "  }\n");
}

char *
agent_config_to_dot(const AgentConfig *self)
{
    g_autofree char *name = topology_label_clean(self->name);
    GString *dot = g_string_new("digraph \"");

    append_quoted(dot, name);
    g_string_append(dot, "\" {\n  rankdir=LR;\n");
    for (guint i = 0; i < self->routes->len; i++) {
        const AgentRoute *route = g_ptr_array_index(self->routes, i);

        append_node(dot, &route->source->base, "box", topology_label_of_source(route));
    }
    for (guint i = 0; i < self->channels->len; i++) {
        const Channel *channel = g_ptr_array_index(self->channels, i);

        append_node(dot, &channel->base, "cylinder", topology_label_of_channel(channel));
    }
    for (guint i = 0; i < self->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(self->sinks, i);

        append_node(dot, &sink->base, "box", topology_label_of_sink(sink));
    }
    for (guint i = 0; i < self->sink_groups->len; i++)
        append_group(dot, g_ptr_array_index(self->sink_groups, i));
    for (guint i = 0; i < self->routes->len; i++)
        append_source_edges(dot, g_ptr_array_index(self->routes, i));
    for (guint i = 0; i < self->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(self->sinks, i);

        g_string_append_printf(dot, "  \"%s\" -> \"%s\";\n", sink->channel->base.path,
                               sink->base.path);
        if (sink->dead_letter != NULL)
            g_string_append_printf(dot,
                                   "  \"%s\" -> \"%s\" [style=dotted, label=\"dead letters\"];\n",
                                   sink->base.path, sink->dead_letter->base.path);
    }
    g_string_append(dot, "}\n");
    return g_string_free(dot, FALSE);
}
