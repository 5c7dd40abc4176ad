/* time_pattern.c - reads times that people or programs wrote, by a pattern of letters. */
#include "agent/interceptors/time_pattern.h"

#include <string.h>

#define LETTERS "yMdHhamsSEZ"
#define NUMBERS "yMdHhmsS"

typedef struct {
    char letter; /* of LETTERS; 0: a literal */
    char literal;
    guint width;
    gboolean exact; /* a number that touches the next one */
} TimeToken;

struct TimePattern {
    GArray *tokens; /* TimeToken */
    GTimeZone *zone;
};

/* A time as far as it has been read. */
typedef struct {
    const guint8 *cursor;
    const guint8 *end;
    int year; /* -1: not there */
    int month;
    int day;
    int hour;
    int afternoon; /* -1: hours of 24 */
    int minute;
    int second;
    int ms;
    gboolean has_offset;
    int offset_s;
} TimeReader;

static const char *const month_names[12] = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december",
};

/* ---- the pattern ---- */

void
time_pattern_free(TimePattern *self)
{
    g_array_unref(self->tokens);
    g_clear_pointer(&self->zone, g_time_zone_unref);
    g_free(self);
}

static void refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
refuse(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (error != NULL)
        *error = g_error_new_valist(G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, format, arguments);
    va_end(arguments);
}

static void
add_literal(TimePattern *self, char literal)
{
    TimeToken token = { .literal = literal };

    g_array_append_val(self->tokens, token);
}

/* Behind the quote; the place behind the closing one, NULL if there is none. */
static const char *
read_quoted(TimePattern *self, const char *text, GError **error)
{
    if (*text == '\'') {
        add_literal(self, '\'');
        return text + 1;
    }
    while (*text != '\0' && (*text != '\'' || text[1] == '\'')) {
        text += *text == '\'';
        add_literal(self, *text++);
    }
    if (*text == '\0') {
        refuse(error, "has a quote that does not end; close it with '");
        return NULL;
    }
    return text + 1;
}

static gboolean
is_number(const TimeToken *token)
{
    return token->letter != 0 && strchr(NUMBERS, token->letter) != NULL &&
           !(token->letter == 'M' && token->width > 2);
}

static const char *
read_letters(TimePattern *self, const char *text, GError **error)
{
    TimeToken token = { .letter = *text };
    TimeToken *last = self->tokens->len > 0
                          ? &g_array_index(self->tokens, TimeToken, self->tokens->len - 1)
                          : NULL;

    if (strchr(LETTERS, *text) == NULL) {
        refuse(error, "has the letter '%c'; use y M d H h a m s S E Z, and 'quotes' round text",
               *text);
        return NULL;
    }
    for (; *text == token.letter; text++)
        token.width++;
    if (last != NULL && is_number(last) && is_number(&token))
        last->exact = TRUE;
    g_array_append_val(self->tokens, token);
    return text;
}

static gboolean
time_pattern_compile(TimePattern *self, const char *text, GError **error)
{
    while (text != NULL && *text != '\0') {
        if (g_ascii_isalpha(*text))
            text = read_letters(self, text, error);
        else if (*text == '\'')
            text = read_quoted(self, text + 1, error);
        else
            add_literal(self, *text++);
    }
    if (text != NULL && self->tokens->len == 0) {
        refuse(error, "is empty; write the time's pattern, such as yyyy-MM-dd HH:mm:ss");
        return FALSE;
    }
    return text != NULL;
}

TimePattern *
time_pattern_new(const char *pattern, const char *zone, GError **error)
{
    g_autoptr(TimePattern) self = g_new0(TimePattern, 1);

    self->tokens = g_array_new(FALSE, FALSE, sizeof(TimeToken));
    if (!time_pattern_compile(self, pattern, error))
        return NULL;
    self->zone = g_ascii_strcasecmp(zone, "local") == 0 ? g_time_zone_new_local()
                                                        : g_time_zone_new_identifier(zone);
    if (self->zone == NULL) {
        refuse(error, "cannot be read in the zone '%s'; write local, UTC, +02:00 or Europe/Berlin",
               zone);
        return NULL;
    }
    return g_steal_pointer(&self);
}

/* ---- reading ---- */

static gboolean
read_number(TimeReader *self, guint least, guint most, int *ret_number)
{
    guint n = 0;
    int number = 0;

    while (n < most && self->cursor < self->end && g_ascii_isdigit(*self->cursor)) {
        number = number * 10 + (*self->cursor++ - '0');
        n++;
    }
    if (n < least)
        return FALSE;
    *ret_number = number;
    return TRUE;
}

static gboolean
read_year(TimeReader *self, const TimeToken *token)
{
    gboolean is_short = token->width == 2;
    guint most = is_short ? 2 : 4;

    if (!read_number(self, is_short || token->exact ? most : 1, most, &self->year))
        return FALSE;
    if (is_short)
        self->year += self->year < 70 ? 2000 : 1900;
    return TRUE;
}

static gboolean
read_fraction(TimeReader *self, const TimeToken *token)
{
    guint most = token->exact ? token->width : 9;
    int scale = 100;
    guint n = 0;

    self->ms = 0;
    for (; n < most && self->cursor < self->end && g_ascii_isdigit(*self->cursor); n++) {
        self->ms += scale * (*self->cursor++ - '0');
        scale /= 10;
    }
    return n >= (token->exact ? token->width : 1);
}

/* A word of letters, compared without case. */
static gboolean
read_word(TimeReader *self, const char *word, gsize length)
{
    if ((gsize) (self->end - self->cursor) < length ||
        g_ascii_strncasecmp((const char *) self->cursor, word, length) != 0)
        return FALSE;
    self->cursor += length;
    return TRUE;
}

static gboolean
read_month_name(TimeReader *self)
{
    for (int i = 0; i < 12; i++) {
        if (read_word(self, month_names[i], strlen(month_names[i])) ||
            read_word(self, month_names[i], 3)) {
            self->month = i + 1;
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
read_half_of_day(TimeReader *self)
{
    self->afternoon = read_word(self, "pm", 2);
    return self->afternoon || read_word(self, "am", 2);
}

static gboolean
skip_letters(TimeReader *self)
{
    const guint8 *start = self->cursor;

    while (self->cursor < self->end && g_ascii_isalpha(*self->cursor))
        self->cursor++;
    return self->cursor > start;
}

static gboolean
read_offset(TimeReader *self)
{
    int sign;
    int hours;
    int minutes = 0;

    self->has_offset = TRUE;
    if (read_word(self, "z", 1))
        return TRUE;
    if (self->cursor == self->end || (*self->cursor != '+' && *self->cursor != '-'))
        return FALSE;
    sign = *self->cursor++ == '-' ? -1 : 1;
    if (!read_number(self, 2, 2, &hours))
        return FALSE;
    if (read_word(self, ":", 1) || (self->cursor < self->end && g_ascii_isdigit(*self->cursor)))
        if (!read_number(self, 2, 2, &minutes))
            return FALSE;
    self->offset_s = sign * (hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

static gboolean
read_token(TimeReader *self, const TimeToken *token)
{
    guint least = token->exact ? token->width : 1;
    guint most = token->exact ? token->width : 2;

    switch (token->letter) {
    case 0:
        return read_word(self, &token->literal, 1);
    case 'y':
        return read_year(self, token);
    case 'M':
        return token->width > 2 ? read_month_name(self)
                                : read_number(self, least, most, &self->month);
    case 'd':
        return read_number(self, least, most, &self->day);
    case 'H':
    case 'h':
        return read_number(self, least, most, &self->hour);
    case 'a':
        return read_half_of_day(self);
    case 'm':
        return read_number(self, least, most, &self->minute);
    case 's':
        return read_number(self, least, most, &self->second);
    case 'S':
        return read_fraction(self, token);
    case 'E':
        return skip_letters(self);
    default:
        return read_offset(self);
    }
}

/* ---- the time itself ---- */

static GDateTime *
time_in_year(const TimeReader *self, GTimeZone *zone, int year)
{
    int hour = self->afternoon < 0 ? self->hour : self->hour % 12 + 12 * self->afternoon;

    return g_date_time_new(zone, year, self->month, self->day, hour, self->minute, self->second);
}

static GDateTime *
time_without_year(const TimeReader *self, GTimeZone *zone)
{
    g_autoptr(GDateTime) now = g_date_time_new_now(zone);
    g_autoptr(GDateTime) time = time_in_year(self, zone, g_date_time_get_year(now));

    if (time != NULL && g_date_time_difference(time, now) <= G_TIME_SPAN_DAY)
        return g_steal_pointer(&time);
    return time_in_year(self, zone, g_date_time_get_year(now) - 1);
}

gboolean
time_pattern_read(const TimePattern *self, ByteSpan text, gint64 *ret_ms)
{
    TimeReader reader = { .cursor = text.data,
                          .end = text.data + text.length,
                          .year = -1,
                          .month = 1,
                          .day = 1,
                          .afternoon = -1 };
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) time = NULL;
    GTimeZone *zone;

    for (guint i = 0; i < self->tokens->len; i++)
        if (!read_token(&reader, &g_array_index(self->tokens, TimeToken, i)))
            return FALSE;
    if (reader.cursor != reader.end)
        return FALSE;
    zone = reader.has_offset ? utc : self->zone;
    time = reader.year >= 0 ? time_in_year(&reader, zone, reader.year)
                            : time_without_year(&reader, zone);
    if (time == NULL)
        return FALSE;
    *ret_ms = (g_date_time_to_unix(time) - reader.offset_s) * 1000 + reader.ms;
    return TRUE;
}
