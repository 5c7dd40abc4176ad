/* deaf_peer.c - fills the queue of a listener that accepts nothing. */
#include "tests/support/deaf_peer.h"

#include <unistd.h>

#include "base/clock.h"
#include "thrift/wire/connection.h"

#define AT_ONCE_US (20 * 1000)

void
deaf_peer_init(DeafPeer *self)
{
    g_autoptr(Endpoint) anywhere = endpoint_new("127.0.0.1", 0);
    gboolean is_open = TRUE;

    self->listen_fd = endpoint_listen(anywhere, 0, &self->bound, NULL);
    self->queued = g_ptr_array_new_with_free_func((GDestroyNotify) wire_connection_free);
    while (is_open) {
        WireConnection *connection = wire_connection_new(self->bound, WIRE_COMPACT);

        is_open = wire_connection_open(connection, clock_deadline_us(AT_ONCE_US), NULL);
        g_ptr_array_add(self->queued, connection);
    }
}

void
deaf_peer_clear(DeafPeer *self)
{
    g_ptr_array_unref(self->queued);
    endpoint_free(self->bound);
    close(self->listen_fd);
}
