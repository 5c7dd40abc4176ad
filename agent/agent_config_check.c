/* agent_config_check.c - what is wrong between parts that are right by themselves. */
#include "agent/agent_config_check.h"

#include <gio/gio.h>
#include <string.h>

#include "agent/agent_config_sinks.h"
#include "agent/agent_part.h"
#include "agent/agent_route.h"
#include "base/quantity.h"

/* ---- addresses ---- */

static gboolean
is_address_of_name(GInetAddress *address, const char *name)
{
    return g_inet_address_get_is_any(address) ||
           (g_ascii_strcasecmp(name, "localhost") == 0 && g_inet_address_get_is_loopback(address));
}

/* Whether a socket cannot listen on both. A name is not looked up. */
static gboolean
endpoints_collide(const Endpoint *a, const Endpoint *b)
{
    g_autoptr(GInetAddress) address_a = NULL;
    g_autoptr(GInetAddress) address_b = NULL;

    if (a->port != b->port || a->port == 0)
        return FALSE;
    if (a->host[0] == '\0' || b->host[0] == '\0' || g_ascii_strcasecmp(a->host, b->host) == 0)
        return TRUE;
    address_a = g_inet_address_new_from_string(a->host);
    address_b = g_inet_address_new_from_string(b->host);
    if (address_a != NULL && address_b != NULL)
        return g_inet_address_get_family(address_a) == g_inet_address_get_family(address_b) &&
               (g_inet_address_equal(address_a, address_b) ||
                g_inet_address_get_is_any(address_a) || g_inet_address_get_is_any(address_b));
    if (address_a != NULL)
        return is_address_of_name(address_a, b->host);
    return address_b != NULL && is_address_of_name(address_b, a->host);
}

static const Endpoint *
source_address(const Source *source)
{
    return source_type(source)->listens_on != NULL ? source_type(source)->listens_on(source) : NULL;
}

/* Adds a problem if the source cannot listen because another does. */
static void
check_listeners(const Source *source, const char *other_path, const Endpoint *taken,
                Problems *problems)
{
    const Endpoint *address = source_address(source);
    g_autofree char *address_text = NULL;
    g_autofree char *taken_text = NULL;

    if (address == NULL || taken == NULL || !endpoints_collide(address, taken))
        return;
    address_text = endpoint_to_text(address);
    taken_text = endpoint_to_text(taken);
    component_problem(&source->base, problems, "listen",
                      "'%s' is taken, as %s listens on '%s'; choose another port", address_text,
                      other_path, taken_text);
}

static void
check_address(const AgentConfig *self, guint index, Problems *problems)
{
    const Source *source = g_ptr_array_index(self->sources, index);

    check_listeners(source, "agent.http", self->http, problems);
    for (guint i = 0; i < index; i++) {
        const Source *other = g_ptr_array_index(self->sources, i);

        check_listeners(source, other->base.path, source_address(other), problems);
    }
}

/* ---- folders ---- */

static const char *
channel_folder(const Channel *channel)
{
    return channel_type(channel)->keeps_in != NULL ? channel_type(channel)->keeps_in(channel)
                                                   : NULL;
}

/* A symbolic link is not looked at: the lock in the folder is there for that. */
static gboolean
is_same_folder(const char *a, const char *b)
{
    g_autofree char *whole_a = g_canonicalize_filename(a, NULL);
    g_autofree char *whole_b = g_canonicalize_filename(b, NULL);

    return strcmp(whole_a, whole_b) == 0;
}

/* Adds a problem if a channel before it has the same folder. */
static void
check_folder(const AgentConfig *self, guint index, Problems *problems)
{
    const Channel *channel = g_ptr_array_index(self->channels, index);
    const char *folder = channel_folder(channel);

    for (guint i = 0; folder != NULL && i < index; i++) {
        const Channel *other = g_ptr_array_index(self->channels, i);
        const char *taken = channel_folder(other);

        if (taken == NULL || !is_same_folder(folder, taken))
            continue;
        component_problem(&channel->base, problems, "directory",
                          "'%s' is taken, as %s keeps its events in '%s'; each channel needs a "
                          "directory of its own",
                          folder, other->base.path, taken);
        return;
    }
}

/* ---- what fits into what ---- */

/* Shown where the user wrote the smaller number, else where the batch comes from. */
static void
check_fit(const Source *source, const Channel *channel, gsize largest, Problems *problems)
{
    guint64 capacity = channel_byte_capacity(channel);
    g_autofree char *capacity_text = quantity_size_to_text_beside(capacity, largest);
    g_autofree char *largest_text = quantity_size_to_text_beside(largest, capacity);

    if (largest <= capacity)
        return;
    if (yaml_node_get(channel->base.node, "byte-capacity") != NULL)
        component_problem(&channel->base, problems, "byte-capacity",
                          "%s holds less than max-frame (%s) of %s, so that "
                          "a large batch never fits; raise it or lower max-frame",
                          capacity_text, largest_text, source->base.path);
    else
        component_problem(&source->base, problems, "max-frame",
                          "%s is more than the byte-capacity (%s) of %s, "
                          "so that a large batch never fits; lower it or raise byte-capacity",
                          largest_text, capacity_text, channel->base.path);
}

static void
check_fits(const AgentRoute *route, Problems *problems)
{
    const SourceType *type = source_type(route->source);
    gsize largest = type->largest_batch != NULL ? type->largest_batch(route->source) : 0;

    for (guint i = 0; i < route->channels->len; i++)
        check_fit(route->source, g_ptr_array_index(route->channels, i), largest, problems);
}

/* ---- channels at loose ends ---- */

/* Whether all of a section could be read, so that what is not in it is really missing. */
static gboolean
is_section_whole(const YamlNode *root, const char *name)
{
    const YamlNode *section = yaml_node_get(root, name);

    if (section == NULL || section->kind != YAML_MAPPING || section->children->len == 0)
        return FALSE;
    for (guint i = 0; i < section->children->len; i++)
        if (((const YamlNode *) g_ptr_array_index(section->children, i))->kind != YAML_MAPPING)
            return FALSE;
    return TRUE;
}

/* Channels that parts of one kind name, or that a misspelling of theirs, which is a problem
 * already, was probably meant to be. */
typedef struct {
    const char **all; /* names of all channels, NULL-terminated */
    GHashTable *named;
    gboolean any; /* a part that names none may have meant any */
} NamedChannels;

static void
name_channel(NamedChannels *self, const char *name)
{
    const char *meant = g_strv_contains(self->all, name) ? name : problems_nearest(name, self->all);

    if (meant != NULL)
        g_hash_table_add(self->named, (gpointer) meant);
}

static void
name_channels_of_sinks(NamedChannels *self, const AgentConfig *config)
{
    for (guint i = 0; i < config->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(config->sinks, i);

        if (sink->channel_name != NULL)
            name_channel(self, sink->channel_name);
        else
            self->any = TRUE;
    }
}

static void
name_channels_of_sources(NamedChannels *self, const AgentConfig *config)
{
    for (guint i = 0; i < config->sources->len; i++) {
        const Source *source = g_ptr_array_index(config->sources, i);
        GStrv required = source->channel_names;
        GStrv optional = source->optional_channel_names;

        if (required == NULL || required[0] == NULL)
            self->any = TRUE;
        for (guint j = 0; required != NULL && required[j] != NULL; j++)
            name_channel(self, required[j]);
        for (guint j = 0; optional != NULL && optional[j] != NULL; j++)
            name_channel(self, optional[j]);
    }
}

static void
name_channels_of_dead_letters(NamedChannels *self, const AgentConfig *config)
{
    for (guint i = 0; i < config->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(config->sinks, i);

        if (sink->dead_letter_name != NULL)
            name_channel(self, sink->dead_letter_name);
    }
}

static gboolean
is_at_loose_end(const NamedChannels *named, const Channel *channel)
{
    return !named->any && !g_hash_table_contains(named->named, channel->base.name);
}

static void
check_loose_ends(const AgentConfig *self, const YamlNode *root, Problems *problems)
{
    g_autofree const char **names = agent_config_channel_names(self);
    g_autoptr(GHashTable) read_names = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) fed_names = g_hash_table_new(g_str_hash, g_str_equal);
    NamedChannels read = { names, read_names, !is_section_whole(root, "sinks") };
    NamedChannels fed = { names, fed_names, !is_section_whole(root, "sources") };

    name_channels_of_sinks(&read, self);
    name_channels_of_sources(&fed, self);
    name_channels_of_dead_letters(&fed, self);
    for (guint i = 0; i < self->channels->len; i++) {
        const Channel *channel = g_ptr_array_index(self->channels, i);
        const YamlNode *place = agent_part_place(channel->base.node);

        if (is_at_loose_end(&read, channel))
            problems_add(problems, place, channel->base.path,
                         "no sink reads this channel; add one with 'channel: %s' or remove it",
                         channel->base.name);
        /* One that keeps its content may still have some to deliver. */
        if (is_at_loose_end(&fed, channel) && !channel_is_durable(channel))
            problems_add(problems, place, channel->base.path,
                         "no source writes to this channel; name it in the 'channels' of one, or "
                         "as the 'dead-letter' of a sink, or remove it");
    }
}

void
agent_config_check(const AgentConfig *self, const YamlNode *root, Problems *problems)
{
    for (guint i = 0; i < self->sources->len; i++)
        check_address(self, i, problems);
    for (guint i = 0; i < self->channels->len; i++)
        check_folder(self, i, problems);
    for (guint i = 0; i < self->routes->len; i++)
        check_fits(g_ptr_array_index(self->routes, i), problems);
    agent_config_check_dead_letters(self, problems);
    check_loose_ends(self, root, problems);
}
