/* peer_socket.c - connects, writes and reads without ever blocking in the kernel. */
#include "thrift/wire/peer_socket.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/resolver.h"

/* A peer that vanished without a word is noticed after about a minute and a half of silence, or
 * half a minute after it stopped acknowledging what we sent. */
#define KEEPALIVE_IDLE_S 60
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES 3
#define USER_TIMEOUT_MS 30000

static const char hung_up[] = "the peer closed the connection";

G_DEFINE_QUARK(leat_connection_error, connection_error)

void
peer_socket_init(PeerSocket *self)
{
    *self = (PeerSocket){ .fd = -1, .wordless_end = hung_up };
    g_mutex_init(&self->lock);
}

void
peer_socket_clear(PeerSocket *self)
{
    if (self->fd >= 0)
        close(self->fd);
    g_mutex_clear(&self->lock);
    g_free(self->peer);
}

void
peer_socket_shut(PeerSocket *self)
{
    g_atomic_int_set(&self->shut, TRUE);
    g_mutex_lock(&self->lock);
    if (self->fd >= 0)
        shutdown(self->fd, SHUT_RDWR);
    g_mutex_unlock(&self->lock);
    resolver_wake();
}

static gboolean
peer_socket_is_shut(const PeerSocket *self)
{
    return g_atomic_int_get(&self->shut) != 0;
}

/* Always FALSE. Once the socket was shut, that explains whatever failed. */
static gboolean
peer_socket_fail(PeerSocket *self, ConnectionError code, const char *what, GError **error)
{
    if (peer_socket_is_shut(self))
        g_set_error(error, CONNECTION_ERROR, CONNECTION_ERROR_SHUT, "%s: interrupted", self->peer);
    else
        g_set_error(error, CONNECTION_ERROR, code, "%s: %s", self->peer, what);
    return FALSE;
}

static gboolean
peer_socket_fail_closed(PeerSocket *self, GError **error)
{
    return peer_socket_fail(self, CONNECTION_ERROR_CLOSED,
                            self->has_spoken ? hung_up : self->wordless_end, error);
}

static gboolean
peer_socket_fail_errno(PeerSocket *self, GError **error)
{
    int saved = errno;

    if (saved == ECONNRESET || saved == EPIPE)
        return peer_socket_fail_closed(self, error);
    return peer_socket_fail(self, CONNECTION_ERROR_IO, g_strerror(saved), error);
}

/* Waits until the socket is ready for events, has failed or was shut. */
static gboolean
peer_socket_wait(PeerSocket *self, short events, const char *late, gint64 deadline_us,
                 GError **error)
{
    struct pollfd poll_fd = { .fd = self->fd, .events = events };
    int timeout_ms;
    int n_ready;

    do {
        timeout_ms = clock_poll_timeout_ms(deadline_us);
        if (timeout_ms == 0)
            return peer_socket_fail(self, CONNECTION_ERROR_TIMEOUT, late, error);
        n_ready = poll(&poll_fd, 1, timeout_ms);
    } while (n_ready == 0 || (n_ready < 0 && errno == EINTR));
    return n_ready > 0 || peer_socket_fail_errno(self, error);
}

/* ---- connecting ---- */

static void
peer_socket_adopt(PeerSocket *self, int fd)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    if (self->fd >= 0)
        close(self->fd);
    self->fd = fd;
}

static void
set_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        { IPPROTO_TCP, TCP_NODELAY, 1 },
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S },
        { IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S },
        { IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES },
        { IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS },
    };

    for (guint i = 0; i < G_N_ELEMENTS(options); i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static gboolean
peer_socket_finish_connect(PeerSocket *self, gint64 deadline_us, GError **error)
{
    int failure = 0;
    socklen_t size = sizeof failure;

    if (!peer_socket_wait(self, POLLOUT, "no answer to the attempt to connect", deadline_us, error))
        return FALSE;
    if (getsockopt(self->fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
        failure = errno;
    if (failure != 0)
        return peer_socket_fail(self, CONNECTION_ERROR_CONNECT, g_strerror(failure), error);
    return !peer_socket_is_shut(self) || peer_socket_fail(self, CONNECTION_ERROR_SHUT, "", error);
}

static gboolean
peer_socket_try(PeerSocket *self, const ResolvedAddress *resolved, gint64 deadline_us,
                GError **error)
{
    const struct sockaddr *address = (const struct sockaddr *) &resolved->address;
    int fd;

    g_free(self->peer);
    self->peer = endpoint_text_of_address(address);
    fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return peer_socket_fail_errno(self, error);
    set_options(fd);
    peer_socket_adopt(self, fd);
    if (connect(fd, address, resolved->length) != 0 && errno != EINPROGRESS)
        return peer_socket_fail(self, CONNECTION_ERROR_CONNECT, g_strerror(errno), error);
    /* Before this line shutdown(2) had no effect on the socket, from here on it has. */
    if (peer_socket_is_shut(self))
        return peer_socket_fail(self, CONNECTION_ERROR_SHUT, "", error);
    return peer_socket_finish_connect(self, deadline_us, error);
}

static GArray *
peer_socket_resolve(PeerSocket *self, const Endpoint *peer, gint64 deadline_us, GError **error)
{
    g_autoptr(GError) failure = NULL;
    GArray *addresses = resolver_lookup(peer, deadline_us, &self->shut, &failure);

    if (addresses == NULL)
        peer_socket_fail(self, CONNECTION_ERROR_RESOLVE, failure->message, error);
    return addresses;
}

static gint64
share_of_time(gint64 deadline_us, guint n_left)
{
    gint64 now_us = clock_now_us();

    if (deadline_us == CLOCK_NEVER || deadline_us <= now_us)
        return deadline_us;
    return now_us + (deadline_us - now_us) / n_left;
}

gboolean
peer_socket_connect(PeerSocket *self, const Endpoint *peer, gint64 deadline_us, GError **error)
{
    g_autoptr(GArray) addresses = peer_socket_resolve(self, peer, deadline_us, error);
    g_autoptr(GString) failures = g_string_new(NULL);

    if (addresses == NULL)
        return FALSE;
    for (guint i = 0; i < addresses->len; i++) {
        const ResolvedAddress *address = &g_array_index(addresses, ResolvedAddress, i);
        g_autoptr(GError) failure = NULL;

        if (peer_socket_try(self, address, share_of_time(deadline_us, addresses->len - i),
                            &failure))
            return TRUE;
        if (g_error_matches(failure, CONNECTION_ERROR, CONNECTION_ERROR_SHUT)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return FALSE;
        }
        g_string_append_printf(failures, "%s%s", failures->len > 0 ? "; " : "", failure->message);
    }
    g_set_error_literal(error, CONNECTION_ERROR, CONNECTION_ERROR_CONNECT, failures->str);
    return FALSE;
}

/* ---- bytes ---- */

static guint
skip_written(struct iovec *vectors, guint n_vectors, gsize n_written)
{
    guint n_done = 0;

    while (n_done < n_vectors && n_written >= vectors[n_done].iov_len)
        n_written -= vectors[n_done++].iov_len;
    if (n_done < n_vectors) {
        vectors[n_done].iov_base = (guint8 *) vectors[n_done].iov_base + n_written;
        vectors[n_done].iov_len -= n_written;
    }
    return n_done;
}

gboolean
peer_socket_write(PeerSocket *self, struct iovec *vectors, guint n_vectors, gint64 deadline_us,
                  GError **error)
{
    while (n_vectors > 0) {
        struct msghdr message = { .msg_iov = vectors, .msg_iovlen = MIN(n_vectors, IOV_MAX) };
        int more = n_vectors > IOV_MAX ? MSG_MORE : 0;
        gssize n_written = sendmsg(self->fd, &message, MSG_NOSIGNAL | more);
        guint n_done;

        if (n_written < 0 && errno == EAGAIN) {
            if (!peer_socket_wait(self, POLLOUT, "the peer takes no more bytes", deadline_us,
                                  error))
                return FALSE;
            continue;
        }
        if (n_written < 0 && errno != EINTR)
            return peer_socket_fail_errno(self, error);
        n_done = skip_written(vectors, n_vectors, (gsize) MAX(n_written, 0));
        vectors += n_done;
        n_vectors -= n_done;
    }
    return TRUE;
}

gsize
peer_socket_read(PeerSocket *self, guint8 *data, gsize size, gint64 deadline_us, GError **error)
{
    for (;;) {
        gssize n_read = recv(self->fd, data, size, 0);

        if (n_read > 0) {
            self->has_spoken = TRUE;
            return (gsize) n_read;
        }
        if (n_read == 0)
            return peer_socket_fail_closed(self, error);
        if (errno == EAGAIN) {
            if (!peer_socket_wait(self, POLLIN, "no answer in time", deadline_us, error))
                return 0;
        } else if (errno != EINTR) {
            return peer_socket_fail_errno(self, error);
        }
    }
}

gboolean
peer_socket_is_quiet(PeerSocket *self)
{
    guint8 byte;

    return !peer_socket_is_shut(self) && recv(self->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           errno == EAGAIN;
}
