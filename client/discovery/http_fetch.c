/* http_fetch.c - one libsoup session for all registries; bodies are read up to a limit. */
#include "client/discovery/http_fetch.h"

#include <libsoup/soup.h>

#include "client/discovery/io_limit.h"

#define NSQ_ACCEPT "application/vnd.nsq; version=1.0" /* or old ones answer in another form */
#define MAX_CONNECTIONS 1000                          /* a watch holds one for its whole time */

struct HttpClient {
    SoupSession *session;
};

/* Libsoup reads them for as long as there are any, and nothing else of the thread has its turn. */
#define MAX_INFORMATIONAL 10

typedef struct {
    SoupMessage *message;
    guint n_informational;
    GInputStream *stream; /* of the body, once the headers are there */
    GByteArray *body;
    IoLimit limit;
    HttpFetched done;
    gpointer user;
} HttpFetch;

gboolean
http_fetch_is_available(void)
{
    return TRUE;
}

HttpClient *
http_client_new(void)
{
    HttpClient *self = g_new0(HttpClient, 1);

    self->session =
        soup_session_new_with_options("user-agent", "leat", "max-conns", MAX_CONNECTIONS,
                                      "max-conns-per-host", 4, "proxy-resolver", NULL, NULL);
    return self;
}

void
http_client_free(HttpClient *self)
{
    if (self == NULL)
        return;
    soup_session_abort(self->session);
    g_object_unref(self->session);
    g_free(self);
}

static void
on_informational(SoupMessage *message G_GNUC_UNUSED, gpointer user)
{
    HttpFetch *self = user;

    if (++self->n_informational > MAX_INFORMATIONAL)
        g_cancellable_cancel(self->limit.cancel);
}

/* (transfer full) of both; NULL for NULL. */
static GError *
explain(const HttpFetch *self, GError *failure)
{
    if (failure == NULL)
        return NULL;
    if (self->n_informational <= MAX_INFORMATIONAL)
        return io_limit_explain(&self->limit, failure);
    g_error_free(failure);
    return g_error_new_literal(G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                               "it announces an answer again and again, and never answers");
}

static void
fetch_end(HttpFetch *self, GError *failure /* (transfer full) */)
{
    g_autoptr(GError) error = explain(self, failure);
    SoupMessageHeaders *headers = soup_message_get_response_headers(self->message);
    HttpReply reply = {
        .status = soup_message_get_status(self->message),
        .index = soup_message_headers_get_one(headers, "X-Leat-Index"),
        .epoch = soup_message_headers_get_one(headers, "X-Leat-Epoch"),
        .body = g_byte_array_free_to_bytes(g_steal_pointer(&self->body)),
    };

    self->done(error == NULL ? &reply : NULL, error, self->user);
    g_bytes_unref(reply.body);
    g_clear_object(&self->stream);
    g_signal_handlers_disconnect_by_data(self->message, self);
    g_object_unref(self->message);
    io_limit_clear(&self->limit);
    g_free(self);
}

static void fetch_read_more(HttpFetch *self);

static void
on_read(GObject *stream, GAsyncResult *result, gpointer user)
{
    HttpFetch *self = user;
    GError *failure = NULL;
    g_autoptr(GBytes) more =
        g_input_stream_read_bytes_finish(G_INPUT_STREAM(stream), result, &failure);

    if (more == NULL || g_bytes_get_size(more) == 0) {
        fetch_end(self, failure);
        return;
    }
    g_byte_array_append(self->body, g_bytes_get_data(more, NULL), (guint) g_bytes_get_size(more));
    if (self->body->len > HTTP_FETCH_MAX_BODY)
        fetch_end(self, g_error_new(G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
                                    "the answer is larger than %d bytes", HTTP_FETCH_MAX_BODY));
    else
        fetch_read_more(self);
}

static void
fetch_read_more(HttpFetch *self)
{
    g_input_stream_read_bytes_async(self->stream, 64 * 1024, G_PRIORITY_DEFAULT, self->limit.cancel,
                                    on_read, self);
}

static void
on_headers(GObject *session, GAsyncResult *result, gpointer user)
{
    HttpFetch *self = user;
    GError *failure = NULL;

    self->stream = soup_session_send_finish(SOUP_SESSION(session), result, &failure);
    if (self->stream == NULL)
        fetch_end(self, failure);
    else
        fetch_read_more(self);
}

void
http_client_get(HttpClient *self, const Endpoint *peer, const char *path, const char *query,
                gint64 timeout_us, GCancellable *stop, HttpFetched done, gpointer user)
{
    HttpFetch *fetch = g_new0(HttpFetch, 1);
    g_autoptr(GUri) uri =
        g_uri_build(SOUP_HTTP_URI_FLAGS, "http", NULL, peer->host, peer->port, path, query, NULL);
    SoupMessageHeaders *headers;

    fetch->message = soup_message_new_from_uri(SOUP_METHOD_GET, uri);
    soup_message_add_flags(fetch->message, SOUP_MESSAGE_NO_REDIRECT);
    headers = soup_message_get_request_headers(fetch->message);
    soup_message_headers_append(headers, "Accept", NSQ_ACCEPT);
    /* One that is used again may turn out to be dead, and the library would ask anew in silence:
     * that a registry ended must show. */
    soup_message_headers_append(headers, "Connection", "close");
    fetch->body = g_byte_array_new();
    fetch->done = done;
    fetch->user = user;
    g_signal_connect(fetch->message, "got-informational", G_CALLBACK(on_informational), fetch);
    io_limit_init(&fetch->limit, timeout_us, stop);
    soup_session_send_async(self->session, fetch->message, G_PRIORITY_DEFAULT, fetch->limit.cancel,
                            on_headers, fetch);
}
