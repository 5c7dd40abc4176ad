/* connection.c - frames calls for one peer and matches its replies to them. */
#include "thrift/wire/connection.h"

#include <string.h>

#include "base/quantity.h"
#include "thrift/wire/peer_socket.h"

/* A reply is a status or an exception's text. */
#define MAX_REPLY (64 * 1024)
#define LENGTH_SIZE 4

struct WireConnection {
    Endpoint *endpoint;
    WireProtocol protocol;
    PeerSocket socket;

    GByteArray *written; /* what a call has besides the events of compact batches */
    GArray *vectors;     /* struct iovec */

    GByteArray *received; /* replies not yet handed out, behind n_handed_out bytes that were */
    guint n_handed_out;

    guint in_flight;
    gint32 next_sequence_id;                       /* of a call */
    gint32 oldest_sequence_id;                     /* of a reply */
    const char *methods[WIRE_MAX_SEQUENCE_ID + 1]; /* static; of the calls in flight */
};

/* Servers hang up so on a protocol that they do not speak, but others do when they end. */
static const char *const wordless_ends[] = {
    [WIRE_COMPACT] = "the peer closed the connection without an answer; it may not speak the "
                     "compact protocol",
    [WIRE_BINARY] = "the peer closed the connection without an answer; it may not speak the "
                    "binary protocol",
};

WireConnection *
wire_connection_new(const Endpoint *peer, WireProtocol protocol)
{
    WireConnection *self = g_new0(WireConnection, 1);

    self->endpoint = endpoint_copy(peer);
    self->protocol = protocol;
    self->written = g_byte_array_new();
    self->vectors = g_array_new(FALSE, FALSE, sizeof(struct iovec));
    self->received = g_byte_array_new();
    self->next_sequence_id = self->oldest_sequence_id = 1;
    peer_socket_init(&self->socket);
    self->socket.peer = endpoint_to_text(peer);
    self->socket.wordless_end = wordless_ends[protocol];
    return self;
}

void
wire_connection_free(WireConnection *self)
{
    peer_socket_clear(&self->socket);
    g_byte_array_unref(self->received);
    g_array_unref(self->vectors);
    g_byte_array_unref(self->written);
    endpoint_free(self->endpoint);
    g_free(self);
}

gboolean
wire_connection_open(WireConnection *self, gint64 deadline_us, GError **error)
{
    return peer_socket_connect(&self->socket, self->endpoint, deadline_us, error);
}

void
wire_connection_shut(WireConnection *self)
{
    peer_socket_shut(&self->socket);
}

const char *
wire_connection_peer(const WireConnection *self)
{
    return self->socket.peer;
}

guint
wire_connection_in_flight(const WireConnection *self)
{
    return self->in_flight;
}

static gint32
sequence_id_after(gint32 sequence_id)
{
    return sequence_id % WIRE_MAX_SEQUENCE_ID + 1;
}

/* ---- calls ---- */

static void
add_vector(WireConnection *self, const guint8 *data, gsize length)
{
    struct iovec vector = { .iov_base = (guint8 *) data, .iov_len = length };

    if (length > 0)
        g_array_append_val(self->vectors, vector);
}

static void
gather_compact(WireConnection *self, const BatchSlice *slices, guint n_slices)
{
    add_vector(self, self->written->data, self->written->len);
    for (guint i = 0; i < n_slices; i++) {
        ByteSpan events = batch_span(slices[i].batch, slices[i].first, slices[i].count);

        add_vector(self, events.data, events.length);
    }
    add_vector(self, wire_call_tail, sizeof wire_call_tail);
}

static void
gather_binary(WireConnection *self, const BatchSlice *slices, guint n_slices)
{
    for (guint i = 0; i < n_slices; i++)
        wire_call_write_binary_events(self->written, &slices[i]);
    add_vector(self, self->written->data, self->written->len);
    add_vector(self, wire_call_tail, sizeof wire_call_tail);
}

static gboolean
begin_call(WireConnection *self, const char *method, gsize frame_size, GError **error)
{
    g_assert(self->in_flight < WIRE_MAX_SEQUENCE_ID);
    if (frame_size > WIRE_MAX_FRAME) {
        g_autofree char *size = quantity_size_to_text_beside(frame_size, WIRE_MAX_FRAME);
        g_autofree char *limit = quantity_size_to_text_beside(WIRE_MAX_FRAME, frame_size);

        g_set_error(error, CONNECTION_ERROR, CONNECTION_ERROR_TOO_LARGE,
                    "a frame of %s is larger than the %s that peers accept", size, limit);
        return FALSE;
    }
    self->methods[self->next_sequence_id] = method;
    g_byte_array_set_size(self->written, 0);
    g_array_set_size(self->vectors, 0);
    return TRUE;
}

/* The head is written. */
static gboolean
send_call(WireConnection *self, const BatchSlice *slices, guint n_slices, gint64 deadline_us,
          GError **error)
{
    if (self->protocol == WIRE_COMPACT)
        gather_compact(self, slices, n_slices);
    else
        gather_binary(self, slices, n_slices);
    if (!peer_socket_write(&self->socket, (struct iovec *) (gpointer) self->vectors->data,
                           self->vectors->len, deadline_us, error))
        return FALSE;
    self->next_sequence_id = sequence_id_after(self->next_sequence_id);
    self->in_flight++;
    return TRUE;
}

gboolean
wire_connection_send(WireConnection *self, const BatchSlice *slices, guint n_slices,
                     gint64 deadline_us, GError **error)
{
    gsize frame_size = wire_frame_size(self->protocol, slices, n_slices);
    guint n_events = 0;

    for (guint i = 0; i < n_slices; i++)
        n_events += slices[i].count;
    if (!begin_call(self, WIRE_APPEND_BATCH, frame_size, error))
        return FALSE;
    wire_call_write_head(self->written, self->protocol, frame_size, self->next_sequence_id,
                         n_events);
    return send_call(self, slices, n_slices, deadline_us, error);
}

gboolean
wire_connection_send_append(WireConnection *self, const BatchSlice *event, gint64 deadline_us,
                            GError **error)
{
    gsize frame_size = wire_append_frame_size(self->protocol, event);

    g_assert(event->count == 1);
    if (!begin_call(self, WIRE_APPEND, frame_size, error))
        return FALSE;
    wire_call_write_append_head(self->written, self->protocol, frame_size, self->next_sequence_id);
    return send_call(self, event, 1, deadline_us, error);
}

/* ---- replies ---- */

/* Reads until n_wanted bytes stand behind those handed out; what comes with them is kept. */
static gboolean
read_ahead(WireConnection *self, guint n_wanted, gint64 deadline_us, GError **error)
{
    while (self->received->len - self->n_handed_out < n_wanted) {
        guint8 bytes[4096];
        gsize n_read = peer_socket_read(&self->socket, bytes, sizeof bytes, deadline_us, error);

        if (n_read == 0)
            return FALSE;
        g_byte_array_append(self->received, bytes, (guint) n_read);
    }
    return TRUE;
}

static gboolean
read_frame(WireConnection *self, gint64 deadline_us, ByteSpan *ret_frame, GError **error)
{
    guint32 length;

    g_byte_array_remove_range(self->received, 0, self->n_handed_out);
    self->n_handed_out = 0;
    if (!read_ahead(self, LENGTH_SIZE, deadline_us, error))
        return FALSE;
    memcpy(&length, self->received->data, LENGTH_SIZE);
    length = GUINT32_FROM_BE(length);
    if (length == 0 || length > MAX_REPLY) {
        g_set_error(error, CONNECTION_ERROR, CONNECTION_ERROR_PROTOCOL,
                    "%s: answers without Thrift's framing, or nothing that leat asked for",
                    self->socket.peer);
        return FALSE;
    }
    if (!read_ahead(self, LENGTH_SIZE + length, deadline_us, error))
        return FALSE;
    self->n_handed_out = LENGTH_SIZE + length;
    *ret_frame = byte_span(self->received->data + LENGTH_SIZE, length);
    return TRUE;
}

static const char *
find_mismatch(const WireConnection *self, const WireReply *reply)
{
    if ((reply->message.protocol == WIRE_COMPACT) != (self->protocol == WIRE_COMPACT))
        return "answers in the other Thrift protocol";
    if (reply->message.sequence_id != self->oldest_sequence_id)
        return "answers a call that was not made";
    if (!byte_span_equal(reply->message.name,
                         byte_span_of_text(self->methods[self->oldest_sequence_id])))
        return "answers another method";
    return NULL;
}

gboolean
wire_connection_receive(WireConnection *self, gint64 deadline_us, WireReply *ret_reply,
                        GError **error)
{
    const char *mismatch = "answers something that is no reply";
    WireReply reply;
    ByteSpan frame;

    g_assert(self->in_flight > 0);
    if (!read_frame(self, deadline_us, &frame, error))
        return FALSE;
    if (wire_reply_read(frame.data, frame.length, &reply))
        mismatch = find_mismatch(self, &reply);
    if (mismatch != NULL) {
        g_set_error(error, CONNECTION_ERROR, CONNECTION_ERROR_PROTOCOL, "%s: %s", self->socket.peer,
                    mismatch);
        return FALSE;
    }
    self->oldest_sequence_id = sequence_id_after(self->oldest_sequence_id);
    self->in_flight--;
    *ret_reply = reply;
    return TRUE;
}

gboolean
wire_connection_is_quiet(WireConnection *self)
{
    return self->in_flight == 0 && self->received->len == self->n_handed_out &&
           peer_socket_is_quiet(&self->socket);
}
