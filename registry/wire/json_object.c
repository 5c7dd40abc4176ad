/* json_object.c - members of JSON objects into members of structs, by rows. */
#include "registry/wire/json_object.h"

#include <string.h>

gboolean
json_read_null(JsonReader *reader)
{
    JsonKind kind;

    return json_reader_peek(reader, &kind) && kind == JSON_NULL && json_reader_word(reader, &kind);
}

void
json_check_children(JsonReader *reader, guint n_children)
{
    if (n_children > JSON_MAX_CHILDREN)
        json_reader_fail(reader, "a list or an object is too long");
}

gboolean
json_next_key(JsonReader *reader, GString *key)
{
    if (!json_reader_next_key(reader, key))
        return FALSE;
    if (strlen(key->str) < key->len)
        json_reader_fail(reader, "a key holds a NUL");
    return reader->failure == NULL;
}

void
json_read_text(JsonReader *reader, char **text)
{
    g_autoptr(GString) read = NULL;

    if (json_read_null(reader))
        return;
    read = g_string_new(NULL);
    if (!json_reader_string(reader, read))
        return;
    if (strlen(read->str) < read->len) {
        json_reader_fail(reader, "a text holds a NUL");
        return;
    }
    g_free(*text);
    *text = g_strndup(read->str, read->len);
}

void
json_read_texts(JsonReader *reader, GPtrArray *texts)
{
    if (!json_reader_enter(reader, JSON_ARRAY))
        return;
    while (json_reader_next(reader)) {
        g_autofree char *text = NULL;

        json_read_text(reader, &text);
        if (text != NULL)
            g_ptr_array_add(texts, g_steal_pointer(&text));
        json_check_children(reader, texts->len);
    }
}

/* Reads a number or a word, with or without quotes, as it was written. */
static gboolean
read_scalar(JsonReader *reader, GString *scalar)
{
    JsonKind kind;
    ByteSpan written;

    if (!json_reader_peek(reader, &kind))
        return FALSE;
    if (kind == JSON_STRING)
        return json_reader_string(reader, scalar);
    if (!json_reader_skip(reader, &written))
        return FALSE;
    g_string_append_len(scalar, (const char *) written.data, (gssize) written.length);
    return TRUE;
}

static gint64
read_int(JsonReader *reader, gint64 min, gint64 max)
{
    g_autoptr(GString) scalar = g_string_new(NULL);
    gint64 number = 0;

    if (read_scalar(reader, scalar) &&
        !g_ascii_string_to_signed(scalar->str, 10, min, max, &number, NULL))
        json_reader_fail(reader, "a value is no whole number, or one that does not fit");
    return number;
}

static gboolean
read_bool(JsonReader *reader)
{
    g_autoptr(GString) scalar = g_string_new(NULL);
    gboolean is_true;

    if (!read_scalar(reader, scalar))
        return FALSE;
    is_true = strcmp(scalar->str, "true") == 0;
    if (!is_true && strcmp(scalar->str, "false") != 0)
        json_reader_fail(reader, "a value is neither true nor false");
    return is_true;
}

static void
read_member(JsonReader *reader, const JsonMember *member, gpointer self)
{
    gpointer at = G_STRUCT_MEMBER_P(self, member->offset);

    switch (member->kind) {
    case JSON_MEMBER_TEXT:
        json_read_text(reader, at);
        return;
    case JSON_MEMBER_INT32:
        *(gint32 *) at = (gint32) read_int(reader, G_MININT32, G_MAXINT32);
        return;
    case JSON_MEMBER_INT64:
        *(gint64 *) at = read_int(reader, G_MININT64, G_MAXINT64);
        return;
    case JSON_MEMBER_BOOL:
        *(gboolean *) at = read_bool(reader);
        return;
    case JSON_MEMBER_READ:
        member->read(reader, self);
        return;
    }
}

static const JsonMember *
find_member(const JsonMember *members, const GString *key)
{
    for (const JsonMember *member = members; member->name != NULL; member++)
        if (strlen(member->name) == key->len && memcmp(member->name, key->str, key->len) == 0)
            return member;
    return NULL;
}

void
json_object_read(JsonReader *reader, const JsonMember *members, gpointer self)
{
    g_autoptr(GString) key = NULL;

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    key = g_string_new(NULL);
    while (json_reader_next_key(reader, key)) {
        const JsonMember *member = find_member(members, key);

        if (member == NULL)
            json_reader_skip(reader, NULL);
        else if (!json_read_null(reader))
            read_member(reader, member, self);
    }
}
