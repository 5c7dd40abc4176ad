/* describe_man.c - the sections of leat.yaml(5) that tell of options and metrics. */
#include "agent/commands/describe.h"

#include "agent/agent_config.h"
#include "agent/builtin.h"

/* Text of a row as roff: '-' stays a minus, and nothing is taken for a request. */
static void
append_text(GString *roff, const char *text)
{
    if (*text == '.' || *text == '\'')
        g_string_append(roff, "\\&");
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            g_string_append(roff, "\\e");
        else if (*text == '-')
            g_string_append(roff, "\\-");
        else
            g_string_append_c(roff, *text);
    }
}

static void
append_line(GString *roff, const char *text)
{
    append_text(roff, text);
    g_string_append_c(roff, '\n');
}

/* .TP, the name in bold and what is said in parentheses. */
static void
append_term(GString *roff, const char *name, const char *facts)
{
    g_string_append(roff, ".TP\n\\fB");
    append_text(roff, name);
    g_string_append(roff, "\\fR (");
    append_text(roff, facts);
    g_string_append(roff, ")\n");
}

static void
append_options(GString *roff, const OptionSpec *rows)
{
    for (const OptionSpec *row = rows; row != NULL && row->name != NULL; row++) {
        g_autofree char *facts = describe_facts(row);

        append_term(roff, row->name, facts);
        append_line(roff, row->help);
        if (row->kind != OPTION_ROWS)
            continue;
        g_string_append(roff, "Each entry has:\n.RS\n");
        append_options(roff, row->rows);
        g_string_append(roff, ".RE\n");
    }
}

static void
append_metrics(GString *roff, const MetricSpec *rows)
{
    for (const MetricSpec *row = rows; row != NULL && row->name != NULL; row++) {
        g_autofree char *facts = describe_metric_facts(row);
        g_autofree char *help = describe_metric_help(row);

        append_term(roff, row->name, facts);
        append_line(roff, help);
    }
}

static void
append_type(GString *roff, ComponentKind kind, const ComponentType *type)
{
    g_string_append_printf(roff, ".SS %s/", component_kind_name(kind));
    append_line(roff, type->name);
    append_line(roff, type->summary);
    append_options(roff, type->options);
    append_metrics(roff, type->metrics);
}

static void
append_kind(GString *roff, ComponentKind kind)
{
    const char *section = describe_section_of_kind(kind);
    g_autofree char *title = g_ascii_strup(section, -1);
    const OptionSpec *options = builtin_kind_options(kind);
    const MetricSpec *metrics = builtin_kind_metrics(kind);

    g_string_append_printf(roff, ".SH %s\n%c%s %s.\n", title, g_ascii_toupper(section[0]),
                           section + 1, describe_purpose_of_kind(kind));
    if (options != NULL)
        g_string_append_printf(roff, ".SS Options of every %s\n", component_kind_name(kind));
    append_options(roff, options);
    for (const ComponentType *const *type = builtin_types(kind); *type != NULL; type++)
        append_type(roff, kind, *type);
    if (metrics != NULL)
        g_string_append_printf(roff, ".SS Metrics of every %s\n", component_kind_name(kind));
    append_metrics(roff, metrics);
}

char *
describe_as_man(void)
{
    GString *roff = g_string_new(".SH AGENT\nThe agent itself.\n");

    append_options(roff, agent_options);
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++)
        append_kind(roff, kind);
    g_string_append(roff, ".SH METRICS OF EVERY PART\n");
    append_metrics(roff, builtin_common_metrics());
    return g_string_free(roff, FALSE);
}
