/* select.c - one selector with its channels, for tests. */
#include "tests/support/select.h"

#include "agent/builtin.h"
#include "agent/core/route.h"
#include "tests/support/events.h"

static ChannelSet
set_of(guint count)
{
    return ((ChannelSet) 1 << count) - 1;
}

/* The names live as long as the selector. */
static void
set_channels(Selector *self, const char *channels)
{
    g_auto(GStrv) parts = g_strsplit(channels, " | ", 2);
    g_auto(GStrv) required = g_strsplit(parts[0], " ", 0);
    g_autofree char *joined = g_strjoinv(" ", parts);
    char **all = g_strsplit(joined, " ", 0);

    self->channel_names = (const char *const *) all;
    self->n_required = g_strv_length(required);
    self->n_channels = g_strv_length(all);
    self->required = set_of(self->n_required);
    self->optional = set_of(self->n_channels) & ~self->required;
}

Selector *
selector_new(const SelectorType *type, const char *channels, const char *yaml, char **ret_problems)
{
    g_autoptr(Problems) problems = problems_new("test.yaml");
    g_autofree char *text = g_strdup_printf("{ %s }", yaml);
    g_autoptr(YamlNode) node = yaml_tree_parse(text, strlen(text), problems);
    g_autofree char *found = NULL;
    Selector *self = (Selector *) component_new(&type->base, COMPONENT_SELECTOR, NULL, NULL,
                                                "tested", "tested", node, problems);

    set_channels(self, channels);
    component_configure(&self->base, problems);
    found = problems_to_text(problems);
    if (ret_problems != NULL) {
        *ret_problems = g_steal_pointer(&found);
    } else {
        g_assert_cmpstr(found, ==, "");
        g_assert_true(component_open(&self->base, NULL));
    }
    return self;
}

void
selector_free(Selector *self)
{
    char **names = (char **) self->channel_names;

    component_free(&self->base);
    g_strfreev(names);
}

/* "a b | c" */
char *
selector_choose(Selector *self, const char *event)
{
    g_autoptr(Batch) batch = batch_of(event, NULL);
    g_auto(Route) route = { 0 };
    GString *text = g_string_new(NULL);

    g_assert_true(route_init(&route, self, batch));
    for (guint i = 0; i < route.targets->len; i++) {
        g_string_append(text, i == route.n_required ? (i > 0 ? " | " : "| ") : i > 0 ? " " : "");
        g_string_append(text, self->channel_names[route_target(&route, i)->position]);
    }
    g_assert_cmpuint(route.n_unrouted, ==, route.targets->len == 0 ? 1 : 0);
    return g_string_free(text, FALSE);
}

char *
selector_route(Selector *self, Batch *batch)
{
    g_auto(Route) route = { 0 };
    GString *text = g_string_new(NULL);

    g_assert_true(route_init(&route, self, batch));
    for (guint i = 0; i < route.targets->len; i++) {
        const RouteTarget *target = route_target(&route, i);
        g_autofree char *events = batch_to_text(target->batch);

        g_string_append_printf(text, "%s%s: %s", i > 0 ? " | " : "",
                               self->channel_names[target->position], events);
    }
    return g_string_free(text, FALSE);
}
