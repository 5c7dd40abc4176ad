/* agent_config_sinks.c - what sinks are wired to: channels, dead letters, groups. */
#include "agent/agent_config_sinks.h"

#include <string.h>

#include "agent/agent_part.h"
#include "base/suggestion.h"

/* ---- channels ---- */

static Channel *
find_channel(const AgentConfig *self, const Sink *sink, const char *option, const char *name,
             Problems *problems)
{
    g_autofree char *path = g_strdup_printf("%s.%s", sink->base.path, option);

    return name == NULL ? NULL
                        : agent_config_find_channel(
                              self, name, yaml_node_get(sink->base.node, option), path, problems);
}

static void
wire_channels(AgentConfig *self, Problems *problems)
{
    for (guint i = 0; i < self->sinks->len; i++) {
        Sink *sink = g_ptr_array_index(self->sinks, i);

        sink->channel = find_channel(self, sink, "channel", sink->channel_name, problems);
        sink->dead_letter =
            find_channel(self, sink, "dead-letter", sink->dead_letter_name, problems);
    }
}

/* ---- groups ---- */

typedef struct {
    const AgentConfig *config;
    GHashTable *sinks;   /* by name */
    GHashTable *grouped; /* sink -> its group */
    const char **names;  /* of all sinks, NULL-terminated */
    Problems *problems;
} Grouping;

/* One name of a group's list. NULL and a problem if it is no sink, or one of a group already. */
static Sink *
find_member(Grouping *self, const SinkGroup *group, const char *name, const YamlNode *place,
            const char *path)
{
    Sink *sink = g_hash_table_lookup(self->sinks, name);
    const Component *other = sink != NULL ? g_hash_table_lookup(self->grouped, sink) : NULL;
    g_autofree char *remedy = NULL;

    if (sink == NULL) {
        remedy = suggestion_for(name, self->names, "sinks");
        problems_add(self->problems, place, path, "there is no sink '%s'; %s", name, remedy);
    } else if (other == (const Component *) group) {
        problems_add(self->problems, place, path, "sink '%s' is named twice; name it once", name);
    } else if (other != NULL) {
        problems_add(self->problems, place, path,
                     "sink '%s' is in group '%s' already; a sink is in one group at most", name,
                     other->name);
    } else {
        g_hash_table_insert(self->grouped, sink, (gpointer) group);
        return sink;
    }
    return NULL;
}

/* A group only gives turns at one channel. */
static void
check_one_channel(const SinkGroup *group, const GPtrArray *members, Problems *problems)
{
    const Sink *first = NULL;

    for (guint i = 0; i < members->len; i++) {
        const Sink *sink = g_ptr_array_index(members, i);

        if (sink->channel == NULL) /* which is a problem already */
            continue;
        if (first == NULL)
            first = sink;
        if (sink->channel == first->channel)
            continue;
        component_problem((const Component *) group, problems, "sinks",
                          "sink '%s' takes from channel '%s' and sink '%s' from '%s'; the sinks of "
                          "a group share one channel",
                          first->base.name, first->channel->base.name, sink->base.name,
                          sink->channel->base.name);
        return;
    }
}

static void
wire_group(Grouping *self, SinkGroup *group)
{
    const Component *component = (const Component *) group;
    const char *const *names = sink_group_sink_names(group);
    g_autoptr(GPtrArray) members = g_ptr_array_new();
    guint n_names = 0;

    for (; names != NULL && names[n_names] != NULL; n_names++) {
        g_autofree char *path = g_strdup_printf("%s.sinks[%u]", component->path, n_names);
        Sink *sink = find_member(self, group, names[n_names],
                                 agent_part_place_of_item(component, "sinks", n_names), path);

        if (sink != NULL)
            g_ptr_array_add(members, sink);
    }
    if (n_names == 1)
        component_problem(component, self->problems, "sinks",
                          "a group of one sink does nothing; add another one or remove the group");
    check_one_channel(group, members, self->problems);
    sink_group_set_members(group, members);
}

static void
wire_groups(AgentConfig *self, Problems *problems)
{
    g_autoptr(GHashTable) sinks = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) grouped = g_hash_table_new(NULL, NULL);
    g_autofree const char **names = g_new0(const char *, self->sinks->len + 1);
    Grouping grouping = { self, sinks, grouped, names, problems };

    for (guint i = 0; i < self->sinks->len; i++) {
        Sink *sink = g_ptr_array_index(self->sinks, i);

        names[i] = sink->base.name;
        g_hash_table_insert(sinks, sink->base.name, sink);
    }
    for (guint i = 0; i < self->sink_groups->len; i++)
        wire_group(&grouping, g_ptr_array_index(self->sink_groups, i));
}

void
agent_config_wire_sinks(AgentConfig *self, Problems *problems)
{
    wire_channels(self, problems);
    wire_groups(self, problems);
}

/* ---- dead letters ---- */

/* Channel -> GPtrArray of the sinks that take from it and have dead letters. */
static GHashTable *
group_by_channel(const AgentConfig *self)
{
    GHashTable *readers =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);

    for (guint i = 0; i < self->sinks->len; i++) {
        Sink *sink = g_ptr_array_index(self->sinks, i);
        GPtrArray *of_channel;

        if (sink->channel == NULL || sink->dead_letter == NULL)
            continue;
        of_channel = g_hash_table_lookup(readers, sink->channel);
        if (of_channel == NULL) {
            of_channel = g_ptr_array_new();
            g_hash_table_insert(readers, sink->channel, of_channel);
        }
        g_ptr_array_add(of_channel, sink);
    }
    return readers;
}

/* "buffer, dead, buffer": from the sink's channel by way of dead letters back to it; NULL if there
 * is no way. came_from: channel -> the channel before it. */
static char *
way_to_text(GHashTable *came_from, const Channel *from)
{
    GString *text = g_string_new(from->base.name);
    const Channel *channel = from;

    do {
        channel = g_hash_table_lookup(came_from, channel);
        g_string_prepend(text, " -> ");
        g_string_prepend(text, channel->base.name);
    } while (channel != from);
    return g_string_free(text, FALSE);
}

static char *
find_way_back(const Sink *sink, GHashTable *readers)
{
    g_autoptr(GHashTable) came_from = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) reached = g_ptr_array_new(); /* channels, in the order to go on from */

    g_hash_table_insert(came_from, sink->dead_letter, sink->channel);
    g_ptr_array_add(reached, sink->dead_letter);
    for (guint next = 0; next < reached->len; next++) {
        Channel *channel = g_ptr_array_index(reached, next);
        const GPtrArray *of_channel = g_hash_table_lookup(readers, channel);

        if (channel == sink->channel)
            return way_to_text(came_from, channel);
        for (guint i = 0; of_channel != NULL && i < of_channel->len; i++) {
            Channel *dead_letter = ((const Sink *) g_ptr_array_index(of_channel, i))->dead_letter;

            if (g_hash_table_contains(came_from, dead_letter))
                continue;
            g_hash_table_insert(came_from, dead_letter, channel);
            g_ptr_array_add(reached, dead_letter);
        }
    }
    return NULL;
}

void
agent_config_check_dead_letters(const AgentConfig *self, Problems *problems)
{
    g_autoptr(GHashTable) readers = group_by_channel(self);

    for (guint i = 0; i < self->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(self->sinks, i);
        g_autofree char *way = NULL;

        if (sink->channel == NULL || sink->dead_letter == NULL)
            continue;
        way = find_way_back(sink, readers);
        if (way != NULL)
            component_problem(&sink->base, problems, "dead-letter",
                              "rejected events would come back to this sink (%s); name a channel "
                              "that leads elsewhere",
                              way);
    }
}
