/* regex_filter_interceptor.c - keeps or drops events by what a regular expression finds. */
#include "agent/core/interceptor.h"
#include "agent/interceptors/event_search.h"

typedef struct {
    Interceptor base;
    Regex *regex;
    gboolean exclude_events;
} RegexFilterInterceptor;

static const OptionSpec regex_filter_options[] = {
    { .name = "regex",
      OPTION_AT(REGEX, RegexFilterInterceptor, regex),
      .fallback = ".*",
      .help = "What to look for anywhere in the body." EVENT_SEARCH_LIMIT_HELP },
    { .name = "exclude-events",
      OPTION_AT(BOOL, RegexFilterInterceptor, exclude_events),
      .fallback = "false",
      .help = "Drop the events in which it is found, and keep the others." },
    { 0 },
};

static void
regex_filter_intercept(const Interceptor *base, EventEdit *event)
{
    const RegexFilterInterceptor *self = (const RegexFilterInterceptor *) base;
    EventSearch search;

    event_search_init(&search, base, event, self->regex, event_edit_body(event));
    if (event_search_next(&search) == (self->exclude_events ? REGEX_FOUND : REGEX_NOT_FOUND))
        event_edit_drop(event);
}

const InterceptorType regex_filter_interceptor = {
    .base = {
        .name = "regex-filter",
        .summary = "Keeps, or drops, the events in whose body a regular expression is found.",
        .instance_size = sizeof(RegexFilterInterceptor),
        .options = regex_filter_options,
    },
    .intercept = regex_filter_intercept,
};
