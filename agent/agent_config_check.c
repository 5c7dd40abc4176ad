/* agent_config_check.c - what is wrong between parts that are right by themselves. */
#include "agent/agent_config_check.h"

#include <gio/gio.h>
#include <string.h>

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

/* ---- what fits into what ---- */

/* Shown where the user wrote the smaller number, else where the batch comes from. */
static void
check_fit(const Source *source, const Channel *channel, gsize largest, Problems *problems)
{
    guint64 capacity = channel_byte_capacity(channel);
    g_autofree char *capacity_text = quantity_size_to_text(capacity);

    if (largest <= capacity)
        return;
    if (yaml_node_get(channel->base.node, "byte-capacity") != NULL)
        component_problem(&channel->base, problems, "byte-capacity",
                          "%s holds less than max-frame (%" G_GSIZE_FORMAT " bytes) of %s, so that "
                          "a large batch never fits; raise it or lower max-frame",
                          capacity_text, largest, source->base.path);
    else
        component_problem(&source->base, problems, "max-frame",
                          "%" G_GSIZE_FORMAT " bytes are more than the byte-capacity (%s) of %s, "
                          "so that a large batch never fits; lower it or raise byte-capacity",
                          largest, capacity_text, channel->base.path);
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

/* Whether the name is this channel's, or may be meant so: a missing one and a misspelling are
 * problems already. */
static gboolean
is_meant(const AgentConfig *self, const char *name, const Channel *channel)
{
    g_autofree const char **names = agent_config_channel_names(self);
    const char *nearest;

    if (name == NULL || strcmp(name, channel->base.name) == 0)
        return TRUE;
    if (g_strv_contains(names, name))
        return FALSE;
    nearest = problems_nearest(name, names);
    return nearest != NULL && strcmp(nearest, channel->base.name) == 0;
}

static gboolean
is_read(const AgentConfig *self, const Channel *channel)
{
    for (guint i = 0; i < self->sinks->len; i++)
        if (is_meant(self, ((const Sink *) g_ptr_array_index(self->sinks, i))->channel_name,
                     channel))
            return TRUE;
    return FALSE;
}

static gboolean
is_any_meant(const AgentConfig *self, GStrv names, const Channel *channel)
{
    for (guint i = 0; names != NULL && names[i] != NULL; i++)
        if (is_meant(self, names[i], channel))
            return TRUE;
    return FALSE;
}

static gboolean
is_fed(const AgentConfig *self, const Channel *channel)
{
    for (guint i = 0; i < self->sources->len; i++) {
        const Source *source = g_ptr_array_index(self->sources, i);

        if (source->channel_names == NULL || source->channel_names[0] == NULL ||
            is_any_meant(self, source->channel_names, channel) ||
            is_any_meant(self, source->optional_channel_names, channel))
            return TRUE;
    }
    return FALSE;
}

static void
check_channel(const AgentConfig *self, const Channel *channel, const YamlNode *root,
              Problems *problems)
{
    const YamlNode *place = agent_part_place(channel->base.node);
    const char *name = channel->base.name;

    if (is_section_whole(root, "sinks") && !is_read(self, channel))
        problems_add(problems, place, channel->base.path,
                     "no sink reads this channel; add one with 'channel: %s' or remove it", name);
    /* One that keeps its content may still have some to deliver. */
    if (!channel_is_durable(channel) && is_section_whole(root, "sources") && !is_fed(self, channel))
        problems_add(problems, place, channel->base.path,
                     "no source writes to this channel; name it in the 'channels' of one or "
                     "remove it");
}

void
agent_config_check(const AgentConfig *self, const YamlNode *root, Problems *problems)
{
    for (guint i = 0; i < self->sources->len; i++)
        check_address(self, i, problems);
    for (guint i = 0; i < self->routes->len; i++)
        check_fits(g_ptr_array_index(self->routes, i), problems);
    for (guint i = 0; i < self->channels->len; i++)
        check_channel(self, g_ptr_array_index(self->channels, i), root, problems);
}
