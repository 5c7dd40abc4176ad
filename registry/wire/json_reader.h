/* json_reader.h - reads one JSON text from front to end, value by value, and keeps nothing of it.
 *
 * For bodies that peers send: what they may cost is then what the caller keeps. It fails once and
 * for good: all that comes after a failure finds no value, and json_reader_finish tells why. */
#pragma once

#include <glib.h>

#include "base/span.h"

typedef enum {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
} JsonKind;

typedef enum {
    JSON_STRICT,
    JSON_FASTJSON, /* of RocketMQ's programs: integer keys need no quotes */
} JsonDialect;

/* What nests deeper is refused. */
#define JSON_MAX_DEPTH 512

typedef struct {
    const guint8 *at, *start, *end;
    JsonDialect dialect;
    guint depth;
    gboolean at_first;   /* of a list or an object: no comma before it */
    const char *failure; /* NULL: none so far */
} JsonReader;

void json_reader_init(JsonReader *self, ByteSpan text, JsonDialect dialect);
/* FALSE with G_IO_ERROR_INVALID_DATA if anything failed, or follows the value. */
gboolean json_reader_finish(JsonReader *self, GError **error);
/* The caller wants it otherwise; what is a literal. */
void json_reader_fail(JsonReader *self, const char *what);

/* What comes next, by its first byte. Every value must then be read or skipped. */
gboolean json_reader_peek(JsonReader *self, JsonKind *ret_kind);

/* Into an ARRAY or OBJECT; json_reader_next or _next_key must then be called until it is FALSE. */
gboolean json_reader_enter(JsonReader *self, JsonKind kind);
gboolean json_reader_next(JsonReader *self);
/* Replaces what key holds; UTF-8, may hold NUL. */
gboolean json_reader_next_key(JsonReader *self, GString *key);

/* A STRING, unescaped, in place of what text holds. Bytes that are no UTF-8, and halves of
 * surrogate pairs, become U+FFFD; it may hold NUL. */
gboolean json_reader_string(JsonReader *self, GString *text);
/* A NUMBER as it was written. */
gboolean json_reader_number(JsonReader *self, ByteSpan *ret_number);
/* NULL, FALSE or TRUE. */
gboolean json_reader_word(JsonReader *self, JsonKind *ret_kind);
/* Any value, as it was written. */
gboolean json_reader_skip(JsonReader *self, ByteSpan *ret_written /* or NULL */);
