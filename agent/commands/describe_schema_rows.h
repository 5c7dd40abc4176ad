/* describe_schema_rows.h - option rows as JSON schema. */
#pragma once

#include "agent/core/component.h"
#include "base/json_writer.h"

/* All write members into the object that is open. */

/* An object with these options (tables end with NULL) and no others. */
void schema_write_options(JsonWriter *json, const OptionSpec *const *tables);
/* One of the words; a plain null is "null" to leat and nothing to YAML. */
void schema_write_enum(JsonWriter *json, const char *const *words);
/* The same, or a text with a variable in it. */
void schema_write_words(JsonWriter *json, const char *const *words);
void schema_write_reference(JsonWriter *json, const char *definition);
