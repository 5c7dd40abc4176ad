/* event_search.h - a regular expression at work on an event, as long as the event's watch allows.
 */
#pragma once

#include "agent/core/interceptor.h"
#include "base/regex.h"

typedef struct {
    RegexSearch search; /* regex_search_group reads what was found */
    const Interceptor *interceptor;
    EventEdit *event;
} EventSearch;

/* For the help of every option that takes a regular expression to bodies. */
#define EVENT_SEARCH_LIMIT_HELP " An event on which it gives up goes on unchanged."

void event_search_init(EventSearch *self, const Interceptor *interceptor, EventEdit *event,
                       const Regex *regex, ByteSpan subject);
/* The first match, then the one after it. That it gave up is reported, and the event is to be left
 * alone. */
RegexResult event_search_next(EventSearch *self);
