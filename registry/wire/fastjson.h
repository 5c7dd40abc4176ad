/* fastjson.h - JSON as fastjson writes it for RocketMQ's programs, byte for byte.
 *
 * In its default form integer keys are not quoted, which the peers before 4.9.4 need; in the
 * standard form all keys are, and what is not ASCII is escaped. */
#pragma once

#include <glib.h>

#include "base/span.h"

typedef struct {
    GString *out; /* borrowed */
    gboolean standard;
} Fastjson;

/* Of keys NULL is a place in a list. They are written as they are, but for fastjson_key's. */
void fastjson_open(Fastjson *self, const char *key, char bracket /* '{' or '[' */);
void fastjson_close(Fastjson *self, char bracket /* '}' or ']' */);
void fastjson_text(Fastjson *self, const char *key, const char *text /* NULL: left out */);
void fastjson_int(Fastjson *self, const char *key, gint64 number);
void fastjson_bool(Fastjson *self, const char *key, gboolean truth);
/* The key of a table; its value is then written with NULL for a key. */
void fastjson_key(Fastjson *self, const char *key);
void fastjson_int_key(Fastjson *self, gint64 key);
/* A valid value of fastjson's dialect, in the form that is to be written: what looks like an
 * integer key is one. */
void fastjson_copy(Fastjson *self, const char *key, ByteSpan value);
