/* agent_route.c - the way from one source into its channels: interceptors, selector, channels. */
#include "agent/agent_route.h"

#include <string.h>

#include "agent/agent_part.h"

/* ---- channels ---- */

/* One name of a list: unknown ones and repetitions are left out. */
static void
add_channel(AgentRoute *self, const AgentConfig *config, const char *option, guint index,
            const char *name, Problems *problems)
{
    const Component *source = &self->source->base;
    const YamlNode *place = agent_part_place_of_item(source, option, index);
    g_autofree char *path = g_strdup_printf("%s.%s[%u]", source->path, option, index);
    Channel *channel = agent_config_find_channel(config, name, place, path, problems);
    guint position;

    if (channel == NULL)
        return;
    if (g_ptr_array_find(self->channels, channel, &position)) {
        if (strcmp(option, "channels") != 0 && position < self->n_required)
            problems_add(problems, place, path,
                         "channel '%s' is both required and optional; name it in one list", name);
        else
            problems_add(problems, place, path, "channel '%s' is named twice; name it once", name);
        return;
    }
    g_ptr_array_add(self->channels, channel);
}

static void
find_channels(AgentRoute *self, const AgentConfig *config, Problems *problems)
{
    const Component *source = &self->source->base;
    GStrv required = self->source->channel_names;
    GStrv optional = self->source->optional_channel_names;

    for (guint i = 0; required != NULL && required[i] != NULL; i++)
        add_channel(self, config, "channels", i, required[i], problems);
    self->n_required = self->channels->len;
    for (guint i = 0; optional != NULL && optional[i] != NULL; i++)
        add_channel(self, config, "optional-channels", i, optional[i], problems);

    if (self->channels->len <= SELECTOR_MAX_CHANNELS)
        return;
    component_problem(source, problems, "channels",
                      "a source has at most %d channels, required and optional, not %u; split it",
                      SELECTOR_MAX_CHANNELS, self->channels->len);
    g_ptr_array_set_size(self->channels, SELECTOR_MAX_CHANNELS);
    self->n_required = MIN(self->n_required, SELECTOR_MAX_CHANNELS);
}

/* ---- selector and interceptors ---- */

/* The lowest `count` bits. */
static ChannelSet
channel_set_of(guint count)
{
    return count == SELECTOR_MAX_CHANNELS ? ~(ChannelSet) 0 : ((ChannelSet) 1 << count) - 1;
}

static void
configure_selector(AgentRoute *self, Problems *problems)
{
    Selector *selector = self->selector;
    ChannelSet all = channel_set_of(self->channels->len);

    for (guint i = 0; i < self->channels->len; i++) {
        const Channel *channel = g_ptr_array_index(self->channels, i);

        g_ptr_array_add(self->channel_names, channel->base.name);
    }
    g_ptr_array_add(self->channel_names, NULL);

    selector->channel_names = (const char *const *) self->channel_names->pdata;
    selector->n_channels = self->channels->len;
    selector->n_required = self->n_required;
    selector->required = channel_set_of(self->n_required);
    selector->optional = all & ~selector->required;
    component_configure(&selector->base, problems);
}

static void
read_selector(AgentRoute *self, AgentConfig *config, Problems *problems)
{
    const Component *source = &self->source->base;
    const YamlNode *written = yaml_node_get(source->node, "selector");
    g_autofree char *path = g_strconcat(source->path, ".selector", NULL);
    g_autofree char *name = g_strconcat(source->name, ".selector", NULL);
    Component *selector = NULL;

    if (written != NULL)
        selector = agent_part_new(COMPONENT_SELECTOR, name, path, written, problems);
    if (selector == NULL)
        selector = agent_part_new_default_selector(name, path, problems);
    g_ptr_array_add(config->selectors, selector);
    self->selector = (Selector *) selector;
    configure_selector(self, problems);
}

static void
read_interceptors(AgentRoute *self, AgentConfig *config, Problems *problems)
{
    const Component *source = &self->source->base;
    const YamlNode *list = yaml_node_get(source->node, "interceptors");

    if (list == NULL || (list->kind == YAML_SCALAR && list->broken))
        return;
    if (list->kind != YAML_SEQUENCE) {
        component_problem(source, problems, "interceptors",
                          "interceptors are a list; write '[{ type: ... }]'");
        return;
    }
    for (guint i = 0; i < list->children->len; i++) {
        g_autofree char *path = g_strdup_printf("%s.interceptors[%u]", source->path, i);
        g_autofree char *name = g_strdup_printf("%s.interceptors[%u]", source->name, i);
        Component *interceptor = agent_part_new(COMPONENT_INTERCEPTOR, name, path,
                                                g_ptr_array_index(list->children, i), problems);

        if (interceptor == NULL)
            continue;
        component_configure(interceptor, problems);
        g_ptr_array_add(config->interceptors, interceptor);
        g_ptr_array_add(self->interceptors, interceptor);
    }
}

/* ---- the whole ---- */

AgentRoute *
agent_route_new(AgentConfig *config, Source *source, Problems *problems)
{
    AgentRoute *self = g_new0(AgentRoute, 1);

    self->source = source;
    self->interceptors = g_ptr_array_new();
    self->channels = g_ptr_array_new();
    self->channel_names = g_ptr_array_new();
    find_channels(self, config, problems);
    read_selector(self, config, problems);
    read_interceptors(self, config, problems);
    return self;
}

void
agent_route_connect(AgentRoute *self)
{
    self->source->processor = channel_processor_new(
        self->interceptors, self->selector, self->channels, self->n_required, &self->source->base);
    channel_processor_set_intercept_timeout(self->source->processor,
                                            self->source->intercept_timeout_us);
}

void
agent_route_free(AgentRoute *self)
{
    g_clear_pointer(&self->source->processor, channel_processor_free);
    g_ptr_array_unref(self->interceptors);
    g_ptr_array_unref(self->channels);
    g_ptr_array_unref(self->channel_names);
    g_free(self);
}
