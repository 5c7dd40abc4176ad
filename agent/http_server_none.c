/* http_server_none.c - in place of http_server.c where leat is built without libsoup. */
#include <gio/gio.h>

#include "agent/http_server.h"

gboolean
http_server_is_available(void)
{
    return FALSE;
}

HttpServer *
http_server_new(Agent *agent G_GNUC_UNUSED, const Endpoint *listen G_GNUC_UNUSED, GError **error)
{
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                        "agent.http: this leat was built without libsoup");
    return NULL;
}

const Endpoint *
http_server_bound(const HttpServer *self G_GNUC_UNUSED)
{
    return NULL;
}

void
http_server_free(HttpServer *self G_GNUC_UNUSED)
{
}
