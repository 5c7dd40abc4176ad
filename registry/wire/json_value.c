/* json_value.c - a strict JSON reader that descends no deeper than it may. */
#include "registry/wire/json_value.h"

#include <gio/gio.h>
#include <string.h>

#define REPLACEMENT 0xfffd

typedef struct {
    const guint8 *at, *start, *end;
    guint depth;
    const char *failure; /* NULL: none so far */
} Reader;

static JsonValue *read_value(Reader *self);

static gpointer
fail(Reader *self, const char *what)
{
    if (self->failure == NULL)
        self->failure = what;
    return NULL;
}

static gboolean
is_space(guint8 byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static void
skip_space(Reader *self)
{
    while (self->at < self->end && is_space(*self->at))
        self->at++;
}

/* The byte that comes next, which is not taken; 0 at the end. */
static guint8
peek(const Reader *self)
{
    return self->at < self->end ? *self->at : 0;
}

static gboolean
take(Reader *self, guint8 byte)
{
    if (self->at == self->end || *self->at != byte)
        return FALSE;
    self->at++;
    return TRUE;
}

static JsonValue *
value_new(JsonKind kind)
{
    JsonValue *self = g_new0(JsonValue, 1);

    self->kind = kind;
    if (kind == JSON_ARRAY || kind == JSON_OBJECT)
        self->children = g_ptr_array_new_with_free_func((GDestroyNotify) json_value_free);
    return self;
}

/* ---- strings ---- */

static gboolean
read_hex(Reader *self, guint32 *ret_unit)
{
    guint32 unit = 0;

    if (self->end - self->at < 4)
        return FALSE;
    for (int i = 0; i < 4; i++) {
        int digit = g_ascii_xdigit_value((char) *self->at++);

        if (digit < 0)
            return FALSE;
        unit = unit << 4 | (guint32) digit;
    }
    *ret_unit = unit;
    return TRUE;
}

/* After "\u". A high surrogate takes the low one that follows; a lone one is replaced. */
static gboolean
read_unicode_escape(Reader *self, GString *out)
{
    const guint8 *before;
    guint32 unit;
    guint32 low;

    if (!read_hex(self, &unit))
        return FALSE;
    before = self->at;
    if (unit >= 0xd800 && unit < 0xdc00 && take(self, '\\') && take(self, 'u') &&
        read_hex(self, &low) && low >= 0xdc00 && low < 0xe000) {
        g_string_append_unichar(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
        return TRUE;
    }
    self->at = before;
    if (unit == 0)
        g_string_append_c(out, '\0');
    else
        g_string_append_unichar(out, unit >= 0xd800 && unit < 0xe000 ? REPLACEMENT : unit);
    return TRUE;
}

static gboolean
read_escape(Reader *self, GString *out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char bytes[] = "\"\\/\b\f\n\r\t";
    guint8 name = peek(self);
    const char *found = name == 0 ? NULL : strchr(names, name);

    if (take(self, 'u'))
        return read_unicode_escape(self, out);
    if (found == NULL)
        return FALSE;
    g_string_append_c(out, bytes[found - names]);
    self->at++;
    return TRUE;
}

static void
append_utf8(GString *out, const guint8 *text, const guint8 *end)
{
    while (text < end) {
        const char *valid_end;

        g_utf8_validate_len((const char *) text, (gsize) (end - text), &valid_end);
        g_string_append_len(out, (const char *) text, valid_end - (const char *) text);
        text = (const guint8 *) valid_end;
        if (text == end)
            return;
        g_string_append_unichar(out, REPLACEMENT);
        text++;
    }
}

static GString *
read_string(Reader *self)
{
    g_autoptr(GString) out = g_string_new(NULL);

    if (!take(self, '"'))
        return fail(self, "a string is missing");
    while (self->at < self->end && *self->at != '"') {
        const guint8 *run = self->at;

        while (self->at < self->end && *self->at >= 0x20 && *self->at != '"' && *self->at != '\\')
            self->at++;
        append_utf8(out, run, self->at);
        if (take(self, '\\') && !read_escape(self, out))
            return fail(self, "a string has an escape that is none");
        if (self->at < self->end && *self->at < 0x20)
            return fail(self, "a string holds a control character");
    }
    if (!take(self, '"'))
        return fail(self, "a string has no end");
    return g_steal_pointer(&out);
}

/* ---- numbers and words ---- */

static gboolean
skip_digits(Reader *self)
{
    const guint8 *start = self->at;

    while (g_ascii_isdigit(peek(self)))
        self->at++;
    return self->at > start;
}

static gboolean
skip_number(Reader *self)
{
    take(self, '-');
    if (!take(self, '0') && !skip_digits(self))
        return FALSE;
    if (take(self, '.') && !skip_digits(self))
        return FALSE;
    if (!take(self, 'e') && !take(self, 'E'))
        return TRUE;
    if (!take(self, '+'))
        take(self, '-');
    return skip_digits(self);
}

static JsonValue *
read_number(Reader *self)
{
    const guint8 *start = self->at;
    JsonValue *value;

    if (!skip_number(self))
        return fail(self, "a number is not written as one");
    value = value_new(JSON_NUMBER);
    value->text = g_string_new_len((const char *) start, self->at - start);
    return value;
}

static JsonValue *
read_word(Reader *self)
{
    static const struct {
        const char *text;
        JsonKind kind;
    } words[] = { { "null", JSON_NULL }, { "true", JSON_TRUE }, { "false", JSON_FALSE } };

    for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
        gsize length = strlen(words[i].text);

        if ((gsize) (self->end - self->at) < length || memcmp(self->at, words[i].text, length) != 0)
            continue;
        self->at += length;
        return value_new(words[i].kind);
    }
    return fail(self, "a value is missing");
}

/* ---- arrays and objects ---- */

static JsonValue *
read_member(Reader *self)
{
    GString *key = read_string(self);
    JsonValue *value = NULL;

    if (key == NULL)
        return NULL;
    skip_space(self);
    if (!take(self, ':'))
        fail(self, "a member has no ':'");
    else
        value = read_value(self);
    if (value == NULL)
        g_string_free(key, TRUE);
    else
        value->key = key;
    return value;
}

/* At the bracket. */
static JsonValue *
read_container(Reader *self, JsonKind kind)
{
    guint8 closing = kind == JSON_ARRAY ? ']' : '}';
    g_autoptr(JsonValue) container = value_new(kind);

    self->at++;
    skip_space(self);
    if (take(self, closing))
        return g_steal_pointer(&container);
    do {
        JsonValue *child;

        skip_space(self);
        child = kind == JSON_ARRAY ? read_value(self) : read_member(self);
        if (child == NULL)
            return NULL;
        g_ptr_array_add(container->children, child);
        skip_space(self);
    } while (take(self, ','));
    if (!take(self, closing))
        return fail(self, "a list or an object has no end");
    return g_steal_pointer(&container);
}

static JsonValue *
read_nested(Reader *self, JsonKind kind)
{
    JsonValue *value;

    if (self->depth == JSON_MAX_DEPTH)
        return fail(self, "it nests too deep");
    self->depth++;
    value = read_container(self, kind);
    self->depth--;
    return value;
}

static JsonValue *
read_text(Reader *self)
{
    GString *text = read_string(self);
    JsonValue *value;

    if (text == NULL)
        return NULL;
    value = value_new(JSON_STRING);
    value->text = text;
    return value;
}

static JsonValue *
read_value(Reader *self)
{
    skip_space(self);
    switch (peek(self)) {
    case '{':
        return read_nested(self, JSON_OBJECT);
    case '[':
        return read_nested(self, JSON_ARRAY);
    case '"':
        return read_text(self);
    case '-':
    case '0' ... '9':
        return read_number(self);
    default:
        return read_word(self);
    }
}

/* ---- the whole ---- */

JsonValue *
json_value_parse(const guint8 *text, gsize length, GError **error)
{
    Reader reader = { .at = text, .start = text, .end = text + length };
    g_autoptr(JsonValue) value = read_value(&reader);

    skip_space(&reader);
    if (value != NULL && reader.at < reader.end)
        fail(&reader, "something follows the value");
    if (reader.failure == NULL)
        return g_steal_pointer(&value);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s, at byte %" G_GSIZE_FORMAT,
                reader.failure, (gsize) (reader.at - reader.start));
    return NULL;
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
