/* file_sink.c - writes events to files that roll by size, count and time. */
#include "agent/core/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "agent/sinks/file_delivery.h"
#include "agent/sinks/file_directory.h"
#include "agent/sinks/file_error.h"
#include "agent/sinks/file_pool.h"
#include "agent/sinks/file_recovery.h"
#include "agent/sinks/file_template.h"
#include "agent/sinks/file_time.h"
#include "base/clock.h"

/* What a name has behind its prefix besides the suffix: the stamp, "-9999" where it was taken, the
 * compression's suffix and FILE_TMP. */
#define NAME_TAIL (FILE_STAMP_MAX + 5 + 4 + 4)
#define SUFFIX_MAX 64

enum { TIME_FROM_HEADER, TIME_FROM_CLOCK };

typedef struct {
    Sink base;
    FileRules rules; /* complete once configured */
    char *directory;
    char *prefix;
    char *time_zone;
    char *file_mode;
    guint compression;
    guint time_from;

    FileTemplate *folders; /* what directory and prefix say; NULL if they are no good */
    FileTemplate *names;
    FileTime *time;

    FilePool *pool; /* while open */
    FileDelivery *delivery;
    gint64 clock_us; /* wall time of this delivery */
    GString *key;
} FileSink;

static const char *const sync_names[] = { "batch", "interval", "never", NULL };
static const char *const time_from_names[] = { "header", "clock", NULL };

static const OptionSpec file_sink_options[] = {
    { .name = "directory",
      OPTION_AT(PATH, FileSink, directory),
      .required = TRUE,
      .example = "/var/log/leat/%{app}/%Y-%m-%d",
      .help =
          "The folder of the files, made when it is missing; %{NAME} stands for a header of the "
          "event, " FILE_TIME_ESCAPES " for parts of its time, and %% for a percent sign. "
          "A header is one piece of a name and cannot lead elsewhere: '/', control characters "
          "and what is not UTF-8 become '_', a '.' or '-' at the front too, and 160 bytes "
          "are taken at the most; one that is absent or leaves a name empty reads 'unknown'. "
          "Symbolic links are followed only in front of the first escape. "
          "An event whose folder cannot be made, since a file or a link bears its name, waits "
          "with all behind it until somebody moves that away; the log names header and path." },
    { .name = "prefix",
      OPTION_AT(STRING, FileSink, prefix),
      .fallback_text = "the name of the sink",
      .example = "apps",
      .help = "What names begin with, with the same escapes; a file is called "
              "PREFIX-TIME-NUMBER and suffix, its time that of its first event in UTC, and has "
              ".tmp behind that while it is in use." },
    { .name = "suffix",
      OPTION_AT(STRING, FileSink, rules.suffix),
      .fallback = ".log",
      .help = "What names end with; compression adds .gz or .zst." },
    { .name = "format",
      OPTION_AT(CHOICE, FileSink, rules.format),
      .fallback = "text",
      .choices = event_format_names,
      .help = "text is the body and a newline, headers-and-text is {key=value, key=value} and the "
              "body, both with newlines in a body left as they are; json is an object a line with "
              "headers and body, where bytes that are not UTF-8 stand in base64 in headers_base64 "
              "(keys and values) and body_base64 instead." },
    { .name = "compression",
      OPTION_AT(CHOICE, FileSink, compression),
      .fallback = "none",
      .choices = file_compression_names,
      .help = "Every batch ends in a flush, so that a file in use can be read up to there; an open "
              "file takes 0.3 MiB of memory with gzip and 2 MiB with zstd." },
    { .name = "roll-interval",
      OPTION_AT(DURATION, FileSink, rules.roll_interval_us),
      .fallback = "1h",
      .min = 1000,
      .zero_ok = TRUE,
      .help = "End a file this long after its first event; 0 is never." },
    { .name = "roll-size",
      OPTION_AT(SIZE, FileSink, rules.roll_size),
      .fallback = "128MiB",
      .help = "End a file before the event that would make it larger than this, a compressed one "
              "once it is as large; 0 is never." },
    { .name = "roll-count",
      OPTION_AT(COUNT, FileSink, rules.roll_count),
      .fallback = "0",
      .help = "End a file after this many events; 0 is never." },
    { .name = "idle-close",
      OPTION_AT(DURATION, FileSink, rules.idle_close_us),
      .fallback = "60s",
      .min = 1000,
      .zero_ok = TRUE,
      .help = "End a file that has not got an event for this long; 0 is never." },
    { .name = "max-open-files",
      OPTION_AT(COUNT, FileSink, rules.max_open_files),
      .fallback = "64",
      .min = 1,
      .max = 100000,
      .help = "Files that are open at the same time; beyond that the least recently used is "
              "closed, and opened again by its next event unless something has ended it." },
    { .name = "sync",
      OPTION_AT(CHOICE, FileSink, rules.sync),
      .fallback = "interval",
      .choices = sync_names,
      .help = "What delivered means: on the disk (batch, a sync for each), or with the kernel, "
              "where a crash of the agent loses nothing but a power failure what was not synced: "
              "at an interval, when a file ends, or never." },
    { .name = "sync-interval",
      OPTION_AT(DURATION, FileSink, rules.sync_interval_us),
      .fallback = "1s",
      .min = 1000,
      .help = "The longest time that events wait for a sync, with sync: interval." },
    { .name = "time-from",
      OPTION_AT(CHOICE, FileSink, time_from),
      .fallback = "header",
      .choices = time_from_names,
      .help = "Whose time the escapes show: that of the event's header timestamp (milliseconds "
              "since 1970), the clock's where it has none; or always the clock's." },
    { .name = "time-zone",
      OPTION_AT(STRING, FileSink, time_zone),
      .fallback = "local",
      .help = "The zone that time escapes are in: local, utc or a name such as Europe/Berlin." },
    { .name = "file-mode",
      OPTION_AT(STRING, FileSink, file_mode),
      .fallback = "0640",
      .help = "Permissions of new files, in octal, less the umask; folders get the right to search "
              "with the right to read." },
    { 0 },
};

/* ---- configuration ---- */

static void
configure_suffix(FileSink *self, Problems *problems)
{
    const char *suffix = self->rules.suffix;

    if (suffix == NULL)
        self->rules.suffix = g_strdup("");
    else if (strchr(suffix, '/') != NULL || strlen(suffix) > SUFFIX_MAX)
        component_problem(&self->base.base, problems, "suffix",
                          "'%s' cannot end a name; write at most %d bytes without '/'", suffix,
                          SUFFIX_MAX);
    else if (g_str_has_suffix(suffix, FILE_TMP))
        component_problem(&self->base.base, problems, "suffix",
                          "'%s' marks a file in use; write another one", suffix);
}

static void
configure_templates(FileSink *self, Problems *problems)
{
    g_auto(GStrv) name_parts = g_strsplit(self->base.base.name, "%", -1);
    g_autofree char *name = g_strjoinv("%%", name_parts);
    const char *prefix = self->prefix != NULL && *self->prefix != '\0' ? self->prefix : name;
    g_autoptr(GError) folders_error = NULL;
    g_autoptr(GError) names_error = NULL;

    if (self->directory != NULL)
        self->folders = file_template_parse_directory(self->directory, &folders_error);
    if (folders_error != NULL)
        component_problem(&self->base.base, problems, "directory", "%s", folders_error->message);
    self->names = file_template_parse_name(
        prefix, NAME_MAX - NAME_TAIL - MIN(strlen(self->rules.suffix), SUFFIX_MAX), &names_error);
    if (names_error != NULL)
        component_problem(&self->base.base, problems, "prefix", "%s", names_error->message);
}

static void
configure_compression(FileSink *self, Problems *problems)
{
    const char *missing;

    self->rules.codec = file_codec_find(self->compression, &missing);
    if (missing != NULL)
        component_problem(
            &self->base.base, problems, "compression",
            "this leat was built without %s; write none, or install it and build anew", missing);
}

static void
configure_time(FileSink *self, Problems *problems)
{
    if (self->time_zone == NULL)
        return;
    self->time = file_time_new(self->time_zone, self->time_from == TIME_FROM_HEADER);
    if (self->time == NULL)
        component_problem(&self->base.base, problems, "time-zone",
                          "'%s' is not a time zone; write local, utc or a name such as "
                          "Europe/Berlin",
                          self->time_zone);
}

static void
configure_mode(FileSink *self, Problems *problems)
{
    const char *text = self->file_mode != NULL ? self->file_mode : "";
    char *end;
    guint64 mode = g_ascii_strtoull(text, &end, 8);

    self->rules.mode = (mode_t) mode;
    if (!g_ascii_isdigit(*text) || *end != '\0' || mode > 0777 || (mode & 0600) != 0600)
        component_problem(&self->base.base, problems, "file-mode",
                          "'%s' is not a mode; write octal digits from 0600 to 0777 that let the "
                          "owner read and write, such as 0640",
                          text);
}

static void
file_sink_configure(Component *component, Problems *problems)
{
    FileSink *self = (FileSink *) component;

    configure_suffix(self, problems);
    configure_templates(self, problems);
    configure_compression(self, problems);
    configure_time(self, problems);
    configure_mode(self, problems);
    if (self->folders != NULL)
        self->rules.base = file_template_base(self->folders);
}

/* ---- life ---- */

/* A folder that cannot be written to at the start is a mistake; later it is an outage. */
static gboolean
check_directory(const FileSink *self, GError **error)
{
    int directory = file_directory_create(&self->rules, "", error);
    int number;

    if (directory < 0)
        return FALSE;
    number = faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
    close(directory);
    if (number == 0)
        return TRUE;
    file_error_set(error, number, "write to the folder", self->rules.base);
    return FALSE;
}

static gboolean
file_sink_open(Component *component, GError **error)
{
    FileSink *self = (FileSink *) component;

    if (!check_directory(self, error))
        return FALSE;
    file_recovery_run(&self->rules, self->folders, self->names, component);
    self->pool = file_pool_new(&self->rules, component);
    self->delivery = file_delivery_new(&self->rules, self->pool, component);
    self->key = g_string_new(NULL);
    return TRUE;
}

static void
file_sink_close(Component *component)
{
    FileSink *self = (FileSink *) component;

    if (self->pool == NULL)
        return;
    file_pool_set_now_us(self->pool, clock_now_us());
    g_clear_pointer(&self->delivery, file_delivery_free);
    g_clear_pointer(&self->pool, file_pool_free);
    g_string_free(g_steal_pointer(&self->key), TRUE);
}

static void
file_sink_finalize(Component *component)
{
    FileSink *self = (FileSink *) component;

    file_template_free(self->folders);
    file_template_free(self->names);
    file_time_free(self->time);
}

/* ---- delivery ---- */

static void
fill_in_key(FileSink *self, const EventView *event)
{
    if (self->key->len > 0 && file_template_is_fixed(self->folders) &&
        file_template_is_fixed(self->names))
        return;
    if (file_template_has_time(self->folders) || file_template_has_time(self->names))
        file_time_choose(self->time, event, self->clock_us);
    g_string_truncate(self->key, 0);
    file_template_append(self->folders, event, self->time, self->key);
    if (self->key->len > 0)
        g_string_append_c(self->key, '/');
    file_template_append(self->names, event, self->time, self->key);
}

/* All events behind this one wait too, so it is said which one it is. */
static void
name_event(const FileSink *self, const EventView *event, GError **error)
{
    g_autoptr(GString) headers = g_string_new(NULL);

    file_template_append_headers(self->folders, event, headers);
    file_template_append_headers(self->names, event, headers);
    if (headers->len > 0)
        g_prefix_error(error, "the event with%s waits, and all behind it: ", headers->str);
}

static gboolean
add_slice(FileSink *self, const BatchSlice *slice, GError **error)
{
    EventView event;

    for (guint i = 0; i < slice->count; i++) {
        batch_view(slice->batch, slice->first + i, &event);
        fill_in_key(self, &event);
        if (!file_delivery_add(self->delivery, self->key->str, &event, error)) {
            name_event(self, &event, error);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
add_all(FileSink *self, const Delivery *delivery, GError **error)
{
    for (guint i = 0; i < delivery->n_slices; i++)
        if (!add_slice(self, &delivery->slices[i], error))
            return FALSE;
    return TRUE;
}

static Verdict
file_sink_deliver(Sink *sink, const Delivery *delivery, guint *ret_done, GError **error)
{
    FileSink *self = (FileSink *) sink;
    gboolean delivered;

    self->clock_us = clock_wall_us();
    file_pool_set_now_us(self->pool, clock_now_us());
    file_delivery_begin(self->delivery);
    delivered = add_all(self, delivery, error) && file_delivery_commit(self->delivery, error);
    if (!delivered)
        file_delivery_rollback(self->delivery);
    *ret_done = file_delivery_done(self->delivery);
    return delivered ? DELIVERED : DELIVERY_RETRY;
}

static void
file_sink_tick(Sink *sink)
{
    FileSink *self = (FileSink *) sink;

    file_pool_set_now_us(self->pool, clock_now_us());
    file_pool_tick(self->pool);
}

static gint64
file_sink_next_tick_us(Sink *sink)
{
    return file_pool_next_tick_us(((FileSink *) sink)->pool);
}

const SinkType file_sink = {
    .base = {
        .name = "file",
        .summary = "Writes events to files that roll by size, count and time.",
        .instance_size = sizeof(FileSink),
        .options = file_sink_options,
        .metrics = file_metrics,
        .configure = file_sink_configure,
        .open = file_sink_open,
        .close = file_sink_close,
        .finalize = file_sink_finalize,
    },
    .deliver = file_sink_deliver,
    .tick = file_sink_tick,
    .next_tick_us = file_sink_next_tick_us,
};
