/* peer_socket.h - a TCP connection to one peer whose every wait has a deadline and can be cut short
 * by another thread. */
#pragma once

#include <glib.h>
#include <sys/uio.h>

#include "base/endpoint.h"
#include "thrift/wire/connection_error.h"

typedef struct {
    char *peer;               /* in words: its name, once connected its address */
    const char *wordless_end; /* static; what is said when it hangs up and never said a word */
    gboolean has_spoken;
    gint shut; /* atomic, as the resolver wants it */

    GMutex lock; /* guards fd, which the one thread that changes it reads without */
    int fd;      /* -1: none */
} PeerSocket;

void peer_socket_init(PeerSocket *self);
void peer_socket_clear(PeerSocket *self);

gboolean peer_socket_connect(PeerSocket *self, const Endpoint *peer, gint64 deadline_us,
                             GError **error);
/* All of it or an error. The vectors are used up. */
gboolean peer_socket_write(PeerSocket *self, struct iovec *vectors, guint n_vectors,
                           gint64 deadline_us, GError **error);
/* At least one byte; 0 with an error if there is none to come. */
gsize peer_socket_read(PeerSocket *self, guint8 *data, gsize size, gint64 deadline_us,
                       GError **error);
/* Whether the peer has said nothing and is still there, as far as this machine knows; at once. */
gboolean peer_socket_is_quiet(PeerSocket *self);
/* Any thread. */
void peer_socket_shut(PeerSocket *self);
