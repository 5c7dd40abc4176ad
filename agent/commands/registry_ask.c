/* registry_ask.c - turns the default main context until an answer is there. */
#include "agent/commands/registry_ask.h"

#include "client/discovery/lookup.h"
#include "client/discovery/registry_port.h"
#include "client/discovery/remoting_ask.h"
#include "registry/wire/namesrv_codes.h"

typedef struct {
    gboolean is_done;
    GError *error;
    RegistryPort port;
    HttpTaker take_http;
    RemotingTaker take_remoting;
    gpointer user;
    int also_fine;
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
on_port_found(RegistryPort port, const GError *error, gpointer user)
{
    Question *self = user;

    self->is_done = TRUE;
    self->port = port;
    self->error = error != NULL ? g_error_copy(error) : NULL;
}

gboolean
registry_ask_kind(const Endpoint *registry, RegistryKind *ret_kind, GError **error)
{
    Question self = { 0 };

    registry_port_find_out(registry, NULL, on_port_found, &self);
    if (!question_wait(&self, error))
        return FALSE;
    if (self.port == REGISTRY_PORT_NSQ_TCP) {
        g_propagate_error(error, registry_port_explain_nsq_tcp(registry->port));
        return FALSE;
    }
    *ret_kind = self.port == REGISTRY_PORT_NSQ_HTTP ? REGISTRY_NSQLOOKUPD : REGISTRY_NAMESRV;
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
    else if (answer->code != REMOTING_SUCCESS && answer->code != self->also_fine)
        self->error = remoting_refusal(answer);
    else
        self->take_remoting(answer, self->user, &self->error);
}

gboolean
registry_ask_namesrv(const Endpoint *registry, const RemotingCommand *request, int also_fine,
                     gint64 timeout_us, RemotingTaker take, gpointer user, GError **error)
{
    Question self = { .take_remoting = take, .user = user, .also_fine = also_fine };

    remoting_ask(registry, request, FALSE, timeout_us, NULL, on_answer, &self);
    return question_wait(&self, error);
}
