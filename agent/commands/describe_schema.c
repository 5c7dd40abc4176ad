/* describe_schema.c - docs/leat.schema.json: editors complete and check a configuration with it. */
#include "agent/commands/describe.h"

#include <string.h>

#include "agent/agent_config.h"
#include "agent/builtin.h"
#include "agent/commands/describe_schema_rows.h"

#define DIALECT "https://json-schema.org/draft/2020-12/schema"
#define NAME_PATTERN "^[A-Za-z0-9_.-]{1,64}$"

static char *
definition_name(ComponentKind kind, const ComponentType *type)
{
    return g_strdup_printf("%s-%s", component_kind_name(kind), type->name);
}

static void
write_type_definition(JsonWriter *json, ComponentKind kind, const ComponentType *type)
{
    const char *const words[] = { type->name, NULL };
    /* The row that no table has: it tells one part from another. */
    const OptionSpec type_rows[] = {
        { .name = component_kind_type_key(kind),
          .kind = OPTION_CHOICE,
          .choices = words,
          .help = type->summary },
        { 0 },
    };
    const OptionSpec *tables[4] = { type_rows };
    g_autofree char *name = definition_name(kind, type);
    guint n = 1;

    if (type->options != NULL)
        tables[n++] = type->options;
    if (builtin_kind_options(kind) != NULL)
        tables[n++] = builtin_kind_options(kind);
    json_open(json, name, '{');
    json_text(json, "description", type->summary);
    schema_write_options(json, tables);
    json_close(json, '}');
}

static void
write_condition(JsonWriter *json, ComponentKind kind, const ComponentType *type)
{
    g_autofree char *name = definition_name(kind, type);
    const char *const words[] = { type->name, NULL };

    json_open(json, NULL, '{');
    json_open(json, "if", '{');
    json_open(json, "properties", '{');
    json_open(json, component_kind_type_key(kind), '{');
    schema_write_enum(json, words);
    json_close(json, '}');
    json_close(json, '}');
    json_open(json, "required", '[');
    json_text(json, NULL, component_kind_type_key(kind));
    json_close(json, ']');
    json_close(json, '}');
    json_open(json, "then", '{');
    schema_write_reference(json, name);
    json_close(json, '}');
    json_close(json, '}');
}

/* "sink": its type decides which of "sink-file", "sink-null" it must be. */
static void
write_kind_definition(JsonWriter *json, ComponentKind kind)
{
    g_autofree const char **names = builtin_type_names(kind);

    json_open(json, component_kind_name(kind), '{');
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, component_kind_type_key(kind), '{');
    schema_write_words(json, names);
    json_close(json, '}');
    json_close(json, '}');
    json_open(json, "required", '[');
    if (kind != COMPONENT_SELECTOR)
        json_text(json, NULL, component_kind_type_key(kind));
    json_close(json, ']');
    json_open(json, "allOf", '[');
    for (const ComponentType *const *type = builtin_types(kind); *type != NULL; type++)
        write_condition(json, kind, *type);
    json_close(json, ']');
    json_close(json, '}');
}

static void
write_section(JsonWriter *json, ComponentKind kind)
{
    g_autofree char *description = g_strdup_printf(
        "Named %s; they %s.", describe_section_of_kind(kind), describe_purpose_of_kind(kind));

    json_open(json, describe_section_of_kind(kind), '{');
    json_text(json, "description", description);
    json_text(json, "type", "object");
    json_int(json, "minProperties", 1);
    json_open(json, "propertyNames", '{');
    json_text(json, "pattern", NAME_PATTERN);
    json_close(json, '}');
    json_open(json, "additionalProperties", '{');
    schema_write_reference(json, component_kind_name(kind));
    json_close(json, '}');
    json_close(json, '}');
}

/* A list of parts without names. */
static void
write_list_section(JsonWriter *json, ComponentKind kind)
{
    g_autofree char *description =
        g_strdup_printf("A list; it %s.", describe_purpose_of_kind(kind));

    json_open(json, describe_section_of_kind(kind), '{');
    json_text(json, "description", description);
    json_text(json, "type", "array");
    json_int(json, "minItems", 1);
    json_open(json, "items", '{');
    schema_write_reference(json, component_kind_name(kind));
    json_close(json, '}');
    json_close(json, '}');
}

static void
write_agent_definition(JsonWriter *json)
{
    const OptionSpec *const tables[] = { agent_options, NULL };

    json_open(json, "agent", '{');
    json_text(json, "description", "The agent itself.");
    schema_write_options(json, tables);
    json_close(json, '}');
}

static void
write_root(JsonWriter *json)
{
    /* The last one need not be there. */
    static const ComponentKind sections[] = { COMPONENT_SOURCE, COMPONENT_CHANNEL, COMPONENT_SINK,
                                              COMPONENT_SINK_GROUP };

    json_text(json, "$schema", DIALECT);
    json_text(json, "title", "Configuration of a leat agent");
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, "agent", '{');
    schema_write_reference(json, "agent");
    json_close(json, '}');
    for (guint i = 0; i < G_N_ELEMENTS(sections); i++)
        write_section(json, sections[i]);
    write_list_section(json, COMPONENT_REGISTRATION);
    json_close(json, '}');
    json_open(json, "required", '[');
    for (guint i = 0; i < G_N_ELEMENTS(sections) - 1; i++)
        json_text(json, NULL, describe_section_of_kind(sections[i]));
    json_close(json, ']');
    json_bool(json, "additionalProperties", FALSE);
}

static void
write_definitions(JsonWriter *json)
{
    json_open(json, "$defs", '{');
    write_agent_definition(json);
    for (ComponentKind kind = 0; kind < N_COMPONENT_KINDS; kind++) {
        write_kind_definition(json, kind);
        for (const ComponentType *const *type = builtin_types(kind); *type != NULL; type++)
            write_type_definition(json, kind, *type);
    }
    json_close(json, '}');
}

/* ---- for people who compare two versions ---- */

static void
append_line_start(GString *out, guint depth)
{
    g_string_append_printf(out, "\n%*s", (int) (2 * depth), "");
}

/* The same JSON, a line for each member. */
static char *
indent_json(const char *text)
{
    GString *out = g_string_new(NULL);
    gboolean in_string = FALSE;
    guint depth = 0;

    for (; *text != '\0'; text++) {
        gboolean opens = !in_string && strchr("{[", *text) != NULL;
        gboolean closes = !in_string && strchr("}]", *text) != NULL;

        if (closes && strchr("{[", text[-1]) == NULL)
            append_line_start(out, depth - 1);
        depth = closes ? depth - 1 : depth;
        g_string_append_c(out, *text);
        if (*text == '"')
            in_string = !in_string;
        if (in_string && *text == '\\')
            g_string_append_c(out, *++text);
        if (!in_string && *text == ':')
            g_string_append_c(out, ' ');
        depth = opens ? depth + 1 : depth;
        if ((opens && strchr("}]", text[1]) == NULL) || (!in_string && *text == ','))
            append_line_start(out, depth);
    }
    g_string_append_c(out, '\n');
    return g_string_free(out, FALSE);
}

char *
describe_as_json_schema(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    JsonWriter json;

    json_writer_init(&json, text);
    json_open(&json, NULL, '{');
    write_root(&json);
    write_definitions(&json);
    json_close(&json, '}');
    return indent_json(text->str);
}
