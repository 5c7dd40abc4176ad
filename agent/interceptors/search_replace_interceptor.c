/* search_replace_interceptor.c - replaces what a regular expression finds in the body. */
#include "agent/core/interceptor.h"
#include "agent/interceptors/event_search.h"
#include "agent/interceptors/replacement.h"

typedef struct {
    Interceptor base;
    Regex *search_pattern;
    char *replace_string;
    Replacement *replacement;
} SearchReplaceInterceptor;

static const OptionSpec search_replace_options[] = {
    { .name = "search-pattern",
      OPTION_AT(REGEX, SearchReplaceInterceptor, search_pattern),
      .required = TRUE,
      .example = "password=\\S+",
      .help = "What to replace, wherever it is found in the body." EVENT_SEARCH_LIMIT_HELP },
    { .name = "replace-string",
      OPTION_AT(STRING, SearchReplaceInterceptor, replace_string),
      .fallback = "",
      .help = "What to put there: $1 or $${name} is a group of the pattern, \\$ and \\\\ are "
              "themselves." },
    { 0 },
};

static void
search_replace_configure(Component *component, Problems *problems)
{
    SearchReplaceInterceptor *self = (SearchReplaceInterceptor *) component;
    g_autoptr(GError) error = NULL;

    if (self->search_pattern == NULL)
        return; /* a problem already */
    self->replacement = replacement_new(self->replace_string, self->search_pattern, &error);
    if (self->replacement == NULL)
        component_problem(component, problems, "replace-string", "'%s' %s", self->replace_string,
                          error->message);
}

static void
search_replace_finalize(Component *component)
{
    g_clear_pointer(&((SearchReplaceInterceptor *) component)->replacement, replacement_free);
}

/* FALSE if the body shall stay as it is, or the event has failed. */
static gboolean
replace_all(const SearchReplaceInterceptor *self, EventSearch *search, EventEdit *event)
{
    ByteSpan body = event_edit_body(event);
    RegexResult result = REGEX_FOUND;
    gsize copied = 0;

    while (result == REGEX_FOUND) {
        ByteSpan match;
        gsize start;

        regex_search_group(&search->search, 0, &match);
        start = (gsize) (match.data - search->search.subject.data);
        if (!event_edit_append_body(event, byte_span(body.data + copied, start - copied)) ||
            !replacement_append(self->replacement, &search->search, event))
            return FALSE;
        copied = start + match.length;
        result = event_search_next(search);
    }
    return result == REGEX_NOT_FOUND &&
           event_edit_append_body(event, byte_span(body.data + copied, body.length - copied));
}

static void
search_replace_intercept(const Interceptor *base, EventEdit *event)
{
    const SearchReplaceInterceptor *self = (const SearchReplaceInterceptor *) base;
    EventSearch search;

    event_search_init(&search, base, event, self->search_pattern, event_edit_body(event));
    if (event_search_next(&search) != REGEX_FOUND)
        return;
    event_edit_begin_body(event);
    if (replace_all(self, &search, event))
        event_edit_end_body(event);
}

const InterceptorType search_replace_interceptor = {
    .base = {
        .name = "search-replace",
        .summary = "Replaces what a regular expression finds in the body.",
        .instance_size = sizeof(SearchReplaceInterceptor),
        .options = search_replace_options,
        .configure = search_replace_configure,
        .finalize = search_replace_finalize,
    },
    .intercept = search_replace_intercept,
};
