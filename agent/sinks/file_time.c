/* file_time.c - broken-down times in a zone, the last one kept because events come in runs. */
#include "agent/sinks/file_time.h"

/* What GDateTime can hold, the years 1 to 9999, two days inside for any zone. */
#define FIRST_MS (G_GINT64_CONSTANT(-62135424000) * 1000)
#define LAST_MS (G_GINT64_CONSTANT(253402128000) * 1000)

struct FileTime {
    GTimeZone *zone;
    gboolean from_header;

    gint64 ms; /* the chosen time */
    gint64 second;
    GDateTime *local; /* of second, NULL at first */
};

/* Names are English whatever the locale: a path must not depend on who starts the agent. */
static const char *const days[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                    "Friday", "Saturday", "Sunday" };
static const char *const months[] = { "January",   "February", "March",    "April",
                                      "May",       "June",     "July",     "August",
                                      "September", "October",  "November", "December" };

FileTime *
file_time_new(const char *zone, gboolean from_header)
{
    GTimeZone *found;
    FileTime *self;

    if (g_ascii_strcasecmp(zone, "local") == 0)
        found = g_time_zone_new_local();
    else if (g_ascii_strcasecmp(zone, "utc") == 0)
        found = g_time_zone_new_utc();
    else
        found = g_time_zone_new_identifier(zone);
    if (found == NULL)
        return NULL;
    self = g_new0(FileTime, 1);
    self->zone = found;
    self->from_header = from_header;
    return self;
}

void
file_time_free(FileTime *self)
{
    if (self == NULL)
        return;
    g_time_zone_unref(self->zone);
    g_clear_pointer(&self->local, g_date_time_unref);
    g_free(self);
}

/* A sign and digits, and no more than that. */
static gboolean
parse_ms(ByteSpan text, gint64 *ret_ms)
{
    gboolean negative = text.length > 0 && text.data[0] == '-';
    gsize first = negative ? 1 : 0;
    gint64 ms = 0;

    if (text.length == first || text.length > 17)
        return FALSE;
    for (gsize i = first; i < text.length; i++) {
        if (!g_ascii_isdigit(text.data[i]))
            return FALSE;
        ms = ms * 10 + (text.data[i] - '0');
    }
    *ret_ms = negative ? -ms : ms;
    return *ret_ms >= FIRST_MS && *ret_ms < LAST_MS;
}

static gint64
divide_down(gint64 value, gint64 by)
{
    return value / by - (value % by < 0 ? 1 : 0);
}

static gint64
time_of(const FileTime *self, const EventView *event, gint64 clock_us)
{
    ByteSpan header;
    gint64 ms;

    if (self->from_header &&
        event_view_find_header(event, byte_span_of_text("timestamp"), &header) &&
        parse_ms(header, &ms))
        return ms;
    return divide_down(clock_us, 1000);
}

void
file_time_choose(FileTime *self, const EventView *event, gint64 clock_us)
{
    g_autoptr(GDateTime) utc = NULL;
    gint64 second;

    self->ms = time_of(self, event, clock_us);
    second = divide_down(self->ms, 1000);
    if (self->local != NULL && second == self->second)
        return;
    utc = g_date_time_new_from_unix_utc(second);
    g_clear_pointer(&self->local, g_date_time_unref);
    self->local = g_date_time_to_timezone(utc, self->zone);
    self->second = second;
}

static int
hour_of_twelve(GDateTime *time)
{
    int hour = g_date_time_get_hour(time) % 12;

    return hour == 0 ? 12 : hour;
}

static int
year_of_century(GDateTime *time)
{
    return g_date_time_get_year(time) % 100;
}

typedef struct {
    char letter;
    int digits;
    int (*value)(GDateTime *time);
} NumberEscape;

static const NumberEscape number_escapes[] = {
    { 'Y', 4, g_date_time_get_year },         { 'y', 2, year_of_century },
    { 'm', 2, g_date_time_get_month },        { 'n', 1, g_date_time_get_month },
    { 'd', 2, g_date_time_get_day_of_month }, { 'e', 1, g_date_time_get_day_of_month },
    { 'j', 3, g_date_time_get_day_of_year },  { 'H', 2, g_date_time_get_hour },
    { 'k', 1, g_date_time_get_hour },         { 'I', 2, hour_of_twelve },
    { 'M', 2, g_date_time_get_minute },       { 'S', 2, g_date_time_get_second },
};

gboolean
file_time_is_escape(char letter)
{
    const char *letters = FILE_TIME_ESCAPES;

    for (; *letters != '\0'; letters++)
        if (*letters == letter)
            return g_ascii_isalpha(letter);
    return FALSE;
}

/* By hand: paths are built for every event, and printf shows there. */
static void
append_number(GString *out, guint64 number, int digits)
{
    char text[24];
    int at = sizeof(text);

    while (number > 0 || digits > 0) {
        text[--at] = (char) ('0' + number % 10);
        number /= 10;
        digits--;
    }
    g_string_append_len(out, text + at, (gssize) sizeof(text) - at);
}

static void
append_signed(GString *out, gint64 number)
{
    if (number < 0)
        g_string_append_c(out, '-');
    append_number(out, (guint64) ABS(number), 1);
}

static void
append_zone(GDateTime *time, GString *out)
{
    int minutes = (int) (g_date_time_get_utc_offset(time) / (60 * G_USEC_PER_SEC));

    g_string_append_c(out, minutes < 0 ? '-' : '+');
    append_number(out, (guint64) ABS(minutes) / 60, 2);
    append_number(out, (guint64) ABS(minutes) % 60, 2);
}

void
file_time_append(const FileTime *self, char letter, GString *out)
{
    const char *day = days[g_date_time_get_day_of_week(self->local) - 1];
    const char *month = months[g_date_time_get_month(self->local) - 1];

    for (gsize i = 0; i < G_N_ELEMENTS(number_escapes); i++)
        if (number_escapes[i].letter == letter) {
            append_number(out, (guint64) number_escapes[i].value(self->local),
                          number_escapes[i].digits);
            return;
        }
    switch (letter) {
    case 'a':
        g_string_append_len(out, day, 3);
        break;
    case 'A':
        g_string_append(out, day);
        break;
    case 'b':
        g_string_append_len(out, month, 3);
        break;
    case 'B':
        g_string_append(out, month);
        break;
    case 'p':
        g_string_append(out, g_date_time_get_hour(self->local) < 12 ? "AM" : "PM");
        break;
    case 's':
        append_signed(out, self->second);
        break;
    case 't':
        append_signed(out, self->ms);
        break;
    case 'z':
        append_zone(self->local, out);
        break;
    default:
        g_assert_not_reached();
    }
}
