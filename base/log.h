/* log.h - structured log lines over GLib's structured log: a constant message and typed fields.
 *
 *     log_warning("delivery failed, backing off", LOG_TEXT("sink", name), LOG_INT("attempts", n));
 *
 * Only the runners, the core and the commands log; everything below returns a GError. A line
 * carries the name of the thread that wrote it. log_init chooses where lines go; before it they go
 * to stderr. */
#pragma once

#include <glib.h>

typedef enum { LOG_AT_ERROR, LOG_AT_WARNING, LOG_AT_INFO, LOG_AT_DEBUG } LogLevel;
typedef enum { LOG_FORMAT_TEXT, LOG_FORMAT_JSON } LogFormat;

/* Borrowed for the call. A field is a text or a number. */
typedef struct {
    const char *key; /* NULL ends the list */
    const char *text;
    gint64 number;
} LogField;

#define LOG_TEXT(k, v)                     \
    {                                      \
        .key = (k), .text = (v) ? (v) : "" \
    }
#define LOG_INT(k, v)                      \
    {                                      \
        .key = (k), .number = (gint64) (v) \
    }

/* To the journal when stderr is connected to it and the format is text, else to stderr. */
void log_init(LogFormat format, LogLevel level);
gboolean log_level_from_text(const char *text, LogLevel *ret_level); /* error warning info debug */
gboolean log_format_from_text(const char *text, LogFormat *ret_format);
gboolean log_enabled(LogLevel level);

/* Names the calling thread: the kernel sees the first 15 bytes, log lines carry all of it. */
void log_name_thread(const char *name);

void log_emit(LogLevel level, const char *message, const LogField *fields);

#define LOG_FIELDS_(...) ((const LogField[]){ __VA_ARGS__ })
#define log_at(level, message, ...) \
    log_emit((level), (message), LOG_FIELDS_(__VA_ARGS__ __VA_OPT__(, ){ .key = NULL }))
#define log_error(message, ...) log_at(LOG_AT_ERROR, message __VA_OPT__(, ) __VA_ARGS__)
#define log_warning(message, ...) log_at(LOG_AT_WARNING, message __VA_OPT__(, ) __VA_ARGS__)
#define log_info(message, ...) log_at(LOG_AT_INFO, message __VA_OPT__(, ) __VA_ARGS__)
#define log_debug(message, ...) log_at(LOG_AT_DEBUG, message __VA_OPT__(, ) __VA_ARGS__)
