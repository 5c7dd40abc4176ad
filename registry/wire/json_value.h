/* json_value.h - reads one JSON text, strictly and within bounds, into values.
 *
 * For bodies that peers send. A general library is more lenient than the peers that must agree with
 * us on what is JSON: json-glib takes hexadecimal numbers, single quotes and "var x =" for it. */
#pragma once

#include <glib.h>

#include "registry/wire/json_reader.h"

typedef struct JsonValue JsonValue;
struct JsonValue {
    JsonKind kind;
    GString *key;        /* of a member of an OBJECT, else NULL; UTF-8, may hold NUL */
    GString *text;       /* STRING: unescaped, UTF-8, may hold NUL; NUMBER: as it was written */
    GPtrArray *children; /* ARRAY, OBJECT: JsonValue *, in order, with double keys as they come */
};

/* NULL and an error (G_IO_ERROR_INVALID_DATA) for anything but one value with white space round it.
 * Bytes that are no UTF-8, and halves of surrogate pairs, become U+FFFD. */
JsonValue *json_value_parse(const guint8 *text, gsize length, GError **error);
void json_value_free(JsonValue *self);

/* Of a NUMBER without fraction and exponent. FALSE if it is none, or does not fit. */
gboolean json_value_get_int(const JsonValue *self, gint64 *ret_number);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonValue, json_value_free)
