/* file_template.c - escapes into pieces, pieces into names, header values into harmless ones. */
#include "agent/sinks/file_template.h"

#include <limits.h>
#include <string.h>

#include "agent/core/sink.h"

#define VALUE_MAX 160
#define TIME_MAX 20
#define UNKNOWN "unknown"

typedef enum { PIECE_TEXT, PIECE_HEADER, PIECE_TIME, PIECE_SLASH } PieceKind;

typedef struct {
    PieceKind kind;
    char *text; /* TEXT, and the name of a HEADER */
    gsize length;
    char letter; /* TIME */
} Piece;

struct FileTemplate {
    char *base;
    GArray *pieces;
    gsize limit; /* of the last part; of the others NAME_MAX */
    gboolean has_time;
    gboolean has_header;
};

static void
piece_clear(gpointer piece)
{
    g_free(((Piece *) piece)->text);
}

static FileTemplate *
template_new(gsize limit)
{
    FileTemplate *self = g_new0(FileTemplate, 1);

    self->limit = limit;
    self->pieces = g_array_new(FALSE, TRUE, sizeof(Piece));
    g_array_set_clear_func(self->pieces, piece_clear);
    return self;
}

void
file_template_free(FileTemplate *self)
{
    if (self == NULL)
        return;
    g_array_unref(self->pieces);
    g_free(self->base);
    g_free(self);
}

static void
add_piece(FileTemplate *self, PieceKind kind, const char *text, gsize length, char letter)
{
    Piece piece = { .kind = kind, .length = length, .letter = letter };

    piece.text = text != NULL ? g_strndup(text, length) : NULL;
    self->has_header |= kind == PIECE_HEADER;
    self->has_time |= kind == PIECE_TIME;
    g_array_append_val(self->pieces, piece);
}

/* ---- parsing ---- */

static gboolean refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
refuse(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_propagate_error(error, g_error_new_valist(SINK_ERROR, SINK_ERROR_REFUSED, format, arguments));
    va_end(arguments);
    return FALSE;
}

/* at stands on the letter behind '%'; NULL at an error, else the first character behind. */
static const char *
parse_escape(FileTemplate *self, const char *at, GError **error)
{
    const char *end;

    if (*at == '%') {
        add_piece(self, PIECE_TEXT, "%", 1, 0);
        return at + 1;
    }
    if (file_time_is_escape(*at)) {
        add_piece(self, PIECE_TIME, NULL, 0, *at);
        return at + 1;
    }
    if (*at == 'D' || *at == 'c')
        refuse(error, "'%%%c' is not one name; write %%m-%%d-%%y or %%Y-%%m-%%d", *at);
    else if (*at == '[')
        refuse(error, "'%%[' is not known here; add a host interceptor and write %%{host}");
    else if (*at != '{')
        refuse(error, "'%%%.1s' is not an escape; write %%{HEADER}, %%%% or one of %s", at,
               FILE_TIME_ESCAPES);
    else if ((end = strchr(at, '}')) == NULL || end == at + 1)
        refuse(error, "'%%{' needs the name of a header and a '}'");
    else {
        add_piece(self, PIECE_HEADER, at + 1, (gsize) (end - at - 1), 0);
        return end + 1;
    }
    return NULL;
}

static gboolean
parse_pieces(FileTemplate *self, const char *text, GError **error)
{
    const char *at = text;

    while (*at != '\0') {
        gsize length = strcspn(at, "%/");

        if (length > 0)
            add_piece(self, PIECE_TEXT, at, length, 0);
        at += length;
        if (*at == '/') {
            add_piece(self, PIECE_SLASH, NULL, 0, 0);
            at += strspn(at, "/");
        } else if (*at == '%') {
            at = parse_escape(self, at + 1, error);
            if (at == NULL)
                return FALSE;
        }
    }
    return TRUE;
}

/* Where the part with the first escape begins; the length of text if there is none. */
static gsize
fixed_length(const char *text)
{
    gsize start = 0;

    for (gsize i = 0; text[i] != '\0'; i++) {
        if (text[i] == '/')
            start = i + 1;
        else if (text[i] == '%' && text[i + 1] != '%')
            return start;
        else if (text[i] == '%')
            i++;
    }
    return strlen(text);
}

static char *
base_of(const char *text, gsize length)
{
    GString *base = g_string_new_len(text, (gssize) length);

    g_string_replace(base, "%%", "%", 0);
    while (base->len > 1 && base->str[base->len - 1] == '/')
        g_string_truncate(base, base->len - 1);
    return g_string_free(base, base->len == 0) ?: g_strdup(".");
}

/* "." and ".." among the parts behind the base would walk, not name. */
static gboolean
check_parts(const char *rest, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(rest, "/", -1);

    for (guint i = 0; parts[i] != NULL; i++)
        if (g_str_equal(parts[i], ".") || g_str_equal(parts[i], ".."))
            return refuse(error, "'%s' behind an escape leads elsewhere; write the folder's name",
                          parts[i]);
    return TRUE;
}

FileTemplate *
file_template_parse_directory(const char *text, GError **error)
{
    g_autoptr(FileTemplate) self = template_new(NAME_MAX);
    gsize fixed = fixed_length(text);
    g_autofree char *rest = g_strdup(text + fixed);

    while (g_str_has_suffix(rest, "/"))
        rest[strlen(rest) - 1] = '\0';
    self->base = base_of(text, fixed);
    if (*text == '\0') {
        refuse(error, "is empty; write the path of a folder");
        return NULL;
    }
    if (!check_parts(rest, error) || !parse_pieces(self, rest, error))
        return NULL;
    return g_steal_pointer(&self);
}

FileTemplate *
file_template_parse_name(const char *text, gsize limit, GError **error)
{
    g_autoptr(FileTemplate) self = template_new(limit);

    self->base = g_strdup("");
    if (strchr(text, '/') != NULL) {
        refuse(error, "has a '/' in it; write folders into directory");
        return NULL;
    }
    if (!parse_pieces(self, text, error))
        return NULL;
    return g_steal_pointer(&self);
}

const char *
file_template_base(const FileTemplate *self)
{
    return self->base;
}

gboolean
file_template_is_fixed(const FileTemplate *self)
{
    return !self->has_time && !self->has_header;
}

gboolean
file_template_has_time(const FileTemplate *self)
{
    return self->has_time;
}

/* ---- filling in ---- */

/* Cuts to limit bytes, not inside a character. */
static void
cut(GString *out, gsize start, gsize limit)
{
    gsize end = start + limit;

    if (out->len <= end)
        return;
    while (end > start && (out->str[end] & 0xc0) == 0x80)
        end--;
    g_string_truncate(out, end);
}

/* Length of the harmless character at the front of text; 0: one byte to replace, or *ret_skip. */
static gsize
harmless(ByteSpan text, gsize *ret_skip)
{
    gunichar c = text.data[0];

    *ret_skip = 1;
    if (c < 0x80)
        return c == '/' || c < 0x20 || c == 0x7f ? 0 : 1;
    c = g_utf8_get_char_validated((const char *) text.data, (gssize) MIN(text.length, 6));
    if (c == (gunichar) -1 || c == (gunichar) -2)
        return 0;
    *ret_skip = (gsize) g_unichar_to_utf8(c, NULL);
    return g_unichar_iscntrl(c) || g_unichar_type(c) == G_UNICODE_FORMAT ? 0 : *ret_skip;
}

static void
append_value(GString *out, gsize part_start, ByteSpan value)
{
    gsize start = out->len;
    gsize step;

    for (gsize at = 0; at < value.length && out->len - start <= VALUE_MAX; at += step) {
        const guint8 *here = value.data + at;

        if (harmless(byte_span(here, value.length - at), &step) > 0)
            g_string_append_len(out, (const char *) here, (gssize) step);
        else
            g_string_append_c(out, '_');
    }
    cut(out, start, VALUE_MAX);
    if (start == part_start && out->len > start && strchr(".-", out->str[start]) != NULL)
        out->str[start] = '_';
}

static void
end_part(GString *out, gsize start, gsize limit)
{
    const char *part;

    cut(out, start, limit);
    part = out->str + start;
    if (*part == '\0')
        g_string_append(out, UNKNOWN);
    else if (g_str_equal(part, ".") || g_str_equal(part, ".."))
        memset(out->str + start, '_', out->len - start);
}

static void
append_header(const Piece *piece, const EventView *event, gsize part_start, GString *out)
{
    ByteSpan value;

    if (event_view_find_header(event, byte_span(piece->text, piece->length), &value))
        append_value(out, part_start, value);
    else
        g_string_append(out, UNKNOWN);
}

void
file_template_append(const FileTemplate *self, const EventView *event, const FileTime *time,
                     GString *out)
{
    gsize start = out->len;

    for (guint i = 0; i < self->pieces->len; i++) {
        const Piece *piece = &g_array_index(self->pieces, Piece, i);

        switch (piece->kind) {
        case PIECE_TEXT:
            g_string_append_len(out, piece->text, (gssize) piece->length);
            break;
        case PIECE_HEADER:
            append_header(piece, event, start, out);
            break;
        case PIECE_TIME:
            file_time_append(time, piece->letter, out);
            break;
        case PIECE_SLASH:
            end_part(out, start, NAME_MAX);
            g_string_append_c(out, '/');
            start = out->len;
            break;
        }
    }
    if (self->pieces->len > 0)
        end_part(out, start, self->limit);
}

void
file_template_append_headers(const FileTemplate *self, const EventView *event, GString *out)
{
    for (guint i = 0; i < self->pieces->len; i++) {
        const Piece *piece = &g_array_index(self->pieces, Piece, i);

        if (piece->kind != PIECE_HEADER)
            continue;
        g_string_append_printf(out, " %s=", piece->text);
        append_header(piece, event, out->len, out);
    }
}

/* ---- what they can read ---- */

static gsize
longest(const Piece *piece)
{
    switch (piece->kind) {
    case PIECE_TEXT:
        return piece->length;
    case PIECE_HEADER:
        return VALUE_MAX;
    default:
        return TIME_MAX;
    }
}

/* first .. end is one part. Its fixed texts hold it down, unless it may have been cut, or have been
 * nothing but dots: then only what stands for certain. */
static char *
pattern_of(const FileTemplate *self, guint first, guint end, gsize limit)
{
    g_autoptr(GString) pattern = g_string_new(NULL);
    gboolean loose;
    gsize length = 0;

    for (guint i = first; i < end; i++)
        length += longest(&g_array_index(self->pieces, Piece, i));
    loose = length > limit;
    for (guint i = first; i < end; i++) {
        const Piece *piece = &g_array_index(self->pieces, Piece, i);
        gboolean fixed = piece->kind == PIECE_TEXT &&
                         (end - first == 1 || strspn(piece->text, ".") < piece->length);
        g_autofree char *escaped = fixed ? g_regex_escape_string(piece->text, -1) : NULL;

        if (loose && i > first)
            break;
        g_string_append(pattern, fixed ? escaped : ".*");
    }
    if (loose)
        g_string_append(pattern, ".*");
    return g_string_free(g_steal_pointer(&pattern), FALSE);
}

GPtrArray *
file_template_patterns(const FileTemplate *self)
{
    GPtrArray *patterns = g_ptr_array_new_with_free_func(g_free);
    guint first = 0;

    for (guint i = 0; i < self->pieces->len; i++)
        if (g_array_index(self->pieces, Piece, i).kind == PIECE_SLASH) {
            g_ptr_array_add(patterns, pattern_of(self, first, i, NAME_MAX));
            first = i + 1;
        }
    if (self->pieces->len > 0)
        g_ptr_array_add(patterns, pattern_of(self, first, self->pieces->len, self->limit));
    return patterns;
}
