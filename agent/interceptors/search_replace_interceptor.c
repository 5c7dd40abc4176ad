/* search_replace_interceptor.c - replaces what a regular expression finds in the body. */
#include "agent/core/interceptor.h"
#include "agent/interceptors/regex_search.h"
#include "agent/interceptors/replacement.h"

/* A short match and a long replacement can make any body huge. */
#define MAX_BODY_BYTES ((guint) 128 * 1024 * 1024)

typedef struct {
    Interceptor base;
    GRegex *search_pattern;
    char *replace_string;
    Replacement *replacement;
} SearchReplaceInterceptor;

static const OptionSpec search_replace_options[] = {
    { .name = "search-pattern",
      OPTION_AT(REGEX, SearchReplaceInterceptor, search_pattern),
      .required = TRUE,
      .example = "password=\\S+",
      .help = "What to replace, wherever it is found in the body." },
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

static gboolean
search_replace_open(Component *component, GError **error G_GNUC_UNUSED)
{
    regex_search_prepare(((SearchReplaceInterceptor *) component)->search_pattern);
    return TRUE;
}

static void
search_replace_finalize(Component *component)
{
    g_clear_pointer(&((SearchReplaceInterceptor *) component)->replacement, replacement_free);
}

/* The body with every match replaced; FALSE if it shall stay as it is. */
static gboolean
replace_all(const SearchReplaceInterceptor *self, GMatchInfo *match, ByteSpan body, GByteArray *out)
{
    SearchResult result = SEARCH_FOUND;
    gsize copied = 0;

    while (result == SEARCH_FOUND) {
        int start;
        int end;

        g_match_info_fetch_pos(match, 0, &start, &end);
        g_byte_array_append(out, body.data + copied, (guint) ((gsize) start - copied));
        replacement_append(self->replacement, match, body.data, out);
        copied = (gsize) end;
        if (out->len > MAX_BODY_BYTES) {
            component_report((Component *) self, REPORT_REFUSED, NULL,
                             "a replacement made a body too large; the event is left as it was");
            return FALSE;
        }
        result = regex_search_next(&self->base, match);
    }
    if (body.length > copied)
        g_byte_array_append(out, body.data + copied, (guint) (body.length - copied));
    return result == SEARCH_NONE;
}

static void
search_replace_intercept(const Interceptor *base, EventEdit *event)
{
    const SearchReplaceInterceptor *self = (const SearchReplaceInterceptor *) base;
    ByteSpan body = event_edit_body(event);
    g_autoptr(GMatchInfo) match = NULL;
    g_autoptr(GByteArray) out = NULL;

    if (regex_search(base, self->search_pattern, body, &match) != SEARCH_FOUND)
        return;
    out = g_byte_array_sized_new((guint) body.length);
    if (replace_all(self, match, body, out))
        event_edit_set_body(event, byte_span(out->data, out->len));
}

const InterceptorType search_replace_interceptor = {
    .base = {
        .name = "search-replace",
        .summary = "Replaces what a regular expression finds in the body.",
        .instance_size = sizeof(SearchReplaceInterceptor),
        .options = search_replace_options,
        .configure = search_replace_configure,
        .open = search_replace_open,
        .finalize = search_replace_finalize,
    },
    .intercept = search_replace_intercept,
};
