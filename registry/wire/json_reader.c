/* json_reader.c - a JSON reader that descends no deeper than it may. */
#include "registry/wire/json_reader.h"

#include <gio/gio.h>
#include <string.h>

#define REPLACEMENT 0xfffd

/* Where nothing can be read any more. */
static gboolean
fail(JsonReader *self, const char *what)
{
    if (self->failure == NULL)
        self->failure = what;
    return FALSE;
}

void
json_reader_fail(JsonReader *self, const char *what)
{
    fail(self, what);
}

void
json_reader_init(JsonReader *self, ByteSpan text, JsonDialect dialect)
{
    const guint8 *start = text.length > 0 ? text.data : (const guint8 *) "";

    *self = (JsonReader){
        .at = start,
        .start = start,
        .end = start + text.length,
        .dialect = dialect,
    };
}

static gboolean
is_space(guint8 byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static void
skip_space(JsonReader *self)
{
    while (self->at < self->end && is_space(*self->at))
        self->at++;
}

/* The byte that comes next, which is not taken; 0 at the end. */
static guint8
peek(const JsonReader *self)
{
    return self->at < self->end ? *self->at : 0;
}

static gboolean
take(JsonReader *self, guint8 byte)
{
    if (self->at == self->end || *self->at != byte)
        return FALSE;
    self->at++;
    return TRUE;
}

gboolean
json_reader_finish(JsonReader *self, GError **error)
{
    if (self->failure == NULL)
        skip_space(self);
    if (self->at < self->end)
        fail(self, "something follows the value");
    if (self->failure == NULL)
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s, at byte %" G_GSIZE_FORMAT,
                self->failure, (gsize) (self->at - self->start));
    return FALSE;
}

gboolean
json_reader_peek(JsonReader *self, JsonKind *ret_kind)
{
    if (self->failure != NULL)
        return FALSE;
    skip_space(self);
    switch (peek(self)) {
    case '{':
        *ret_kind = JSON_OBJECT;
        return TRUE;
    case '[':
        *ret_kind = JSON_ARRAY;
        return TRUE;
    case '"':
        *ret_kind = JSON_STRING;
        return TRUE;
    case '-':
    case '0' ... '9':
        *ret_kind = JSON_NUMBER;
        return TRUE;
    case 't':
        *ret_kind = JSON_TRUE;
        return TRUE;
    case 'f':
        *ret_kind = JSON_FALSE;
        return TRUE;
    case 'n':
        *ret_kind = JSON_NULL;
        return TRUE;
    default:
        return fail(self, "a value is missing");
    }
}

/* ---- strings ---- */

static gboolean
read_hex(JsonReader *self, guint32 *ret_unit)
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
read_unicode_escape(JsonReader *self, GString *out)
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
read_escape(JsonReader *self, GString *out)
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

/* At its quote, which is taken. */
static gboolean
read_string(JsonReader *self, GString *out)
{
    g_string_truncate(out, 0);
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
    return take(self, '"') || fail(self, "a string has no end");
}

gboolean
json_reader_string(JsonReader *self, GString *text)
{
    if (self->failure != NULL)
        return FALSE;
    skip_space(self);
    return read_string(self, text);
}

/* ---- numbers and words ---- */

static gboolean
skip_digits(JsonReader *self)
{
    const guint8 *start = self->at;

    while (g_ascii_isdigit(peek(self)))
        self->at++;
    return self->at > start;
}

static gboolean
skip_number(JsonReader *self)
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

gboolean
json_reader_number(JsonReader *self, ByteSpan *ret_number)
{
    const guint8 *start;

    if (self->failure != NULL)
        return FALSE;
    skip_space(self);
    start = self->at;
    if (!skip_number(self))
        return fail(self, "a number is not written as one");
    *ret_number = byte_span(start, (gsize) (self->at - start));
    return TRUE;
}

gboolean
json_reader_word(JsonReader *self, JsonKind *ret_kind)
{
    static const struct {
        const char *text;
        JsonKind kind;
    } words[] = { { "null", JSON_NULL }, { "true", JSON_TRUE }, { "false", JSON_FALSE } };

    if (self->failure != NULL)
        return FALSE;
    skip_space(self);
    for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
        gsize length = strlen(words[i].text);

        if ((gsize) (self->end - self->at) < length || memcmp(self->at, words[i].text, length) != 0)
            continue;
        self->at += length;
        *ret_kind = words[i].kind;
        return TRUE;
    }
    return fail(self, "a value is missing");
}

/* ---- arrays and objects ---- */

gboolean
json_reader_enter(JsonReader *self, JsonKind kind)
{
    if (self->failure != NULL)
        return FALSE;
    skip_space(self);
    if (!take(self, kind == JSON_ARRAY ? '[' : '{'))
        return fail(self, kind == JSON_ARRAY ? "a list is missing" : "an object is missing");
    if (self->depth == JSON_MAX_DEPTH)
        return fail(self, "it nests too deep");
    self->depth++;
    self->at_first = TRUE;
    return TRUE;
}

/* FALSE at the closing bracket, which is taken. */
static gboolean
next_child(JsonReader *self, guint8 closing)
{
    gboolean at_first = self->at_first;

    if (self->failure != NULL)
        return FALSE;
    skip_space(self);
    self->at_first = FALSE;
    if (take(self, closing)) {
        self->depth--;
        return FALSE;
    }
    if (!at_first && !take(self, ','))
        return fail(self, "a list or an object has no end");
    skip_space(self);
    return TRUE;
}

gboolean
json_reader_next(JsonReader *self)
{
    return next_child(self, ']');
}

static gboolean
read_bare_key(JsonReader *self, GString *key)
{
    const guint8 *start = self->at;

    take(self, '-');
    if (!skip_digits(self))
        return fail(self, "a key is not written as one");
    g_string_truncate(key, 0);
    g_string_append_len(key, (const char *) start, self->at - start);
    return TRUE;
}

gboolean
json_reader_next_key(JsonReader *self, GString *key)
{
    gboolean is_bare;

    if (!next_child(self, '}'))
        return FALSE;
    is_bare = self->dialect == JSON_FASTJSON && peek(self) != '"';
    if (!(is_bare ? read_bare_key(self, key) : read_string(self, key)))
        return FALSE;
    skip_space(self);
    return take(self, ':') || fail(self, "a member has no ':'");
}

static void
skip_value(JsonReader *self, GString *scratch)
{
    JsonKind kind = JSON_NULL;
    ByteSpan number;

    if (!json_reader_peek(self, &kind))
        return;
    if (kind == JSON_STRING)
        json_reader_string(self, scratch);
    else if (kind == JSON_NUMBER)
        json_reader_number(self, &number);
    else if (kind == JSON_ARRAY && json_reader_enter(self, kind))
        while (json_reader_next(self))
            skip_value(self, scratch);
    else if (kind == JSON_OBJECT && json_reader_enter(self, kind))
        while (json_reader_next_key(self, scratch))
            skip_value(self, scratch);
    else if (kind < JSON_NUMBER)
        json_reader_word(self, &kind);
}

gboolean
json_reader_skip(JsonReader *self, ByteSpan *ret_written)
{
    g_autoptr(GString) scratch = g_string_new(NULL);
    const guint8 *start;

    skip_space(self);
    start = self->at;
    skip_value(self, scratch);
    if (self->failure != NULL)
        return FALSE;
    if (ret_written != NULL)
        *ret_written = byte_span(start, (gsize) (self->at - start));
    return TRUE;
}
