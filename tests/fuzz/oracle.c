/* oracle.c - the generated decoder over a cursor transport. */
#include "tests/fuzz/oracle.h"

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/protocol/thrift_compact_protocol.h>

#include "tests/support/cursor_transport.h"

/* The decoder loses what it has read so far when it refuses a call, and the generated types lose 32
 * bytes whenever one is finalized (they do not chain up to GObject). That is Thrift's, and must not
 * hide a leak of ours. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_LEAK_DETECTION
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAVE_LEAK_DETECTION
#endif
#ifdef HAVE_LEAK_DETECTION
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable()
#define __lsan_enable()
#endif

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ThriftProtocol, g_object_unref)

static ThriftProtocol *
protocol_new(WireProtocol protocol, LeatCursorTransport *transport)
{
    GType type =
        protocol == WIRE_COMPACT ? THRIFT_TYPE_COMPACT_PROTOCOL : THRIFT_TYPE_BINARY_PROTOCOL;

    return g_object_new(type, "transport", transport, NULL);
}

static gboolean
read_arguments(OracleCall *self, GType type, ThriftProtocol *protocol, GError **error)
{
    self->arguments = g_object_new(type, NULL);
    return thrift_struct_read(THRIFT_STRUCT(self->arguments), protocol, error) >= 0;
}

static gboolean
read_append(OracleCall *self, ThriftProtocol *protocol, GError **error)
{
    flumeThriftSourceProtocolAppendArgs *arguments;

    if (!read_arguments(self, FLUME_TYPE_THRIFT_SOURCE_PROTOCOL_APPEND_ARGS, protocol, error))
        return FALSE;
    arguments = FLUME_THRIFT_SOURCE_PROTOCOL_APPEND_ARGS(self->arguments);
    if (arguments->__isset_event) {
        self->events = g_ptr_array_new();
        g_ptr_array_add(self->events, arguments->event);
    }
    return TRUE;
}

static gboolean
read_append_batch(OracleCall *self, ThriftProtocol *protocol, GError **error)
{
    flumeThriftSourceProtocolAppendBatchArgs *arguments;

    if (!read_arguments(self, FLUME_TYPE_THRIFT_SOURCE_PROTOCOL_APPEND_BATCH_ARGS, protocol, error))
        return FALSE;
    arguments = FLUME_THRIFT_SOURCE_PROTOCOL_APPEND_BATCH_ARGS(self->arguments);
    if (arguments->__isset_events)
        self->events = g_ptr_array_ref(arguments->events);
    return TRUE;
}

static gboolean
read_call(OracleCall *self, ThriftProtocol *protocol, GError **error)
{
    if (thrift_protocol_read_message_begin(protocol, &self->name, &self->type, &self->sequence_id,
                                           error) < 0)
        return FALSE;
    if (g_strcmp0(self->name, "append") == 0)
        return read_append(self, protocol, error);
    if (g_strcmp0(self->name, "appendBatch") == 0)
        return read_append_batch(self, protocol, error);
    return thrift_protocol_skip(protocol, T_STRUCT, error) >= 0;
}

void
oracle_decode(OracleCall *self, WireProtocol protocol, const guint8 *data, gsize length)
{
    g_autoptr(LeatCursorTransport) transport = cursor_transport_new();
    g_autoptr(ThriftProtocol) reader = protocol_new(protocol, transport);
    g_autoptr(GError) error = NULL;

    *self = (OracleCall){ 0 };
    cursor_transport_set_input(transport, data, length);
    __lsan_disable();
    self->accepted = read_call(self, reader, &error);
    __lsan_enable();
    self->n_bytes_left = cursor_transport_left(transport);
}

void
oracle_call_clear(OracleCall *self)
{
    g_clear_pointer(&self->name, g_free);
    g_clear_pointer(&self->events, g_ptr_array_unref);
    __lsan_disable();
    g_clear_object(&self->arguments);
    __lsan_enable();
}
