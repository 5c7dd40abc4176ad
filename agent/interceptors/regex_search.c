/* regex_search.c - regular expressions over raw bytes, with an end to their patience. */
#include "agent/interceptors/regex_search.h"

void
regex_search_prepare(GRegex *regex)
{
    g_regex_match(regex, "", 0, NULL);
}

static SearchResult
search_result(const Interceptor *self, gboolean found, const GError *error)
{
    if (found)
        return SEARCH_FOUND;
    if (error == NULL)
        return SEARCH_NONE;
    component_report((Component *) self, REPORT_MATCH_LIMIT, NULL, error->message);
    return SEARCH_GAVE_UP;
}

SearchResult
regex_search(const Interceptor *self, const GRegex *regex, ByteSpan subject, GMatchInfo **ret_match)
{
    g_autoptr(GError) error = NULL;
    const char *text = subject.length > 0 ? (const char *) subject.data : "";
    gboolean found =
        g_regex_match_full(regex, text, (gssize) subject.length, 0, 0, ret_match, &error);

    return search_result(self, found, error);
}

SearchResult
regex_search_next(const Interceptor *self, GMatchInfo *match)
{
    g_autoptr(GError) error = NULL;
    gboolean found = g_match_info_next(match, &error);

    return search_result(self, found, error);
}

gboolean
regex_search_group(const GMatchInfo *match, guint group, ByteSpan subject, ByteSpan *ret_bytes)
{
    int start;
    int end;

    if (!g_match_info_fetch_pos(match, (int) group, &start, &end) || start < 0)
        return FALSE;
    *ret_bytes = byte_span(subject.data + start, (gsize) (end - start));
    return TRUE;
}
