/* http_listener.c - accepts connections for a SoupServer, with limits on their number and idleness.
 */
#include "base/http_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024
#define PAUSE_MS 500

/* Descriptors held back for those who look when all others are used up. A client that goes on
 * holding one after its answer is in the way of the next. */
#define N_SPARE 4
#define IDLE_TIMEOUT_OF_SPARE_S 5

struct HttpListener {
    SoupServer *soup;
    HttpLimits limits;
    int fd;       /* -1: stopped */
    int quiet_fd; /* the far end of the one that libsoup listens on */
    Endpoint *bound;
    GHashTable *connections; /* GSocketConnection *, not referenced: those that still live */
    int spare[N_SPARE];      /* descriptors without a purpose; -1 while lent to a connection */
    guint watch;             /* source id, 0 while pausing */
    guint pause;             /* source id, 0 while watching */
};

static gboolean on_connection(int fd, GIOCondition condition, gpointer user);

/* ---- spare descriptors ---- */

static void
http_listener_fill_spare(HttpListener *self)
{
    for (guint i = 0; i < N_SPARE; i++)
        if (self->spare[i] < 0)
            self->spare[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* FALSE if there is none. */
static gboolean
http_listener_give_spare(HttpListener *self)
{
    for (guint i = 0; i < N_SPARE; i++)
        if (self->spare[i] >= 0) {
            close(self->spare[i]);
            self->spare[i] = -1;
            return TRUE;
        }
    return FALSE;
}

/* ---- connections ---- */

static gboolean
on_pause_is_over(gpointer user)
{
    HttpListener *self = user;

    self->pause = 0;
    http_listener_fill_spare(self);
    self->watch = g_unix_fd_add(self->fd, G_IO_IN, on_connection, self);
    return G_SOURCE_REMOVE;
}

static void
on_connection_gone(gpointer user, GObject *connection)
{
    HttpListener *self = user;

    g_hash_table_remove(self->connections, connection);
    http_listener_fill_spare(self);
}

/* Libsoup sends head and body of an answer apart: the body must not wait until the head is
 * acknowledged. */
static void
send_at_once(GSocket *socket)
{
    int on = 1;

    setsockopt(g_socket_get_fd(socket), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static gboolean
http_listener_serve(HttpListener *self, GSocket *socket, guint idle_timeout_s, GError **error)
{
    g_autoptr(GSocketAddress) local = g_socket_get_local_address(socket, error);
    g_autoptr(GSocketAddress) remote =
        local != NULL ? g_socket_get_remote_address(socket, error) : NULL;
    g_autoptr(GSocketConnection) connection = NULL;

    if (remote == NULL)
        return FALSE;
    send_at_once(socket);
    g_socket_set_timeout(socket, idle_timeout_s);
    connection = g_socket_connection_factory_create_connection(socket);
    g_hash_table_add(self->connections, connection);
    g_object_weak_ref(G_OBJECT(connection), on_connection_gone, self);
    return soup_server_accept_iostream(self->soup, G_IO_STREAM(connection), local, remote, error);
}

/* A client that is gone already, or one too many, is closed without a word. */
static void
http_listener_take(HttpListener *self, int fd, guint idle_timeout_s)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GSocket) socket = g_socket_new_from_fd(fd, &error);

    if (socket == NULL)
        close(fd);
    else if (g_hash_table_size(self->connections) < self->limits.max_connections)
        http_listener_serve(self, socket, idle_timeout_s, &error);
}

/* What keeps a connection from being accepted, descriptors above all, may pass: look again later,
 * since until then the socket stays ready. */
static gboolean
on_connection(int listening_fd, GIOCondition condition G_GNUC_UNUSED, gpointer user)
{
    HttpListener *self = user;
    guint idle_timeout_s = self->limits.idle_s;
    int fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && http_listener_give_spare(self)) {
        idle_timeout_s = IDLE_TIMEOUT_OF_SPARE_S;
        fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
        return G_SOURCE_CONTINUE;
    if (fd < 0) {
        self->watch = 0;
        self->pause = g_timeout_add(PAUSE_MS, on_pause_is_over, self);
        return G_SOURCE_REMOVE;
    }
    http_listener_take(self, fd, idle_timeout_s);
    return G_SOURCE_CONTINUE;
}

/* Libsoup keeps connections alive only as long as it listens. So it listens on one end of a pair,
 * from whose other end nothing comes. */
static gboolean
listen_quietly(HttpListener *self, GError **error)
{
    g_autoptr(GSocket) socket = NULL;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
        g_set_error_literal(error, G_IO_ERROR, g_io_error_from_errno(errno), g_strerror(errno));
        return FALSE;
    }
    self->quiet_fd = ends[0];
    socket = g_socket_new_from_fd(ends[1], error);
    if (socket == NULL)
        close(ends[1]);
    return socket != NULL && soup_server_listen_socket(self->soup, socket, 0, error);
}

HttpListener *
http_listener_new(SoupServer *soup, const Endpoint *listen, const HttpLimits *limits,
                  GError **error)
{
    g_autoptr(Endpoint) bound = NULL;
    int fd = endpoint_listen(listen, BACKLOG, &bound, error);
    HttpListener *self;

    if (fd < 0)
        return NULL;
    self = g_new0(HttpListener, 1);
    self->soup = soup;
    self->limits = *limits;
    self->fd = fd;
    self->bound = g_steal_pointer(&bound);
    self->connections = g_hash_table_new(NULL, NULL);
    self->watch = g_unix_fd_add(fd, G_IO_IN, on_connection, self);
    for (guint i = 0; i < N_SPARE; i++)
        self->spare[i] = -1;
    http_listener_fill_spare(self);
    self->quiet_fd = -1;
    if (listen_quietly(self, error))
        return self;
    http_listener_free(self);
    return NULL;
}

const Endpoint *
http_listener_bound(const HttpListener *self)
{
    return self->bound;
}

void
http_listener_stop(HttpListener *self)
{
    if (self->fd < 0)
        return;
    if (self->watch != 0)
        g_source_remove(self->watch);
    if (self->pause != 0)
        g_source_remove(self->pause);
    close(self->fd);
    self->fd = -1;
}

void
http_listener_free(HttpListener *self)
{
    GHashTableIter iter;
    gpointer connection;

    if (self == NULL)
        return;
    http_listener_stop(self);
    while (http_listener_give_spare(self))
        ;
    g_hash_table_iter_init(&iter, self->connections);
    while (g_hash_table_iter_next(&iter, &connection, NULL))
        g_object_weak_unref(connection, on_connection_gone, self);
    g_hash_table_unref(self->connections);
    if (self->quiet_fd >= 0)
        close(self->quiet_fd);
    endpoint_free(self->bound);
    g_free(self);
}
