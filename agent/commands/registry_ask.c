/* registry_ask.c - turns the default main context until an answer is there. */
#include "agent/commands/registry_ask.h"

#include <string.h>

#include "client/discovery/frame_exchange.h"
#include "client/discovery/lookup.h"
#include "client/discovery/remoting_ask.h"
#include "registry/wire/namesrv_codes.h"

#define NSQ_MAX_ANSWER 64 /* of nsqlookupd's TCP port to one who speaks HTTP there */

typedef struct {
    gboolean is_done;
    GError *error;
    HttpTaker take_http;
    RemotingTaker take_remoting;
    gpointer user;
    int may_be;
} Question;

static gboolean
question_wait(Question *self, GError **error)
{
    while (!self->is_done)
        g_main_context_iteration(NULL, TRUE);
    if (self->error == NULL)
        return TRUE;
    g_propagate_error(error, self->error);
    return FALSE;
}

/* ---- who is there ---- */

static void
on_sniffed(GBytes *answer G_GNUC_UNUSED, const GError *error, gpointer user)
{
    Question *self = user;

    self->is_done = TRUE;
    self->error = error != NULL ? g_error_copy(error) : NULL;
}

static gboolean
is_absence(const GError *error)
{
    return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT) ||
           error->domain == G_RESOLVER_ERROR;
}

/* Only an nsqlookupd answers HTTP, on one port with HTTP and on the other with a frame; a namesrv
 * hangs up. */
gboolean
registry_ask_kind(const Endpoint *registry, RegistryKind *ret_kind, GError **error)
{
    static const char question[] = "GET /ping HTTP/1.0\r\n\r\n";
    g_autoptr(GBytes) bytes = g_bytes_new_static(question, strlen(question));
    g_autoptr(GError) failure = NULL;
    Question self = { 0 };

    frame_exchange(registry, bytes, NSQ_MAX_ANSWER, LOOKUP_TIMEOUT_US, NULL, on_sniffed, &self);
    if (question_wait(&self, &failure)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "port %u is nsqlookupd's for TCP, where nodes register; write its port for "
                    "HTTP, which is 4161 unless it was told otherwise",
                    registry->port);
        return FALSE;
    }
    if (is_absence(failure)) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    *ret_kind = g_error_matches(failure, FRAME_ERROR, FRAME_ERROR_HTTP) ? REGISTRY_NSQLOOKUPD
                                                                        : REGISTRY_NAMESRV;
    return TRUE;
}

/* ---- nsqlookupd ---- */

static void
on_reply(const HttpReply *reply, const GError *error, gpointer user)
{
    Question *self = user;

    self->is_done = TRUE;
    if (reply == NULL)
        self->error = g_error_copy(error);
    else
        self->take_http(reply, self->user, &self->error);
}

gboolean
registry_ask_http(const Endpoint *registry, const char *path, const char *query, gint64 timeout_us,
                  HttpTaker take, gpointer user, GError **error)
{
    Question self = { .take_http = take, .user = user };
    g_autoptr(HttpClient) http = NULL;

    if (!http_fetch_is_available()) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                            "it is an nsqlookupd, which cannot be asked: this leat was built "
                            "without libsoup");
        return FALSE;
    }
    http = http_client_new();
    http_client_get(http, registry, path, query, timeout_us, NULL, on_reply, &self);
    return question_wait(&self, error);
}

/* ---- namesrv ---- */

static void
on_answer(const RemotingCommand *answer, const GError *error, gpointer user)
{
    Question *self = user;

    self->is_done = TRUE;
    if (answer == NULL)
        self->error = g_error_copy(error);
    else if (answer->code != REMOTING_SUCCESS && answer->code != self->may_be)
        self->error = remoting_refusal(answer);
    else
        self->take_remoting(answer, self->user, &self->error);
}

gboolean
registry_ask_namesrv(const Endpoint *registry, const RemotingCommand *request, int may_be,
                     gint64 timeout_us, RemotingTaker take, gpointer user, GError **error)
{
    Question self = { .take_remoting = take, .user = user, .may_be = may_be };

    remoting_ask(registry, request, timeout_us, NULL, on_answer, &self);
    return question_wait(&self, error);
}
