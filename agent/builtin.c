/* builtin.c - the catalogue as arrays, and how to find a part in it. */
#include "agent/builtin.h"

#include "agent/core/component_report.h"

#define BUILTIN_ENTRY(name) &name.base,

static const ComponentType *const sources[] = { BUILTIN_SOURCES(BUILTIN_ENTRY) NULL };
static const ComponentType *const interceptors[] = { BUILTIN_INTERCEPTORS(BUILTIN_ENTRY) NULL };
static const ComponentType *const selectors[] = { BUILTIN_SELECTORS(BUILTIN_ENTRY) NULL };
static const ComponentType *const channels[] = { BUILTIN_CHANNELS(BUILTIN_ENTRY) NULL };
static const ComponentType *const sinks[] = { BUILTIN_SINKS(BUILTIN_ENTRY) NULL };
static const ComponentType *const registrations[] = { BUILTIN_REGISTRATIONS(BUILTIN_ENTRY) NULL };
static const ComponentType *const sink_groups[] = { &failover_sink_group, &load_balance_sink_group,
                                                    NULL };

static const struct {
    const ComponentType *const *types;
    const OptionSpec *options;
    const MetricSpec *metrics;
} kinds[N_COMPONENT_KINDS] = {
    [COMPONENT_SOURCE] = { sources, source_options, source_metrics },
    [COMPONENT_INTERCEPTOR] = { interceptors, NULL, NULL },
    [COMPONENT_SELECTOR] = { selectors, NULL, NULL },
    [COMPONENT_CHANNEL] = { channels, channel_options, channel_metrics },
    [COMPONENT_SINK] = { sinks, sink_options, sink_metrics },
    [COMPONENT_SINK_GROUP] = { sink_groups, sink_group_options, sink_group_metrics },
    [COMPONENT_REGISTRATION] = { registrations, registration_options, NULL },
};

const ComponentType *const *
builtin_types(ComponentKind kind)
{
    return kinds[kind].types;
}

/* As for choice values: case is ignored and '_' taken for '-'. */
static gboolean
is_same_word(const char *name, const char *word)
{
    gsize i;

    for (i = 0; name[i] != '\0' && word[i] != '\0'; i++) {
        char letter = word[i] == '_' ? '-' : g_ascii_tolower(word[i]);

        if (name[i] != letter)
            return FALSE;
    }
    return name[i] == word[i];
}

const ComponentType *
builtin_find(ComponentKind kind, const char *name)
{
    for (const ComponentType *const *type = kinds[kind].types; *type != NULL; type++)
        if (is_same_word((*type)->name, name))
            return *type;
    return NULL;
}

const OptionSpec *
builtin_kind_options(ComponentKind kind)
{
    return kinds[kind].options;
}

const MetricSpec *
builtin_kind_metrics(ComponentKind kind)
{
    return kinds[kind].metrics;
}

const MetricSpec *
builtin_common_metrics(void)
{
    return component_report_metrics;
}

const char **
builtin_type_names(ComponentKind kind)
{
    GPtrArray *names = g_ptr_array_new();

    for (const ComponentType *const *type = kinds[kind].types; *type != NULL; type++)
        g_ptr_array_add(names, (gpointer) (*type)->name);
    g_ptr_array_add(names, NULL);
    return (const char **) g_ptr_array_free(names, FALSE);
}
