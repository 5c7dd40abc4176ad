/* cursor_transport.h - a Thrift transport over memory: reads at a cursor, writes to a byte array.
 *
 * Thrift's own memory buffer moves all remaining bytes at every read; here a read is a copy and an
 * addition. A claim of more bytes than are left is refused before anything is allocated for it. */
#pragma once

#include <thrift/c_glib/transport/thrift_transport.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ThriftTransport, g_object_unref)

#define LEAT_TYPE_CURSOR_TRANSPORT (leat_cursor_transport_get_type())
G_DECLARE_FINAL_TYPE(LeatCursorTransport, leat_cursor_transport, LEAT, CURSOR_TRANSPORT,
                     ThriftTransport)

LeatCursorTransport *cursor_transport_new(void);
/* Both are borrowed until they are set anew; NULL: nothing to read, nowhere to write. */
void cursor_transport_set_input(LeatCursorTransport *self, const guint8 *data, gsize length);
void cursor_transport_set_output(LeatCursorTransport *self, GByteArray *output);
gsize cursor_transport_left(const LeatCursorTransport *self); /* bytes not yet read */
