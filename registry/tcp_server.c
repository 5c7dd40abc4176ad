/* tcp_server.c - accepts connections, and survives a lack of descriptors. */
#include "registry/tcp_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "registry/tcp_server_private.h"

#define BACKLOG 1024
#define ACCEPTS_PER_TURN 64
#define PAUSE_US (500 * 1000)
#define KEEPALIVE_S 15
#define KEEPALIVE_PROBES 9

enum { TCP_CONNECTIONS };

static const MetricSpec specs[] = {
    [TCP_CONNECTIONS] = { .name = "leat_registry_connections",
                          .kind = METRIC_GAUGE,
                          .help = "Open connections." },
    { 0 },
};

static void
pause_accepting(TcpServer *self)
{
    loop_change(self->loop, &self->listener, 0);
    loop_timer_set(self->loop, &self->pause, loop_now_us(self->loop) + PAUSE_US);
}

static void
on_pause_is_over(LoopTimer *timer)
{
    TcpServer *self = (TcpServer *) ((char *) timer - G_STRUCT_OFFSET(TcpServer, pause));

    loop_change(self->loop, &self->listener, EPOLLIN);
}

static void
on_relief(LoopTimer *timer)
{
    tcp_connection_relieve((TcpServer *) ((char *) timer - G_STRUCT_OFFSET(TcpServer, relief)));
}

/* Answers go out at once; a machine that vanished is noticed within KEEPALIVE_S * (KEEPALIVE_PROBES
 * + 1), if its silence does not end the connection before. Connections inherit it from the
 * listening socket. */
static void
set_socket_options(int fd)
{
    const int on = 1, seconds = KEEPALIVE_S, probes = KEEPALIVE_PROBES;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

/* One too many is closed without a word, as one that cannot be watched is. */
static void
take_connection(TcpServer *self, int fd, const struct sockaddr *address)
{
    g_autofree char *peer = endpoint_text_of_address(address);
    g_autofree char *advice = NULL;

    if (self->connections.length < self->options.max_connections) {
        tcp_connection_open(self, fd, peer);
        return;
    }
    advice = g_strdup_printf("raise max-connections of the section %s", self->protocol->section);
    refusals_add(self->refusals, REFUSAL_TOO_MANY, peer, advice);
    close(fd);
}

static void
on_connection(LoopWatch *watch, guint32 events G_GNUC_UNUSED)
{
    TcpServer *self = (TcpServer *) ((char *) watch - G_STRUCT_OFFSET(TcpServer, listener));

    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd =
            accept4(watch->fd, (struct sockaddr *) &address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            take_connection(self, fd, (struct sockaddr *) &address);
            continue;
        }
        if (errno == EAGAIN)
            return;
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        refusals_add(self->refusals, REFUSAL_RESOURCES, "", g_strerror(errno));
        pause_accepting(self);
        return;
    }
}

TcpServer *
tcp_server_new(Loop *loop, Refusals *refusals, const TcpProtocol *protocol,
               const TcpServerOptions *options, gpointer user, GError **error)
{
    g_autoptr(TcpServer) self = g_new0(TcpServer, 1);

    self->loop = loop;
    self->refusals = refusals;
    self->protocol = protocol;
    self->options = *options;
    self->options.listen = NULL;
    self->user = user;
    self->metrics = metric_set_new(specs, "registry", protocol->section, protocol->section);
    self->pause.expired = on_pause_is_over;
    self->relief.expired = on_relief;
    self->listener.events = EPOLLIN;
    self->listener.ready = on_connection;
    self->listener.fd = endpoint_listen(options->listen, BACKLOG, &self->bound, error);
    if (self->listener.fd < 0)
        return NULL;
    set_socket_options(self->listener.fd);
    if (!loop_add(loop, &self->listener, error)) {
        close(self->listener.fd);
        self->listener.fd = -1;
        return NULL;
    }
    return g_steal_pointer(&self);
}

const Endpoint *
tcp_server_bound(const TcpServer *self)
{
    return self->bound;
}

gpointer
tcp_server_user(const TcpServer *self)
{
    return self->user;
}

Loop *
tcp_server_loop(const TcpServer *self)
{
    return self->loop;
}

MetricSet *
tcp_server_metrics(TcpServer *self)
{
    metric_set(self->metrics, TCP_CONNECTIONS, self->connections.length);
    return self->metrics;
}

void
tcp_server_stop_listening(TcpServer *self)
{
    if (self->listener.fd < 0)
        return;
    loop_remove(self->loop, &self->listener);
    loop_timer_clear(self->loop, &self->pause);
    close(self->listener.fd);
    self->listener.fd = -1;
}

void
tcp_server_stop(TcpServer *self)
{
    tcp_server_stop_listening(self);
    while (self->connections.head != NULL)
        tcp_connection_stop(self->connections.head->data, "the registry stops");
    loop_timer_clear(self->loop, &self->relief);
}

void
tcp_server_free(TcpServer *self)
{
    if (self == NULL)
        return;
    tcp_server_stop(self);
    metric_set_free(self->metrics);
    endpoint_free(self->bound);
    g_free(self);
}
