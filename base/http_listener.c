/* http_listener.c - accepts connections for a SoupServer, and closes those that only take up room.
 */
#include "base/http_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log_rate.h"

#define BACKLOG 1024
#define PAUSE_MS 500

/* Descriptors held back for those who look when all others are used up. A client that goes on
 * holding one after its answer is in the way of the next. */
#define N_SPARE 4
#define IDLE_TIMEOUT_OF_SPARE_S 5

#define LINE_EVERY_US (60 * G_USEC_PER_SEC)

typedef enum { CLOSED_SLOW, CLOSED_FOR_ANOTHER, CLOSED_AT_LIMIT, CLOSED_UNREAD } Closure;

static const char *const closure_names[] = {
    [CLOSED_SLOW] = "slow-request",
    [CLOSED_FOR_ANOTHER] = "room-for-another",
    [CLOSED_AT_LIMIT] = "all-busy",
    [CLOSED_UNREAD] = "unread-answer",
    NULL,
};

enum { HTTP_CLOSED };

static const MetricSpec specs[] = {
    [HTTP_CLOSED] = { .name = "leat_http_connections_closed_total",
                      .kind = METRIC_COUNTER,
                      .help = "HTTP connections closed because their request did not come whole in "
                              "time, because another one needed the place, because all others "
                              "were being answered, or because its answer was not read.",
                      .label = "reason",
                      .values = closure_names },
    { 0 },
};

struct HttpListener {
    SoupServer *soup;
    HttpLimits limits;
    int fd; /* -1: stopped */
    Endpoint *bound;
    GHashTable *connections; /* GSocketAddress * of the peer → HttpConnection: those that live */
    guint n_closing;         /* of them: closed here, and libsoup has yet to see it */
    GQueue waiting;          /* HttpConnection without a whole request, the longest first */
    HttpClosedFunc closed;   /* NULL: nobody wants to know */
    gpointer user;
    MetricSet *metrics;
    LogRate rate;
    int spare[N_SPARE]; /* descriptors without a purpose; -1 while lent to a connection */
    guint watch;        /* source id, 0 while pausing */
    guint pause;        /* source id, 0 while watching */
};

typedef struct {
    HttpListener *listener;
    GSocketConnection *stream; /* not referenced */
    GSocketAddress *peer;      /* by this very object libsoup's messages tell where they belong */
    GList link;                /* in waiting while is_waiting */
    gboolean is_waiting;
    gboolean is_closing;
    guint deadline; /* source id, 0 unless it is waiting */
} HttpConnection;

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
http_listener_count_closed(HttpListener *self, Closure why, GSocketAddress *peer)
{
    g_autofree char *name = NULL;
    guint64 left_out;

    metric_add_value(self->metrics, HTTP_CLOSED, why, 1);
    if (self->closed == NULL || !log_rate_admit(&self->rate, LINE_EVERY_US, &left_out))
        return;
    name = g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(peer));
    self->closed(closure_names[why], name, left_out + 1, self->user);
}

static void
http_connection_end_wait(HttpConnection *self)
{
    if (self->is_waiting)
        g_queue_unlink(&self->listener->waiting, &self->link);
    self->is_waiting = FALSE;
    if (self->deadline != 0)
        g_source_remove(self->deadline);
    self->deadline = 0;
}

/* Libsoup reads the end, and frees what it has of the connection. */
static void
http_connection_close(HttpConnection *self, Closure why)
{
    GSocket *socket = g_socket_connection_get_socket(self->stream);

    http_connection_end_wait(self);
    self->is_closing = TRUE;
    self->listener->n_closing++;
    http_listener_count_closed(self->listener, why, self->peer);
    g_socket_shutdown(socket, TRUE, TRUE, NULL);
}

static gboolean
on_deadline(gpointer user)
{
    HttpConnection *self = user;

    self->deadline = 0;
    http_connection_close(self, CLOSED_SLOW);
    return G_SOURCE_REMOVE;
}

static void
http_connection_begin_wait(HttpConnection *self)
{
    HttpListener *listener = self->listener;

    g_queue_push_tail_link(&listener->waiting, &self->link);
    self->is_waiting = TRUE;
    self->deadline = g_timeout_add_seconds(listener->limits.request_s, on_deadline, self);
}

static void
http_connection_free(gpointer data)
{
    HttpConnection *self = data;

    http_connection_end_wait(self);
    g_object_unref(self->peer);
    g_free(self);
}

static void
on_connection_gone(gpointer user, GObject *stream G_GNUC_UNUSED)
{
    HttpConnection *connection = user;
    HttpListener *self = connection->listener;

    if (connection->is_closing)
        self->n_closing--;
    g_hash_table_remove(self->connections, connection->peer);
    http_listener_fill_spare(self);
}

static HttpConnection *
http_listener_add(HttpListener *self, GSocketConnection *stream, GSocketAddress *peer)
{
    HttpConnection *connection = g_new0(HttpConnection, 1);

    connection->listener = self;
    connection->stream = stream;
    connection->peer = g_object_ref(peer);
    connection->link.data = connection;
    g_hash_table_insert(self->connections, connection->peer, connection);
    g_object_weak_ref(G_OBJECT(stream), on_connection_gone, connection);
    return connection;
}

/* ---- requests ---- */

/* NULL if it is being closed. */
static HttpConnection *
http_listener_connection_of(HttpListener *self, SoupServerMessage *message)
{
    HttpConnection *connection =
        g_hash_table_lookup(self->connections, soup_server_message_get_remote_address(message));

    return connection != NULL && !connection->is_closing ? connection : NULL;
}

void
http_listener_close_unread(HttpListener *self, SoupServerMessage *message)
{
    HttpConnection *connection = http_listener_connection_of(self, message);

    if (connection != NULL)
        http_connection_close(connection, CLOSED_UNREAD);
}

/* Its answer is the last of the connection. Libsoup, which does not listen itself, ends it then;
 * one that libsoup 3.2 keeps, and whose client goes between two requests, is never freed. */
static void
on_request_read(SoupServer *soup G_GNUC_UNUSED, SoupServerMessage *message, gpointer user)
{
    HttpConnection *connection = http_listener_connection_of(user, message);

    soup_message_headers_replace(soup_server_message_get_response_headers(message), "Connection",
                                 "close");
    if (connection != NULL)
        http_connection_end_wait(connection);
}

/* ---- new connections ---- */

/* Libsoup sends head and body of an answer apart: the body must not wait until the head is
 * acknowledged. */
static void
send_at_once(GSocket *socket)
{
    int on = 1;

    setsockopt(g_socket_get_fd(socket), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* FALSE if all are being answered. */
static gboolean
http_listener_make_room(HttpListener *self)
{
    HttpConnection *longest = g_queue_peek_head(&self->waiting);

    if (g_hash_table_size(self->connections) - self->n_closing < self->limits.max_connections)
        return TRUE;
    if (longest != NULL)
        http_connection_close(longest, CLOSED_FOR_ANOTHER);
    return longest != NULL;
}

static void
http_listener_serve(HttpListener *self, GSocket *socket, guint idle_timeout_s)
{
    g_autoptr(GSocketAddress) local = g_socket_get_local_address(socket, NULL);
    g_autoptr(GSocketAddress) peer = g_socket_get_remote_address(socket, NULL);
    g_autoptr(GSocketConnection) stream = NULL;

    if (local == NULL || peer == NULL) /* gone already */
        return;
    if (!http_listener_make_room(self)) {
        http_listener_count_closed(self, CLOSED_AT_LIMIT, peer);
        return;
    }
    send_at_once(socket);
    g_socket_set_timeout(socket, idle_timeout_s);
    stream = g_socket_connection_factory_create_connection(socket);
    http_connection_begin_wait(http_listener_add(self, stream, peer));
    soup_server_accept_iostream(self->soup, G_IO_STREAM(stream), local, peer, NULL);
}

static void
http_listener_take(HttpListener *self, int fd, guint idle_timeout_s)
{
    g_autoptr(GSocket) socket = g_socket_new_from_fd(fd, NULL);

    if (socket == NULL)
        close(fd);
    else
        http_listener_serve(self, socket, idle_timeout_s);
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

HttpListener *
http_listener_new(SoupServer *soup, const Endpoint *listen, const HttpLimits *limits,
                  const char *kind, const char *component, GError **error)
{
    g_autoptr(Endpoint) bound = NULL;
    int fd = endpoint_listen(listen, BACKLOG, &bound, error);
    HttpListener *self;

    if (fd < 0)
        return NULL;
    self = g_new0(HttpListener, 1);
    self->soup = g_object_ref(soup);
    self->limits = *limits;
    self->fd = fd;
    self->bound = g_steal_pointer(&bound);
    self->connections = g_hash_table_new_full(NULL, NULL, NULL, http_connection_free);
    self->metrics = metric_set_new(specs, kind, "http", component);
    g_signal_connect(soup, "request-read", G_CALLBACK(on_request_read), self);
    self->watch = g_unix_fd_add(fd, G_IO_IN, on_connection, self);
    for (guint i = 0; i < N_SPARE; i++)
        self->spare[i] = -1;
    http_listener_fill_spare(self);
    return self;
}

const Endpoint *
http_listener_bound(const HttpListener *self)
{
    return self->bound;
}

/* A connection waits for a request, or one of its own is being answered. */
guint
http_listener_n_under_way(const HttpListener *self)
{
    return g_hash_table_size(self->connections) - self->n_closing - self->waiting.length;
}

void
http_listener_on_closed(HttpListener *self, HttpClosedFunc closed, gpointer user)
{
    self->closed = closed;
    self->user = user;
}

MetricSet *
http_listener_metrics(const HttpListener *self)
{
    return self->metrics;
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
    g_signal_handlers_disconnect_by_data(self->soup, self);
    g_hash_table_iter_init(&iter, self->connections);
    while (g_hash_table_iter_next(&iter, NULL, &connection))
        g_object_weak_unref(G_OBJECT(((HttpConnection *) connection)->stream), on_connection_gone,
                            connection);
    g_hash_table_unref(self->connections);
    metric_set_free(self->metrics);
    g_object_unref(self->soup);
    endpoint_free(self->bound);
    g_free(self);
}
