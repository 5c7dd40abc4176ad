/* json_value.c - the values of a JSON text as a tree. */
#include "registry/wire/json_value.h"

static JsonValue *
value_new(JsonKind kind)
{
    JsonValue *self = g_new0(JsonValue, 1);

    self->kind = kind;
    if (kind == JSON_ARRAY || kind == JSON_OBJECT)
        self->children = g_ptr_array_new_with_free_func((GDestroyNotify) json_value_free);
    return self;
}

static void read_value(JsonReader *reader, JsonValue *parent, const GString *key);

static void
read_children(JsonReader *reader, JsonValue *self)
{
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, self->kind))
        return;
    if (self->kind == JSON_ARRAY)
        while (json_reader_next(reader))
            read_value(reader, self, NULL);
    else
        while (json_reader_next_key(reader, key))
            read_value(reader, self, key);
}

/* Adds it to the children of parent; what of it could be read, if it fails. */
static void
read_value(JsonReader *reader, JsonValue *parent, const GString *key)
{
    JsonKind kind;
    JsonValue *self;
    ByteSpan number;

    if (!json_reader_peek(reader, &kind))
        return;
    self = value_new(kind);
    g_ptr_array_add(parent->children, self);
    if (key != NULL)
        self->key = g_string_new_len(key->str, (gssize) key->len);
    if (self->children != NULL)
        read_children(reader, self);
    else if (kind == JSON_STRING)
        json_reader_string(reader, self->text = g_string_new(NULL));
    else if (kind != JSON_NUMBER)
        json_reader_word(reader, &self->kind);
    else if (json_reader_number(reader, &number))
        self->text = g_string_new_len((const char *) number.data, (gssize) number.length);
}

JsonValue *
json_value_parse(const guint8 *text, gsize length, GError **error)
{
    g_autoptr(JsonValue) root = value_new(JSON_ARRAY);
    JsonReader reader;

    json_reader_init(&reader, byte_span(text, length), JSON_STRICT);
    read_value(&reader, root, NULL);
    if (!json_reader_finish(&reader, error))
        return NULL;
    return g_ptr_array_steal_index(root->children, 0);
}

void
json_value_free(JsonValue *self)
{
    if (self == NULL)
        return;
    if (self->key != NULL)
        g_string_free(self->key, TRUE);
    if (self->text != NULL)
        g_string_free(self->text, TRUE);
    g_clear_pointer(&self->children, g_ptr_array_unref);
    g_free(self);
}

gboolean
json_value_get_int(const JsonValue *self, gint64 *ret_number)
{
    return self->kind == JSON_NUMBER &&
           g_ascii_string_to_signed(self->text->str, 10, G_MININT64, G_MAXINT64, ret_number, NULL);
}
