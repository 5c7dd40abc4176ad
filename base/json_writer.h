/* json_writer.h - writes JSON into a GString: objects, arrays, strings, numbers; commas by itself.
 *
 * Here rather than a library because log lines and the file sink's json format are written event by
 * event, and because the agent must do both in its smallest build. */
#pragma once

#include <glib.h>

#include "base/span.h"

typedef struct {
    GString *out; /* borrowed */
    gboolean comma;
} JsonWriter;

void json_writer_init(JsonWriter *self, GString *out);
void json_open(JsonWriter *self, const char *key /* NULL in an array */,
               char bracket /* '{' or '[' */);
void json_close(JsonWriter *self, char bracket /* '}' or ']' */);
void json_text(JsonWriter *self, const char *key, const char *text /* NULL: null */);
void json_int(JsonWriter *self, const char *key, gint64 number);
void json_bool(JsonWriter *self, const char *key, gboolean truth);
/* Key and value are bytes; one that is not UTF-8 is written as U+FFFD. In an array key.data is
 * NULL. */
void json_bytes(JsonWriter *self, ByteSpan key, ByteSpan value);

/* A JSON string with its quotes. */
void json_append_quoted(GString *out, ByteSpan text);
