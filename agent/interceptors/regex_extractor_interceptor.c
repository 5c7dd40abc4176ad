/* regex_extractor_interceptor.c - copies what the groups of a regular expression find into headers.
 */
#include "agent/core/interceptor.h"
#include "agent/interceptors/event_search.h"
#include "agent/interceptors/time_pattern.h"

typedef enum { SERIALIZE_DEFAULT, SERIALIZE_MILLIS } SerializerType;

/* One group, one header. */
typedef struct {
    char *name;
    guint type; /* SerializerType */
    char *pattern;
    char *zone;
} SerializerRow;

typedef struct {
    Interceptor base;
    Regex *regex;
    GPtrArray *serializers; /* SerializerRow *, for groups 1, 2, ... */
    GPtrArray *patterns;    /* TimePattern *, by serializer; NULL for those of other types */
} RegexExtractorInterceptor;

enum { EXTRACTOR_UNREADABLE };

static const MetricSpec regex_extractor_metrics[] = {
    [EXTRACTOR_UNREADABLE] = { .name = "leat_regex_extractor_unreadable_total",
                               .help = "Times that did not fit their pattern; their header was "
                                       "left out." },
    { 0 },
};

static const char *const serializer_types[] = { "default", "millis", NULL };

static const OptionSpec serializer_rows[] = {
    { .name = "name",
      OPTION_AT(STRING, SerializerRow, name),
      .required = TRUE,
      .example = "level",
      .help = "The header that receives what the group found." },
    { .name = "type",
      OPTION_AT(CHOICE, SerializerRow, type),
      .choices = serializer_types,
      .fallback = "default",
      .help = "How it is written: default as it is, millis as milliseconds since 1970." },
    { .name = "pattern",
      OPTION_AT(STRING, SerializerRow, pattern),
      .fallback_text = "none",
      .example = "yyyy-MM-dd HH:mm:ss",
      .help = "For millis, how the time was written: y year, M month (MMM a name), d day, H or h "
              "hour, a AM or PM, m minute, s second, S fraction, E weekday, Z offset; other text "
              "in 'quotes'." },
    { .name = "zone",
      OPTION_AT(STRING, SerializerRow, zone),
      .fallback = "local",
      .example = "Europe/Berlin",
      .help = "For millis, where times without an offset are: local, UTC, +02:00 or a name." },
    { 0 },
};

static const OptionSpec regex_extractor_options[] = {
    { .name = "regex",
      OPTION_AT(REGEX, RegexExtractorInterceptor, regex),
      .required = TRUE,
      .example = "^(\\S+) (\\w+)",
      .help = "What to look for in the body; each of its groups may become a "
              "header." EVENT_SEARCH_LIMIT_HELP },
    { .name = "serializers",
      OPTION_AT(ROWS, RegexExtractorInterceptor, serializers),
      .rows = serializer_rows,
      .row_size = sizeof(SerializerRow),
      .required = TRUE,
      .example = "[{ name: level }]",
      .help = "The headers, in the order of the groups." },
    { 0 },
};

static TimePattern *
read_pattern(Component *component, const SerializerRow *row, Problems *problems)
{
    g_autoptr(GError) error = NULL;
    TimePattern *pattern;

    if (row->pattern == NULL) {
        component_problem(component, problems, "serializers",
                          "'%s' is of type millis and has no pattern; say how the time is written",
                          row->name);
        return NULL;
    }
    pattern = time_pattern_new(row->pattern, row->zone, &error);
    if (pattern == NULL)
        component_problem(component, problems, "serializers", "the pattern '%s' of '%s' %s",
                          row->pattern, row->name, error->message);
    return pattern;
}

static void
regex_extractor_configure(Component *component, Problems *problems)
{
    RegexExtractorInterceptor *self = (RegexExtractorInterceptor *) component;
    guint n_groups;

    if (self->regex == NULL || self->serializers == NULL)
        return; /* a problem already */
    n_groups = regex_n_groups(self->regex);
    if (self->serializers->len > n_groups)
        component_problem(component, problems, "serializers",
                          "there are %u serializers, but the regex has %u groups",
                          self->serializers->len, n_groups);
    self->patterns = g_ptr_array_new();
    for (guint i = 0; i < self->serializers->len; i++) {
        const SerializerRow *row = g_ptr_array_index(self->serializers, i);
        gboolean is_time = row->type == SERIALIZE_MILLIS;

        if (row->name != NULL && *row->name == '\0')
            component_problem(component, problems, "serializers",
                              "a header's name is empty; give it one");
        g_ptr_array_add(self->patterns, is_time ? read_pattern(component, row, problems) : NULL);
    }
}

static void
regex_extractor_finalize(Component *component)
{
    RegexExtractorInterceptor *self = (RegexExtractorInterceptor *) component;

    for (guint i = 0; self->patterns != NULL && i < self->patterns->len; i++)
        g_clear_pointer((TimePattern **) &g_ptr_array_index(self->patterns, i), time_pattern_free);
    g_clear_pointer(&self->patterns, g_ptr_array_unref);
}

static void
write_time(const RegexExtractorInterceptor *self, EventEdit *event, ByteSpan key,
           const TimePattern *pattern, ByteSpan found)
{
    gint64 ms;
    char text[24];
    int length;

    if (!time_pattern_read(pattern, found, &ms)) {
        metric_add(self->base.base.part_metrics, EXTRACTOR_UNREADABLE, 1);
        return;
    }
    length = g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, ms);
    event_edit_set_header(event, key, byte_span(text, (gsize) length));
}

static void
regex_extractor_intercept(const Interceptor *base, EventEdit *event)
{
    const RegexExtractorInterceptor *self = (const RegexExtractorInterceptor *) base;
    EventSearch search;

    event_search_init(&search, base, event, self->regex, event_edit_body(event));
    if (event_search_next(&search) != REGEX_FOUND)
        return;
    for (guint i = 0; i < self->serializers->len; i++) {
        const SerializerRow *row = g_ptr_array_index(self->serializers, i);
        const TimePattern *pattern = g_ptr_array_index(self->patterns, i);
        ByteSpan key = byte_span_of_text(row->name);
        ByteSpan found;

        if (!regex_search_group(&search.search, i + 1, &found))
            continue;
        if (pattern != NULL)
            write_time(self, event, key, pattern, found);
        else
            event_edit_set_header(event, key, found);
    }
}

const InterceptorType regex_extractor_interceptor = {
    .base = {
        .name = "regex-extractor",
        .summary = "Copies what the groups of a regular expression find in the body into headers.",
        .instance_size = sizeof(RegexExtractorInterceptor),
        .options = regex_extractor_options,
        .metrics = regex_extractor_metrics,
        .configure = regex_extractor_configure,
        .finalize = regex_extractor_finalize,
    },
    .intercept = regex_extractor_intercept,
};
