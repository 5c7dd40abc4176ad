/* cursor_transport.c - a Thrift transport over memory: reads at a cursor, writes to a byte array.
 *
 * Every virtual function is set: what c_glib 0.17 puts in the place of a missing one calls itself.
 */
#include "tests/support/cursor_transport.h"

#include <string.h>

struct _LeatCursorTransport {
    ThriftTransport parent_instance;
    const guint8 *cursor;
    const guint8 *end;
    GByteArray *output;
};

G_DEFINE_FINAL_TYPE(LeatCursorTransport, leat_cursor_transport, THRIFT_TYPE_TRANSPORT)

LeatCursorTransport *
cursor_transport_new(void)
{
    return g_object_new(LEAT_TYPE_CURSOR_TRANSPORT, NULL);
}

void
cursor_transport_set_input(LeatCursorTransport *self, const guint8 *data, gsize length)
{
    self->cursor = data;
    self->end = data + length;
}

void
cursor_transport_set_output(LeatCursorTransport *self, GByteArray *output)
{
    self->output = output;
}

gsize
cursor_transport_left(const LeatCursorTransport *self)
{
    return (gsize) (self->end - self->cursor);
}

/* Also for Thrift's checks of the sizes that a message claims. */
static gboolean
has_bytes(ThriftTransport *transport, glong n_bytes, GError **error)
{
    if (n_bytes >= 0 && (gsize) n_bytes <= cursor_transport_left(LEAT_CURSOR_TRANSPORT(transport)))
        return TRUE;
    g_set_error_literal(error, THRIFT_TRANSPORT_ERROR, THRIFT_TRANSPORT_ERROR_RECEIVE,
                        "the message ends too early");
    return FALSE;
}

/* All or -1: Thrift asks again and again after a short read, for ever after 0. */
static gint32
read_bytes(ThriftTransport *transport, gpointer data, guint32 length, GError **error)
{
    LeatCursorTransport *self = LEAT_CURSOR_TRANSPORT(transport);

    if (length > G_MAXINT32 || !has_bytes(transport, (glong) length, error))
        return -1;
    if (length > 0)
        memcpy(data, self->cursor, length);
    self->cursor += length;
    return (gint32) length;
}

static gboolean
write_bytes(ThriftTransport *transport, const gpointer data, const guint32 length, GError **error)
{
    LeatCursorTransport *self = LEAT_CURSOR_TRANSPORT(transport);

    if (self->output == NULL) {
        g_set_error_literal(error, THRIFT_TRANSPORT_ERROR, THRIFT_TRANSPORT_ERROR_SEND,
                            "nothing may be written here");
        return FALSE;
    }
    g_byte_array_append(self->output, data, length);
    return TRUE;
}

static gboolean
is_open(ThriftTransport *transport G_GNUC_UNUSED)
{
    return TRUE;
}

static gboolean
peek(ThriftTransport *transport, GError **error G_GNUC_UNUSED)
{
    return cursor_transport_left(LEAT_CURSOR_TRANSPORT(transport)) > 0;
}

static gboolean
succeed(ThriftTransport *transport G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
    return TRUE;
}

static gboolean
accept_size(ThriftTransport *transport G_GNUC_UNUSED, glong size G_GNUC_UNUSED,
            GError **error G_GNUC_UNUSED)
{
    return TRUE;
}

static void
leat_cursor_transport_class_init(LeatCursorTransportClass *class)
{
    ThriftTransportClass *transport = THRIFT_TRANSPORT_CLASS(class);

    transport->is_open = is_open;
    transport->peek = peek;
    transport->open = succeed;
    transport->close = succeed;
    transport->read = read_bytes;
    transport->read_all = read_bytes;
    transport->read_end = succeed;
    transport->write = write_bytes;
    transport->write_end = succeed;
    transport->flush = succeed;
    transport->updateKnownMessageSize = accept_size;
    transport->checkReadBytesAvailable = has_bytes;
    transport->resetConsumedMessageSize = accept_size;
    transport->countConsumedMessageBytes = accept_size;
}

static void
leat_cursor_transport_init(LeatCursorTransport *self G_GNUC_UNUSED)
{
}
