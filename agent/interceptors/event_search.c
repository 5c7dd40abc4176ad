/* event_search.c - a regular expression at work on an event, as long as the event's watch allows.
 */
#include "agent/interceptors/event_search.h"

static gboolean
may_go_on(gpointer user)
{
    return event_edit_may_go_on(((EventSearch *) user)->event);
}

void
event_search_init(EventSearch *self, const Interceptor *interceptor, EventEdit *event,
                  const Regex *regex, ByteSpan subject)
{
    self->interceptor = interceptor;
    self->event = event;
    regex_search_init(&self->search, regex, subject, may_go_on, self);
}

RegexResult
event_search_next(EventSearch *self)
{
    RegexResult result = regex_search_next(&self->search);
    const char *why = event_edit_took_too_long(self->event)
                          ? "the event took half of the source's intercept-timeout"
                          : self->search.why;

    if (result == REGEX_GAVE_UP && !event_edit_is_refused(self->event))
        component_report((Component *) self->interceptor, REPORT_MATCH_LIMIT, NULL, why);
    return result;
}
