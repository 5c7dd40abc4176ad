/* log_library.c - what libraries say through GLib, as lines of our shape and not more of them than
 * anybody can read. */
#include "base/log_library.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/log_rate.h"

/* More than we use; the last one is shared by those that come later. */
#define MAX_LIBRARIES 16

static const MetricSpec specs[] = {
    { .name = "leat_library_messages_total",
      .kind = METRIC_COUNTER,
      .help = "Messages of libraries of the log's level or worse; the log has the first of a "
              "second of each library." },
    { 0 },
};

typedef struct {
    GQuark domain;
    LogRate rate;
} Library;

static GLogLevelFlags fatal_levels = 0; /* fixed once log_library_take has returned */

static GMutex lock; /* guards libraries, each of which has a place from its first message on */
static Library libraries[MAX_LIBRARIES];

/* With the lock held. */
static Library *
library_of(const char *domain)
{
    GQuark quark = g_quark_from_string(domain);
    Library *self = libraries;

    while (self->domain != 0 && self->domain != quark && self < &libraries[MAX_LIBRARIES - 1])
        self++;
    if (self->domain == 0)
        self->domain = quark;
    return self;
}

/* A peer may be what a library complains of, as often as the peer likes. */
static gboolean
admit(const char *domain, guint64 *ret_left_out)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

    return log_rate_admit(&library_of(domain)->rate, G_USEC_PER_SEC, ret_left_out);
}

static LogLevel
level_of(GLogLevelFlags flags)
{
    if (flags & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
        return LOG_AT_ERROR;
    if (flags & G_LOG_LEVEL_WARNING)
        return LOG_AT_WARNING;
    return flags & G_LOG_LEVEL_MESSAGE ? LOG_AT_INFO : LOG_AT_DEBUG;
}

static const char *
find_field(const GLogField *fields, gsize n_fields, const char *key)
{
    for (gsize i = 0; i < n_fields; i++)
        if (fields[i].length == -1 && g_str_equal(fields[i].key, key))
            return fields[i].value;
    return "";
}

static void
write_entry(LogLevel level, const char *domain, const char *text, guint64 left_out)
{
    LogField fields[4] = { LOG_TEXT("library", domain), LOG_TEXT("text", text) };

    if (left_out > 0)
        fields[2] = (LogField) LOG_INT("left_out", left_out);
    log_emit(level, "message of a library", fields);
}

static GLogWriterOutput
take_entry(GLogLevelFlags flags, const GLogField *fields, gsize n_fields,
           gpointer user G_GNUC_UNUSED)
{
    LogLevel level = level_of(flags);
    const char *domain = find_field(fields, n_fields, "GLIB_DOMAIN");
    gboolean is_fatal = (flags & fatal_levels) != 0;
    guint64 left_out = 0;

    if (!log_enabled(level) && !is_fatal)
        return G_LOG_WRITER_HANDLED;
    metric_add(log_library_metrics(), 0, 1);
    if (admit(domain, &left_out) || is_fatal)
        write_entry(level, domain, find_field(fields, n_fields, "MESSAGE"), left_out);
    if (is_fatal)
        abort();
    return G_LOG_WRITER_HANDLED;
}

MetricSet *
log_library_metrics(void)
{
    static MetricSet *metrics;

    if (g_once_init_enter(&metrics))
        g_once_init_leave(&metrics, metric_set_new(specs, "process", "log", "libraries"));
    return metrics;
}

void
log_library_take(void)
{
    static gboolean writer_is_set = FALSE; /* GLib takes one writer only */

    if (writer_is_set)
        return;
    writer_is_set = TRUE;
    fatal_levels = g_log_set_always_fatal(G_LOG_FATAL_MASK);
    g_log_set_always_fatal(fatal_levels);
    g_log_set_writer_func(take_entry, NULL, NULL);
}
