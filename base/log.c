/* log.c - log lines to stderr as text or JSON, or to the journal with their fields. */
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/log_library.h"

#define THREAD_NAME_MAX 64
#define KERNEL_NAME_MAX 15
#define JOURNAL_FIELDS_MAX 32

static _Thread_local char thread_name[THREAD_NAME_MAX];

/* Fixed once log_init has returned, which is before other threads start. */
static LogFormat chosen_format = LOG_FORMAT_TEXT;
static LogLevel chosen_level = LOG_AT_INFO;
static gboolean to_journal = FALSE;

static const char *const level_names[] = { "error", "warning", "info", "debug" };
static const char *const syslog_priorities[] = { "3", "4", "6", "7" };
static const char *const format_names[] = { "text", "json" };

void
log_name_thread(const char *name)
{
    char kernel_name[KERNEL_NAME_MAX + 1];

    g_strlcpy(thread_name, name, sizeof thread_name);
    g_strlcpy(kernel_name, name, sizeof kernel_name);
    pthread_setname_np(pthread_self(), kernel_name);
}

/* The main thread's kernel name is the program's. */
static const char *
this_thread(void)
{
    if (thread_name[0] != '\0')
        return thread_name;
    if (gettid() == getpid())
        return "main";
    if (pthread_getname_np(pthread_self(), thread_name, sizeof thread_name) != 0)
        return "unnamed";
    return thread_name;
}

static void
append_time(GString *line)
{
    gint64 now_us = clock_wall_us();
    time_t seconds = (time_t) (now_us / G_USEC_PER_SEC);
    struct tm utc;
    char text[32];

    gmtime_r(&seconds, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    g_string_append_printf(line, "%s.%03dZ", text, (int) (now_us % G_USEC_PER_SEC / 1000));
}

/* Text from elsewhere must not break a line in two or play with the terminal. */
static void
append_printable(GString *out, const char *text)
{
    for (const guchar *c = (const guchar *) text; *c != '\0'; c++) {
        if (*c == '\n')
            g_string_append(out, "\\n");
        else if (*c < 0x20 || *c == 0x7f)
            g_string_append_printf(out, "\\x%02x", *c);
        else
            g_string_append_c(out, (char) *c);
    }
}

static void
append_field_text(GString *out, const char *text)
{
    if (*text != '\0' && strpbrk(text, " \t\"=\\") == NULL) {
        append_printable(out, text);
        return;
    }
    g_string_append_c(out, '"');
    for (const char *left = text; *left != '\0';) {
        gsize plain = strcspn(left, "\"\\");
        g_autofree char *run = g_strndup(left, plain);

        append_printable(out, run);
        left += plain;
        if (*left != '\0')
            g_string_append_printf(out, "\\%c", *left++);
    }
    g_string_append_c(out, '"');
}

static void
append_message(GString *out, const char *message, const LogField *fields)
{
    g_string_append_printf(out, "%s: ", this_thread());
    append_printable(out, message);
    for (; fields->key != NULL; fields++) {
        g_string_append_printf(out, " %s=", fields->key);
        if (fields->text != NULL)
            append_field_text(out, fields->text);
        else
            g_string_append_printf(out, "%" G_GINT64_FORMAT, fields->number);
    }
}

static void
append_text_line(GString *line, LogLevel level, const char *message, const LogField *fields)
{
    append_time(line);
    g_string_append_printf(line, " %-7s ", level_names[level]);
    append_message(line, message, fields);
}

static void
append_json_line(GString *line, LogLevel level, const char *message, const LogField *fields)
{
    g_autoptr(GString) when = g_string_new(NULL);
    JsonWriter json;

    append_time(when);
    json_writer_init(&json, line);
    json_open(&json, NULL, '{');
    json_text(&json, "time", when->str);
    json_text(&json, "level", level_names[level]);
    json_text(&json, "thread", this_thread());
    json_text(&json, "message", message);
    for (; fields->key != NULL; fields++) {
        if (fields->text != NULL)
            json_text(&json, fields->key, fields->text);
        else
            json_int(&json, fields->key, fields->number);
    }
    json_close(&json, '}');
}

static GString *
format_line(LogLevel level, const char *message, const LogField *fields)
{
    GString *line = g_string_sized_new(256);

    if (chosen_format == LOG_FORMAT_JSON)
        append_json_line(line, level, message, fields);
    else
        append_text_line(line, level, message, fields);
    g_string_append_c(line, '\n');
    return line;
}

/* ---- standard error ---- */

/* Nobody may be stopped by a reader of the log that is: a terminal on hold, a stuck pipe. A line
 * waits this long for room; then lines are left out until there is room again. */
#define STUCK_AFTER_MS 1000

static GMutex output_lock; /* guards the rest, and that a line is not cut by another */
static gboolean output_is_stuck;
static guint64 n_left_out;

static gboolean
wait_for_room(void)
{
    struct pollfd output = { .fd = STDERR_FILENO, .events = POLLOUT };
    int ready;

    do
        ready = poll(&output, 1, output_is_stuck ? 0 : STUCK_AFTER_MS);
    while (ready < 0 && errno == EINTR);
    output_is_stuck = ready == 0;
    return ready > 0;
}

/* In one write, so that lines of several processes do not mix; a longer one than a pipe promises to
 * take at once goes in parts. */
static void
write_line(const GString *line)
{
    gsize done = 0;

    while (done < line->len) {
        gssize n;

        if (!wait_for_room()) {
            n_left_out += done == 0 ? 1 : 0;
            return;
        }
        n = write(STDERR_FILENO, line->str + done, MIN(line->len - done, PIPE_BUF));
        if (n < 0 && errno != EINTR)
            return;
        done += (gsize) MAX(n, 0);
    }
}

static void
write_left_out(void)
{
    const LogField fields[] = { LOG_INT("lines", n_left_out), { .key = NULL } };
    g_autoptr(GString) line =
        format_line(LOG_AT_WARNING, "the log was stuck, lines are left out", fields);

    n_left_out = 0;
    write_line(line);
}

static void
write_stderr(const GString *line)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&output_lock);

    if (n_left_out > 0 && wait_for_room())
        write_left_out();
    write_line(line);
}

/* ---- the journal ---- */

/* "ret_done" becomes LEAT_RET_DONE. */
static char *
journal_key(const char *key)
{
    char *name = g_strconcat("LEAT_", key, NULL);

    for (char *c = name; *c != '\0'; c++)
        *c = g_ascii_isalnum(*c) ? g_ascii_toupper(*c) : '_';
    return name;
}

static gboolean
write_journal(LogLevel level, const char *message, const LogField *fields)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) line = g_string_new(NULL);
    GLogField entry[JOURNAL_FIELDS_MAX] = {
        { "SYSLOG_IDENTIFIER", "leat", -1 },
        { "PRIORITY", syslog_priorities[level], -1 },
        { "LEAT_THREAD", this_thread(), -1 },
    };
    gsize n = 4;

    append_message(line, message, fields);
    entry[3] = (GLogField){ "MESSAGE", line->str, -1 };
    for (; fields->key != NULL && n < G_N_ELEMENTS(entry); fields++, n++) {
        char *key = journal_key(fields->key);
        char *value = fields->text != NULL ? g_strdup(fields->text)
                                           : g_strdup_printf("%" G_GINT64_FORMAT, fields->number);

        g_ptr_array_add(texts, key);
        g_ptr_array_add(texts, value);
        entry[n] = (GLogField){ key, value, -1 };
    }
    return g_log_writer_journald(G_LOG_LEVEL_MESSAGE, entry, n, NULL) == G_LOG_WRITER_HANDLED;
}

/* ---- entries ---- */

gboolean
log_enabled(LogLevel level)
{
    return level <= chosen_level;
}

void
log_emit(LogLevel level, const char *message, const LogField *fields)
{
    g_autoptr(GString) line = NULL;

    if (!log_enabled(level) || (to_journal && write_journal(level, message, fields)))
        return;
    line = format_line(level, message, fields);
    write_stderr(line);
}

void
log_init(LogFormat format, LogLevel level)
{
    chosen_format = format;
    chosen_level = level;
    to_journal = format == LOG_FORMAT_TEXT && g_log_writer_is_journald(STDERR_FILENO);
    log_library_take();
}

static gboolean
find_name(const char *const *names, gsize n_names, const char *text, guint *ret_index)
{
    for (guint i = 0; i < n_names; i++) {
        if (g_ascii_strcasecmp(names[i], text) != 0)
            continue;
        *ret_index = i;
        return TRUE;
    }
    return FALSE;
}

gboolean
log_level_from_text(const char *text, LogLevel *ret_level)
{
    return find_name(level_names, G_N_ELEMENTS(level_names), text, (guint *) ret_level);
}

gboolean
log_format_from_text(const char *text, LogFormat *ret_format)
{
    return find_name(format_names, G_N_ELEMENTS(format_names), text, (guint *) ret_format);
}
