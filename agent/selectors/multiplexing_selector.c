/* multiplexing_selector.c - a header's value says into which channels an event goes. */
#include "agent/core/selector.h"
#include "base/suggestion.h"

/* What one value of the header leads to. */
typedef struct {
    ByteSpan value; /* key of the table, borrowed from the option */
    gboolean is_mapped;
    ChannelSet required;
    ChannelSet optional;
} ValueRoute;

typedef struct {
    Selector base;
    char *header;
    GPtrArray *mapping;  /* OptionMapEntry *: value to channels */
    GPtrArray *optional; /* the same */
    GStrv fallback;

    GHashTable *routes; /* ByteSpan * to ValueRoute *, fixed once configured */
    ChannelSet fallback_set;
    ChannelSet always; /* optional channels that get every event */
} MultiplexingSelector;

static const OptionSpec multiplexing_options[] = {
    { .name = "header",
      OPTION_AT(STRING, MultiplexingSelector, header),
      .fallback = "flume.selector.header",
      .help = "The header whose value decides." },
    { .name = "mapping",
      OPTION_AT(MAP, MultiplexingSelector, mapping),
      .value_kind = OPTION_NAMES,
      .fallback_text = "none",
      .example = "{ error: [buffer, audit], debug: [buffer] }",
      .shown = TRUE,
      .help = "The channels for each value." },
    { .name = "default",
      OPTION_AT(NAMES, MultiplexingSelector, fallback),
      .fallback_text = "none",
      .example = "[buffer]",
      .shown = TRUE,
      .help =
          "The channels for events without the header, with a blank one, or with a value that "
          "the mapping does not name; if there are none, such events are dropped and counted." },
    { .name = "optional",
      OPTION_AT(MAP, MultiplexingSelector, optional),
      .value_kind = OPTION_NAMES,
      .fallback_text = "none",
      .example = "{ error: [audit] }",
      .help = "Channels that also get a copy of a value's events if they have room; an optional "
              "channel of the source that is named nowhere here gets a copy of every event." },
    { 0 },
};

/* ---- the table ---- */

static guint
span_hash(gconstpointer key)
{
    const ByteSpan *span = key;
    guint hash = 5381;

    for (gsize i = 0; i < span->length; i++)
        hash = hash * 33 + span->data[i];
    return hash;
}

static gboolean
span_equal(gconstpointer a, gconstpointer b)
{
    return byte_span_equal(*(const ByteSpan *) a, *(const ByteSpan *) b);
}

static gboolean
is_blank(ByteSpan value)
{
    for (gsize i = 0; i < value.length; i++)
        if (!g_ascii_isspace(value.data[i]))
            return FALSE;
    return TRUE;
}

static ValueRoute *
multiplexing_route_for(MultiplexingSelector *self, const char *value)
{
    ByteSpan key = byte_span_of_text(value);
    ValueRoute *route = g_hash_table_lookup(self->routes, &key);

    if (route == NULL) {
        route = g_new0(ValueRoute, 1);
        route->value = key;
        g_hash_table_insert(self->routes, &route->value, route);
    }
    return route;
}

/* ---- configuration ---- */

static void
no_such_channel(MultiplexingSelector *self, const char *option, const char *name,
                Problems *problems)
{
    g_autofree char *remedy =
        suggestion_for(name, self->base.channel_names, "channels of the source");

    component_problem(&self->base.base, problems, option, "the source has no channel '%s'; %s",
                      name, remedy);
}

static ChannelSet
multiplexing_set_of(MultiplexingSelector *self, const char *option, GStrv names, Problems *problems)
{
    ChannelSet set = 0;

    for (char **name = names; name != NULL && *name != NULL; name++) {
        int position = selector_find_channel(&self->base, *name);

        if (position < 0)
            no_such_channel(self, option, *name, problems);
        else
            set |= (ChannelSet) 1 << position;
    }
    return set;
}

/* As above, for what must not be optional. */
static ChannelSet
multiplexing_required_set_of(MultiplexingSelector *self, const char *option, GStrv names,
                             Problems *problems)
{
    ChannelSet set = multiplexing_set_of(self, option, names, problems);

    if ((set & self->base.optional) != 0)
        component_problem(&self->base.base, problems, option,
                          "a channel here is one of the source's optional-channels; list it under "
                          "channels, or here under optional");
    return set;
}

static void
multiplexing_read_mapping(MultiplexingSelector *self, Problems *problems)
{
    for (guint i = 0; self->mapping != NULL && i < self->mapping->len; i++) {
        const OptionMapEntry *entry = g_ptr_array_index(self->mapping, i);
        ValueRoute *route = multiplexing_route_for(self, entry->key);

        if (is_blank(route->value))
            component_problem(&self->base.base, problems, "mapping",
                              "a blank value goes to the default; leave it out here");
        if (entry->names == NULL || *entry->names == NULL)
            component_problem(&self->base.base, problems, "mapping",
                              "'%s' has no channels; name at least one, or leave it out",
                              entry->key);
        route->is_mapped = TRUE;
        route->required = multiplexing_required_set_of(self, "mapping", entry->names, problems);
    }
}

static void
multiplexing_read_optional(MultiplexingSelector *self, Problems *problems)
{
    for (guint i = 0; self->optional != NULL && i < self->optional->len; i++) {
        const OptionMapEntry *entry = g_ptr_array_index(self->optional, i);
        ValueRoute *route = multiplexing_route_for(self, entry->key);

        route->optional = multiplexing_set_of(self, "optional", entry->names, problems);
    }
}

/* Fills in what follows from all rows together. Returns the channels that any row names. */
static ChannelSet
multiplexing_complete_routes(MultiplexingSelector *self)
{
    ChannelSet named = self->fallback_set;
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, self->routes);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        ValueRoute *route = value;

        if (!route->is_mapped)
            route->required = self->fallback_set;
        named |= route->required | route->optional;
        route->optional &= ~route->required;
    }
    return named;
}

static void
multiplexing_configure(Component *component, Problems *problems)
{
    MultiplexingSelector *self = (MultiplexingSelector *) component;
    gsize n_problems = problems_count(problems);
    ChannelSet named;

    self->routes = g_hash_table_new_full(span_hash, span_equal, NULL, g_free);
    self->fallback_set = multiplexing_required_set_of(self, "default", self->fallback, problems);
    multiplexing_read_mapping(self, problems);
    multiplexing_read_optional(self, problems);
    named = multiplexing_complete_routes(self);
    self->always = self->base.optional & ~named;
    if (problems_count(problems) > n_problems)
        return; /* a name that is misspelt is not forgotten as well */
    for (guint i = 0; i < self->base.n_required; i++)
        if ((named >> i & 1) == 0)
            component_problem(component, problems, "mapping",
                              "channel '%s' would get no event; name it in mapping, default or "
                              "optional",
                              self->base.channel_names[i]);
}

static void
multiplexing_finalize(Component *component)
{
    g_clear_pointer(&((MultiplexingSelector *) component)->routes, g_hash_table_unref);
}

/* ---- use ---- */

static void
multiplexing_select(Selector *base, const EventView *event, ChannelSet *ret_required,
                    ChannelSet *ret_optional)
{
    const MultiplexingSelector *self = (const MultiplexingSelector *) base;
    const ValueRoute *route = NULL;
    ByteSpan value;

    if (event_view_find_header(event, byte_span_of_text(self->header), &value) && !is_blank(value))
        route = g_hash_table_lookup(self->routes, &value);
    *ret_required = route != NULL ? route->required : self->fallback_set;
    *ret_optional = self->always | (route != NULL ? route->optional : 0);
}

const SelectorType multiplexing_selector = {
    .base = {
        .name = "multiplexing",
        .summary = "Puts each event into the channels that a header's value stands for.",
        .instance_size = sizeof(MultiplexingSelector),
        .options = multiplexing_options,
        .configure = multiplexing_configure,
        .finalize = multiplexing_finalize,
    },
    .select = multiplexing_select,
};
