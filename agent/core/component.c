/* component.c - makes a part from its type row, and knows the metrics of every live one. */
#include "agent/core/component.h"

#include <string.h>

#include "agent/core/component_report.h"

/* Metric sets of every live component, in the order of their creation. */
static GMutex registry_lock; /* guards registry */
static GPtrArray *registry;

const char *
component_kind_name(ComponentKind kind)
{
    static const char *const names[N_COMPONENT_KINDS] = {
        [COMPONENT_SOURCE] = "source",
        [COMPONENT_INTERCEPTOR] = "interceptor",
        [COMPONENT_SELECTOR] = "selector",
        [COMPONENT_CHANNEL] = "channel",
        [COMPONENT_SINK] = "sink",
        [COMPONENT_SINK_GROUP] = "sink-group",
        [COMPONENT_REGISTRATION] = "registration",
    };

    return names[kind];
}

const char *
component_kind_type_key(ComponentKind kind)
{
    return kind == COMPONENT_SINK_GROUP ? "processor" : "type";
}

static void
registry_add(MetricSet *set)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&registry_lock);

    if (registry == NULL)
        registry = g_ptr_array_new();
    g_ptr_array_add(registry, set);
}

static void
registry_remove(MetricSet *set)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&registry_lock);

    g_ptr_array_remove(registry, set);
    if (registry->len == 0)
        g_clear_pointer(&registry, g_ptr_array_unref);
}

void
components_visit_metrics(void (*visit)(const GPtrArray *sets, gpointer user), gpointer user)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&registry_lock);
    g_autoptr(GPtrArray) none = g_ptr_array_new();

    visit(registry != NULL ? registry : none, user);
}

static MetricSet *
component_add_metrics(const Component *self, const MetricSpec *specs)
{
    MetricSet *set;

    if (specs == NULL)
        return NULL;
    set = metric_set_new(specs, component_kind_name(self->kind), self->type->name, self->name);
    registry_add(set);
    return set;
}

static void
component_drop_metrics(MetricSet *set)
{
    if (set == NULL)
        return;
    registry_remove(set);
    metric_set_free(set);
}

static const OptionSpec *const *
tables_new(const OptionSpec *kind_options, const OptionSpec *type_options)
{
    const OptionSpec **tables = g_new0(const OptionSpec *, 3);
    guint n = 0;

    if (kind_options != NULL)
        tables[n++] = kind_options;
    if (type_options != NULL)
        tables[n++] = type_options;
    return tables;
}

Component *
component_new(const ComponentType *type, ComponentKind kind, const OptionSpec *kind_options,
              const MetricSpec *kind_metrics, const char *name, const char *path,
              const YamlNode *node, Problems *problems)
{
    Component *self = g_malloc0(type->instance_size);

    self->type = type;
    self->kind = kind;
    self->name = g_strdup(name);
    self->path = g_strdup(path);
    self->tables = tables_new(kind_options, type->options);
    self->node = node;
    self->metrics = component_add_metrics(self, kind_metrics);
    self->part_metrics = component_add_metrics(self, type->metrics);
    self->reports = component_add_metrics(self, component_report_metrics);
    self->rate = component_reports_new();
    options_apply(self->tables, node, self, path, problems);
    return self;
}

static guint
count_rows(const MetricSpec *specs)
{
    guint n_rows = 0;

    while (specs[n_rows].name != NULL)
        n_rows++;
    return n_rows;
}

void
component_set_metric_values(Component *self, const char *const *values)
{
    const MetricSpec *specs = metric_set_specs(self->part_metrics);
    MetricSpec *own = g_new(MetricSpec, count_rows(specs) + 1);

    memcpy(own, specs, (count_rows(specs) + 1) * sizeof(MetricSpec));
    self->own_values = g_strdupv((GStrv) values);
    for (MetricSpec *row = own; row->name != NULL; row++)
        if (row->label != NULL && row->values == NULL)
            row->values = (const char *const *) self->own_values;
    component_drop_metrics(self->part_metrics);
    self->part_metrics = component_add_metrics(self, own);
    self->own_specs = own;
}

void
component_rename_metric_value(Component *self, guint row, guint value, const char *name)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&registry_lock);

    g_free(self->own_values[value]);
    self->own_values[value] = g_strdup(name);
    metric_reset_value(self->part_metrics, row, value);
}

void
component_configure(Component *self, Problems *problems)
{
    if (self->type->configure != NULL)
        self->type->configure(self, problems);
    self->node = NULL;
}

void
component_free(Component *self)
{
    if (self == NULL)
        return;
    if (self->type->finalize != NULL)
        self->type->finalize(self);
    options_clear(self->tables, self);
    component_drop_metrics(self->metrics);
    component_drop_metrics(self->part_metrics);
    g_free(self->own_specs);
    g_strfreev(self->own_values);
    component_drop_metrics(self->reports);
    component_reports_free(self->rate);
    g_free((gpointer) self->tables);
    g_free(self->name);
    g_free(self->path);
    g_free(self);
}

gboolean
component_open(Component *self, GError **error)
{
    if (self->type->open == NULL || self->type->open(self, error))
        return TRUE;
    g_prefix_error(error, "%s '%s': ", component_kind_name(self->kind), self->name);
    return FALSE;
}

void
component_close(Component *self)
{
    if (self->type->close != NULL)
        self->type->close(self);
}

void
component_problem(const Component *self, Problems *problems, const char *option, const char *format,
                  ...)
{
    const YamlNode *value = self->node != NULL ? yaml_node_get(self->node, option) : NULL;
    g_autofree char *path = g_strdup_printf("%s.%s", self->path, option);
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    problems_add(problems, value != NULL ? value : self->node, path, "%s", what);
}

gboolean
component_has_problem(const Component *self, const Problems *problems, const char *option)
{
    g_autofree char *path = g_strdup_printf("%s.%s", self->path, option);

    return problems_name(problems, path);
}
