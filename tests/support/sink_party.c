/* sink_party.c - three sinks, a, b and c, in a group. */
#include "tests/support/sink_party.h"

#include <string.h>

/* Members are the sinks of the bench. */
static SinkGroup *
group_new(const ComponentType *type, Bench *bench, const char *yaml)
{
    g_autoptr(Problems) problems = problems_new("test.yaml");
    g_autoptr(YamlNode) node = yaml_tree_parse(yaml, strlen(yaml), problems);
    g_autofree char *found = NULL;
    Component *group = component_new(type, COMPONENT_SINK_GROUP, sink_group_options,
                                     sink_group_metrics, "g", "sink-groups.g", node, problems);

    sink_group_set_members((SinkGroup *) group, bench->sinks);
    component_configure(group, problems);
    found = problems_to_text(problems);
    g_assert_cmpstr(found, ==, "");
    return (SinkGroup *) group;
}

Party *
party_new(const ComponentType *type, const char *yaml, const char *options)
{
    Party *self = g_new0(Party, 1);

    self->bench = bench_new_empty();
    bench_add(self->bench, &scripted_sink, "a", options, SCRIPT({ DO_DELIVER, 0 }), NULL);
    bench_add(self->bench, &scripted_sink, "b", options, SCRIPT({ DO_DELIVER, 0 }), NULL);
    bench_add(self->bench, &scripted_sink, "c", options, SCRIPT({ DO_DELIVER, 0 }), NULL);
    self->group = group_new(type, self->bench, yaml);
    return self;
}

void
party_free(Party *self)
{
    bench_free(self->bench);
    component_free((Component *) self->group);
    g_free(self);
}

ScriptedSink *
guest(const Party *self, guint index)
{
    return g_ptr_array_index(self->bench->sinks, index);
}

guint64
group_metric(const SinkGroup *group, SinkGroupMetric metric)
{
    return metric_get(((const Component *) group)->metrics, metric);
}
