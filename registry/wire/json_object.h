/* json_object.h - members of JSON objects into members of structs, by rows; as lenient as fastjson
 * is where RocketMQ's programs rely on it.
 *
 *     static const JsonMember members[] = {
 *         JSON_MEMBER("brokerName", TEXT, RouteQueue, broker),
 *         JSON_MEMBER("perm", INT32, RouteQueue, perm),
 *         { 0 },
 *     };
 *
 * What is absent or null keeps its value; what has no row is skipped, "$ref" too. */
#pragma once

#include <glib.h>

#include "registry/wire/json_reader.h"

typedef enum {
    JSON_MEMBER_TEXT,  /* char *    */
    JSON_MEMBER_INT32, /* gint32    also in quotes */
    JSON_MEMBER_INT64, /* gint64    likewise */
    JSON_MEMBER_BOOL,  /* gboolean  likewise */
    JSON_MEMBER_READ,  /* read does it, from a value that is not null */
} JsonMemberKind;

typedef struct {
    const char *name;
    JsonMemberKind kind;
    gsize offset;
    void (*read)(JsonReader *reader, gpointer self);
} JsonMember;

#define JSON_TYPE_TEXT char *
#define JSON_TYPE_INT32 gint32
#define JSON_TYPE_INT64 gint64
#define JSON_TYPE_BOOL gboolean

/* The comparison of two pointers is there for the compiler, which objects to unlike types. */
#define JSON_MEMBER(text, KIND, Struct, member)                                  \
    {                                                                            \
        .name = (text), .kind = JSON_MEMBER_##KIND,                              \
        .offset = G_STRUCT_OFFSET(Struct, member) +                              \
                  0 * sizeof(&((Struct *) 0)->member == (JSON_TYPE_##KIND *) 0), \
    }
#define JSON_MEMBER_BY(text, function)                                             \
    {                                                                              \
        .name = (text), .kind = JSON_MEMBER_READ, .offset = 0, .read = (function), \
    }

/* No list or table of a body has more; a broker's are bounded by its frame to less. */
#define JSON_MAX_CHILDREN 500000

void json_object_read(JsonReader *reader, const JsonMember *members, gpointer self);

/* As json_reader_next_key, for tables of texts: a key that holds a NUL is refused. */
gboolean json_next_key(JsonReader *reader, GString *key);
/* A NULL or a text without NUL. What *text was is freed. */
void json_read_text(JsonReader *reader, char **text);
/* Appends each text of a list; NULLs are left out. */
void json_read_texts(JsonReader *reader, GPtrArray *texts /* char *, freed by the array */);
/* TRUE if a null was there, and is taken. */
gboolean json_read_null(JsonReader *reader);
/* Fails if a list or table has become too long. */
void json_check_children(JsonReader *reader, guint n_children);
