/* http_fetch_none.c - for a leat that was built without libsoup: there is no HTTP, and whoever may
 * want it asks first. */
#include "client/discovery/http_fetch.h"

gboolean
http_fetch_is_available(void)
{
    return FALSE;
}

HttpClient *
http_client_new(void)
{
    return NULL;
}

void
http_client_free(HttpClient *self G_GNUC_UNUSED)
{
}

void
http_client_get(HttpClient *self G_GNUC_UNUSED, const Endpoint *peer G_GNUC_UNUSED,
                const char *path G_GNUC_UNUSED, const char *query G_GNUC_UNUSED,
                gint64 timeout_us G_GNUC_UNUSED, GCancellable *stop G_GNUC_UNUSED,
                HttpFetched done G_GNUC_UNUSED, gpointer user G_GNUC_UNUSED)
{
    g_assert_not_reached();
}
