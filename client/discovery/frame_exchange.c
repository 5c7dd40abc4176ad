/* frame_exchange.c - connects, writes, reads a length, reads the rest, closes. */
#include "client/discovery/frame_exchange.h"

#include <string.h>

#include "client/discovery/io_limit.h"

#define LENGTH_BYTES 4

typedef struct {
    GBytes *question;
    gsize max_answer;
    GSocketConnection *connection; /* once it is there */
    GByteArray *answer;
    IoLimit limit;
    FrameExchanged done;
    gpointer user;
} FrameExchange;

G_DEFINE_QUARK(leat_frame_error, frame_error)

static void
exchange_end(FrameExchange *self, GError *failure /* (transfer full) */)
{
    g_autoptr(GError) error = failure == NULL ? NULL : io_limit_explain(&self->limit, failure);
    g_autoptr(GBytes) answer = g_byte_array_free_to_bytes(g_steal_pointer(&self->answer));

    self->done(error == NULL ? answer : NULL, error, self->user);
    g_clear_object(&self->connection);
    g_bytes_unref(self->question);
    io_limit_clear(&self->limit);
    g_free(self);
}

static void
exchange_read(FrameExchange *self, guint n_bytes, GAsyncReadyCallback callback)
{
    GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(self->connection));
    guint n_before = self->answer->len;

    g_byte_array_set_size(self->answer, n_before + n_bytes);
    g_input_stream_read_all_async(in, self->answer->data + n_before, n_bytes, G_PRIORITY_DEFAULT,
                                  self->limit.cancel, callback, self);
}

/* FALSE: it has ended, with a failure. */
static gboolean
exchange_finish_read(FrameExchange *self, GObject *in, GAsyncResult *result, gsize n_wanted)
{
    GError *failure = NULL;
    gsize n_read;

    if (!g_input_stream_read_all_finish(G_INPUT_STREAM(in), result, &n_read, &failure)) {
        exchange_end(self, failure);
        return FALSE;
    }
    if (n_read == n_wanted)
        return TRUE;
    exchange_end(self, g_error_new_literal(FRAME_ERROR, FRAME_ERROR_HUNG_UP,
                                           "it hung up before it had answered"));
    return FALSE;
}

static void
on_rest(GObject *in, GAsyncResult *result, gpointer user)
{
    FrameExchange *self = user;

    if (exchange_finish_read(self, in, result, self->answer->len - LENGTH_BYTES))
        exchange_end(self, NULL);
}

static GError *
refuse_length(const guint8 *begin)
{
    if (memcmp(begin, "HTTP", LENGTH_BYTES) == 0)
        return g_error_new_literal(FRAME_ERROR, FRAME_ERROR_HTTP, "it speaks HTTP");
    return g_error_new_literal(FRAME_ERROR, FRAME_ERROR_NO_FRAME,
                               "it is no registry: what it answers has no sensible length");
}

static void
on_length(GObject *in, GAsyncResult *result, gpointer user)
{
    FrameExchange *self = user;
    guint32 length;

    if (!exchange_finish_read(self, in, result, LENGTH_BYTES))
        return;
    memcpy(&length, self->answer->data, LENGTH_BYTES);
    length = GUINT32_FROM_BE(length);
    if (length == 0 || length > self->max_answer)
        exchange_end(self, refuse_length(self->answer->data));
    else
        exchange_read(self, length, on_rest);
}

static void
on_written(GObject *out, GAsyncResult *result, gpointer user)
{
    FrameExchange *self = user;
    GError *failure = NULL;

    if (g_output_stream_write_all_finish(G_OUTPUT_STREAM(out), result, NULL, &failure))
        exchange_read(self, LENGTH_BYTES, on_length);
    else
        exchange_end(self, failure);
}

static void
on_connected(GObject *client, GAsyncResult *result, gpointer user)
{
    FrameExchange *self = user;
    GError *failure = NULL;
    gsize length;
    const void *question = g_bytes_get_data(self->question, &length);

    self->connection = g_socket_client_connect_finish(G_SOCKET_CLIENT(client), result, &failure);
    if (self->connection == NULL) {
        exchange_end(self, failure);
        return;
    }
    g_output_stream_write_all_async(g_io_stream_get_output_stream(G_IO_STREAM(self->connection)),
                                    question, length, G_PRIORITY_DEFAULT, self->limit.cancel,
                                    on_written, self);
}

void
frame_exchange(const Endpoint *peer, GBytes *question, gsize max_answer, gint64 timeout_us,
               GCancellable *stop, FrameExchanged done, gpointer user)
{
    g_autoptr(GSocketClient) client = g_socket_client_new();
    g_autoptr(GSocketConnectable) address = g_network_address_new(peer->host, peer->port);
    FrameExchange *self = g_new0(FrameExchange, 1);

    self->question = g_bytes_ref(question);
    self->max_answer = max_answer;
    self->answer = g_byte_array_new();
    self->done = done;
    self->user = user;
    io_limit_init(&self->limit, timeout_us, stop);
    g_socket_client_set_enable_proxy(client, FALSE);
    g_socket_client_connect_async(client, address, self->limit.cancel, on_connected, self);
}
