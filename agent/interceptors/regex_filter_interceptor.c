/* regex_filter_interceptor.c - keeps or drops events by what a regular expression finds. */
#include "agent/core/interceptor.h"
#include "agent/interceptors/regex_search.h"

typedef struct {
    Interceptor base;
    GRegex *regex;
    gboolean exclude_events;
} RegexFilterInterceptor;

static const OptionSpec regex_filter_options[] = {
    { .name = "regex",
      OPTION_AT(REGEX, RegexFilterInterceptor, regex),
      .fallback = ".*",
      .help = "What to look for anywhere in the body." },
    { .name = "exclude-events",
      OPTION_AT(BOOL, RegexFilterInterceptor, exclude_events),
      .fallback = "false",
      .help = "Drop the events in which it is found, and keep the others." },
    { 0 },
};

static gboolean
regex_filter_open(Component *component, GError **error G_GNUC_UNUSED)
{
    regex_search_prepare(((RegexFilterInterceptor *) component)->regex);
    return TRUE;
}

static void
regex_filter_intercept(const Interceptor *base, EventEdit *event)
{
    const RegexFilterInterceptor *self = (const RegexFilterInterceptor *) base;
    SearchResult result = regex_search(base, self->regex, event_edit_body(event), NULL);

    if (result == (self->exclude_events ? SEARCH_FOUND : SEARCH_NONE))
        event_edit_drop(event);
}

const InterceptorType regex_filter_interceptor = {
    .base = {
        .name = "regex-filter",
        .summary = "Keeps, or drops, the events in whose body a regular expression is found.",
        .instance_size = sizeof(RegexFilterInterceptor),
        .options = regex_filter_options,
        .open = regex_filter_open,
    },
    .intercept = regex_filter_intercept,
};
