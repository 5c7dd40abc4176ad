/* describe_schema_rows.c - option rows as JSON schema.
 *
 * leat takes every scalar as text and types it by its row, and expands ${NAME}; so a number
 * may be written as a string here, and a string that holds a variable is never refused. */
#include "agent/commands/describe_schema_rows.h"

#include <string.h>

#include "base/quantity.h"

#define VARIABLE "\\$\\{"
#define SIZE_PATTERN "^[0-9.]+ *([kKmMgGtT][iI]?)?[bB]?$|" VARIABLE
#define DURATION_PATTERN "^0$|^[0-9.]+ *(us|ms|s|m|h|d)$|" VARIABLE

/* ---- one value ---- */

static void
write_types(JsonWriter *json, const char *const *types)
{
    json_open(json, "type", '[');
    for (; *types != NULL; types++)
        json_text(json, NULL, *types);
    json_close(json, ']');
}

static void
write_string_with_pattern(JsonWriter *json, const char *pattern)
{
    json_open(json, NULL, '{');
    json_text(json, "type", "string");
    json_text(json, "pattern", pattern);
    json_close(json, '}');
}

/* A number in its range, or a string of the pattern. */
static void
write_number(JsonWriter *json, const OptionSpec *row, const char *type, const char *pattern)
{
    json_open(json, "anyOf", '[');
    json_open(json, NULL, '{');
    json_text(json, "type", type);
    json_int(json, "minimum", row->zero_ok ? 0 : (gint64) row->min);
    if (row->max > 0)
        json_int(json, "maximum", (gint64) row->max);
    json_close(json, '}');
    write_string_with_pattern(json, pattern);
    json_close(json, ']');
}

static void
write_ratio(JsonWriter *json)
{
    const OptionSpec row = { .max = 1 };

    write_number(json, &row, "number", "^[0-9.]+%?$|" VARIABLE);
}

void
schema_write_enum(JsonWriter *json, const char *const *words)
{
    json_open(json, "enum", '[');
    for (; *words != NULL; words++) {
        json_text(json, NULL, *words);
        if (strcmp(*words, "null") == 0)
            json_text(json, NULL, NULL);
    }
    json_close(json, ']');
}

void
schema_write_words(JsonWriter *json, const char *const *words)
{
    json_open(json, "anyOf", '[');
    json_open(json, NULL, '{');
    schema_write_enum(json, words);
    json_close(json, '}');
    write_string_with_pattern(json, VARIABLE);
    json_close(json, ']');
}

static void
write_bool(JsonWriter *json)
{
    json_open(json, "anyOf", '[');
    json_open(json, NULL, '{');
    json_text(json, "type", "boolean");
    json_close(json, '}');
    write_string_with_pattern(json, "^([Tt]rue|[Ff]alse|[Yy]es|[Nn]o|[Oo]n|[Oo]ff)$|" VARIABLE);
    json_close(json, ']');
}

static const char *const scalar_types[] = { "string", "number", "boolean", NULL };

/* A list of scalars, or one of them alone. */
static void
write_names(JsonWriter *json)
{
    static const char *const types[] = { "array", "string", "number", NULL };

    write_types(json, types);
    json_open(json, "items", '{');
    write_types(json, scalar_types);
    json_close(json, '}');
}

void
schema_write_reference(JsonWriter *json, const char *definition)
{
    g_autofree char *path = g_strconcat("#/$defs/", definition, NULL);

    json_text(json, "$ref", path);
}

/* ---- rows ---- */

static void
write_map(JsonWriter *json, const OptionSpec *row)
{
    json_text(json, "type", "object");
    json_open(json, "additionalProperties", '{');
    if (row->value_kind == OPTION_NAMES)
        write_names(json);
    else
        write_types(json, scalar_types);
    json_close(json, '}');
}

/* A list of mappings, or one of them alone. */
static void
write_rows(JsonWriter *json, const OptionSpec *row)
{
    const OptionSpec *const tables[] = { row->rows, NULL };

    json_open(json, "anyOf", '[');
    json_open(json, NULL, '{');
    json_text(json, "type", "array");
    json_open(json, "items", '{');
    schema_write_options(json, tables);
    json_close(json, '}');
    json_close(json, '}');
    json_open(json, NULL, '{');
    schema_write_options(json, tables);
    json_close(json, '}');
    json_close(json, ']');
}

static void
write_kind(JsonWriter *json, const OptionSpec *row)
{
    switch (row->kind) {
    case OPTION_BOOL:
        write_bool(json);
        break;
    case OPTION_COUNT:
        write_number(json, row, "integer", "^[0-9]+$|" VARIABLE);
        break;
    case OPTION_SIZE:
        write_number(json, row, "integer", SIZE_PATTERN);
        break;
    case OPTION_DURATION:
        json_open(json, "anyOf", '[');
        json_open(json, NULL, '{');
        json_int(json, "const", 0);
        json_close(json, '}');
        write_string_with_pattern(json, DURATION_PATTERN);
        json_close(json, ']');
        break;
    case OPTION_RATIO:
        write_ratio(json);
        break;
    case OPTION_CHOICE:
        schema_write_words(json, row->choices);
        break;
    case OPTION_ENDPOINTS:
    case OPTION_NAMES:
        write_names(json);
        break;
    case OPTION_MAP:
        write_map(json, row);
        break;
    case OPTION_ROWS:
        write_rows(json, row);
        break;
    case OPTION_PART:
        schema_write_reference(json, component_kind_name(COMPONENT_SELECTOR));
        break;
    case OPTION_PARTS:
        json_text(json, "type", "array");
        json_open(json, "items", '{');
        schema_write_reference(json, component_kind_name(COMPONENT_INTERCEPTOR));
        json_close(json, '}');
        break;
    default:
        write_types(json, scalar_types);
        break;
    }
}

static void
write_default(JsonWriter *json, const OptionSpec *row)
{
    guint64 count;

    if (row->fallback == NULL || row->kind == OPTION_NAMES || row->kind == OPTION_ENDPOINTS ||
        row->kind == OPTION_MAP || row->kind == OPTION_ROWS)
        return;
    if (row->kind == OPTION_BOOL)
        json_bool(json, "default", strcmp(row->fallback, "true") == 0);
    else if (row->kind == OPTION_COUNT && quantity_parse_count(row->fallback, &count) == NULL)
        json_int(json, "default", (gint64) count);
    else
        json_text(json, "default", row->fallback);
}

static void
write_option(JsonWriter *json, const OptionSpec *row)
{
    json_open(json, row->name, '{');
    json_text(json, "description", row->help);
    write_kind(json, row);
    write_default(json, row);
    json_close(json, '}');
}

static void
write_required(JsonWriter *json, const OptionSpec *const *tables)
{
    json_open(json, "required", '[');
    for (; *tables != NULL; tables++)
        for (const OptionSpec *row = *tables; row->name != NULL; row++)
            if (row->required)
                json_text(json, NULL, row->name);
    json_close(json, ']');
}

void
schema_write_options(JsonWriter *json, const OptionSpec *const *tables)
{
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    for (const OptionSpec *const *table = tables; *table != NULL; table++)
        for (const OptionSpec *row = *table; row->name != NULL; row++)
            write_option(json, row);
    json_close(json, '}');
    write_required(json, tables);
    json_bool(json, "additionalProperties", FALSE);
}
