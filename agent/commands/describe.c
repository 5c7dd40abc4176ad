/* describe.c - `leat describe`: every part and every option, from the rows. */
#include "agent/commands/describe.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent_config.h"
#include "agent/builtin.h"
#include "agent/commands/command.h"
#include "base/suggestion.h"
#include "base/text_wrap.h"

#define NAME_COLUMNS 32
#define TEXT_COLUMNS 80

/* ---- paragraphs ---- */

/* Words of text in lines that start behind indent blanks. */
static void
print_wrapped(guint indent, const char *text)
{
    g_autofree char *margin = g_strnfill(indent, ' ');
    g_autofree char *lines = text_wrap(text, margin, TEXT_COLUMNS);

    fputs(lines, stdout);
}

static void
print_rows(const OptionSpec *rows, guint indent)
{
    for (const OptionSpec *row = rows; row != NULL && row->name != NULL; row++) {
        g_autofree char *facts = describe_facts(row);

        printf("%*s%s (%s)\n", (int) indent, "", row->name, facts);
        print_wrapped(indent + 6, row->help);
        if (row->kind == OPTION_ROWS) {
            print_wrapped(indent + 6, "Each entry has:");
            print_rows(row->rows, indent + 8);
        }
    }
}

static void
print_options(const char *title, const OptionSpec *rows)
{
    if (rows == NULL || rows[0].name == NULL)
        return;
    printf("\n%s:\n", title);
    print_rows(rows, 2);
}

static void
print_metrics(const char *title, const MetricSpec *rows)
{
    if (rows == NULL || rows[0].name == NULL)
        return;
    printf("\n%s:\n", title);
    for (const MetricSpec *row = rows; row->name != NULL; row++) {
        g_autofree char *facts = describe_metric_facts(row);
        g_autofree char *help = describe_metric_help(row);

        printf("  %s (%s)\n", row->name, facts);
        print_wrapped(8, help);
    }
}

/* ---- the three depths ---- */

static void
print_types(ComponentKind kind)
{
    for (const ComponentType *const *type = builtin_types(kind); *type != NULL; type++)
        printf("  %s/%-*s%s\n", component_kind_name(kind),
               (int) (NAME_COLUMNS - strlen(component_kind_name(kind))), (*type)->name,
               (*type)->summary);
}

static int
describe_everything(void)
{
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++) {
        const char *section = describe_section_of_kind(kind);

        printf("%s%c%s %s:\n", kind > 0 ? "\n" : "", g_ascii_toupper(section[0]), section + 1,
               describe_purpose_of_kind(kind));
        print_types(kind);
    }
    printf("\n'leat describe source/thrift' tells everything about one of them, 'leat describe\n"
           "source' what all sources share, 'leat describe agent' the options of the agent.\n");
    return EXIT_OK;
}

static int
describe_kind(ComponentKind kind)
{
    g_autofree char *options =
        g_strdup_printf("Options of every %s, besides its %s", component_kind_name(kind),
                        component_kind_type_key(kind));
    g_autofree char *metrics = g_strdup_printf("Metrics of every %s", component_kind_name(kind));

    printf("%s: %s %s\n\nTypes:\n", component_kind_name(kind), describe_section_of_kind(kind),
           describe_purpose_of_kind(kind));
    print_types(kind);
    print_options(options, builtin_kind_options(kind));
    print_metrics(metrics, builtin_kind_metrics(kind));
    return EXIT_OK;
}

static int
describe_type(ComponentKind kind, const ComponentType *type)
{
    const char *kind_name = component_kind_name(kind);
    g_autofree char *kind_options = g_strdup_printf("Options of every %s", kind_name);
    g_autofree char *kind_metrics = g_strdup_printf("Metrics of every %s", kind_name);
    g_autofree char *own_metrics = g_strdup_printf("Metrics of this %s alone", kind_name);

    printf("%s/%s: %s\n", kind_name, type->name, type->summary);
    print_options("Options", type->options);
    print_options(kind_options, builtin_kind_options(kind));
    print_metrics(own_metrics, type->metrics);
    print_metrics(kind_metrics, builtin_kind_metrics(kind));
    print_metrics("Metrics of every part", builtin_common_metrics());
    return EXIT_OK;
}

static int
describe_agent(void)
{
    printf("agent: the options of the agent itself\n");
    print_options("Options", agent_options);
    return EXIT_OK;
}

/* ---- topics ---- */

/* "sources" is understood as "source". */
static gboolean
find_kind(const char *name, ComponentKind *ret_kind)
{
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++) {
        if (strcmp(name, component_kind_name(kind)) != 0 &&
            strcmp(name, describe_section_of_kind(kind)) != 0)
            continue;
        *ret_kind = kind;
        return TRUE;
    }
    return FALSE;
}

/* "file" alone is understood as what it may be: sink/file. NULL if no kind has such a type. */
static char *
find_type(const char *name)
{
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++) {
        g_autofree const char **types = builtin_type_names(kind);

        if (g_strv_contains(types, name))
            return g_strdup_printf("%s/%s", component_kind_name(kind), name);
    }
    return NULL;
}

static int
unknown_kind(const char *name)
{
    const char *names[N_COMPONENT_KINDS + 2] = { NULL };
    g_autofree char *part = find_type(name);
    g_autofree char *hint = NULL;

    if (part != NULL)
        return command_usage_error(&describe_command, "there is no kind '%s'; did you mean '%s'?",
                                   name, part);
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++)
        names[kind] = component_kind_name(kind);
    names[N_COMPONENT_KINDS] = "agent";
    hint = suggestion_for(name, names, "kinds");
    return command_usage_error(&describe_command, "there is no kind '%s'; %s", name, hint);
}

static int
unknown_type(ComponentKind kind, const char *name)
{
    g_autofree const char **names = builtin_type_names(kind);
    g_autofree char *plural = g_strdup_printf("%s types", component_kind_name(kind));
    g_autofree char *hint = suggestion_for(name, names, plural);

    return command_usage_error(&describe_command, "there is no %s of type '%s'; %s",
                               component_kind_name(kind), name, hint);
}

static int
describe_topic(const char *topic)
{
    g_auto(GStrv) words = g_strsplit(topic, "/", 2);
    const ComponentType *type;
    ComponentKind kind;

    if (strcmp(topic, "agent") == 0)
        return describe_agent();
    if (words[0] == NULL || !find_kind(words[0], &kind))
        return unknown_kind(words[0] != NULL ? words[0] : "");
    if (words[1] == NULL)
        return describe_kind(kind);
    type = builtin_find(kind, words[1]);
    return type != NULL ? describe_type(kind, type) : unknown_type(kind, words[1]);
}

/* ---- everything at once ---- */

static const struct {
    const char *name;
    char *(*text)(void);
} forms[] = {
    { "yaml", describe_as_yaml },
    { "json-schema", describe_as_json_schema },
    { "man", describe_as_man },
    { NULL, NULL },
};

static int
describe_all(const char *form)
{
    const char *names[G_N_ELEMENTS(forms)] = { NULL };
    g_autofree char *hint = NULL;

    for (guint i = 0; forms[i].name != NULL; i++) {
        g_autofree char *text = NULL;

        names[i] = forms[i].name;
        if (strcmp(form, forms[i].name) != 0)
            continue;
        text = forms[i].text();
        fputs(text, stdout);
        return EXIT_OK;
    }
    hint = suggestion_for(form, names, "forms");
    return command_usage_error(&describe_command, "--all=%s is no form; %s", form, hint);
}

static int
describe_run(int argc, char **argv)
{
    g_autofree char *form = NULL;
    const GOptionEntry entries[] = {
        { .long_name = "all",
          .arg = G_OPTION_ARG_STRING,
          .arg_data = &form,
          .description = "everything at once: yaml, json-schema or man",
          .arg_description = "FORM" },
        { 0 },
    };
    int status;

    if (!command_parse(&describe_command, entries, &argc, &argv, &status))
        return status;
    if (argc > (form != NULL ? 1 : 2))
        return command_usage_error(&describe_command, "'%s' is one argument too many",
                                   argv[argc - 1]);
    if (form != NULL)
        return describe_all(form);
    return argc > 1 ? describe_topic(argv[1]) : describe_everything();
}

const Command describe_command = {
    .name = "describe",
    .arguments = "[KIND[/TYPE]]",
    .summary = "tell what parts there are and what their options do",
    .details =
        "Without an argument: every part, a line each. With a KIND (source, interceptor, "
        "selector,\n"
        "channel, sink, sink-group, registration, agent): what all parts of the kind share. With\n"
        "KIND/TYPE: every option of that part with its kind, range and default, and every metric.\n"
        "\n"
        "--all writes everything: as a commented configuration (yaml), as a JSON schema that lets\n"
        "editors complete and check a configuration, or as the sections of leat.yaml(5) (man).\n"
        "\n"
        "Examples:\n"
        "  leat describe sink/file\n"
        "  leat describe --all=json-schema > leat.schema.json",
    .run = describe_run,
};
