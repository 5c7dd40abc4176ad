/* nsq_server.c - accepts the connections of nsqds, and survives a lack of descriptors. */
#include "registry/nsq_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "registry/nsq_server_private.h"

#define BACKLOG 1024
#define ACCEPTS_PER_TURN 64
#define PAUSE_US (500 * 1000)
#define KEEPALIVE_S 15
#define KEEPALIVE_PROBES 9

static const char *const commands[] = { "ping", "identify", "register", "unregister", NULL };

const MetricSpec nsq_server_specs[] = {
    [NSQ_CONNECTIONS] = { .name = "leat_registry_connections",
                          .kind = METRIC_GAUGE,
                          .help = "Open connections of nodes." },
    [NSQ_COMMANDS] = { .name = "leat_registry_commands_total",
                       .kind = METRIC_COUNTER,
                       .help = "Commands of nodes that were carried out.",
                       .label = "command",
                       .values = commands },
    { 0 },
};

static void
pause_accepting(NsqServer *self)
{
    loop_change(self->loop, &self->listener, 0);
    loop_timer_set(self->loop, &self->pause, loop_now_us(self->loop) + PAUSE_US);
}

static void
on_pause_is_over(LoopTimer *timer)
{
    NsqServer *self = (NsqServer *) ((char *) timer - G_STRUCT_OFFSET(NsqServer, pause));

    loop_change(self->loop, &self->listener, EPOLLIN);
}

/* Answers go out at once; a machine that vanished is noticed within KEEPALIVE_S * (KEEPALIVE_PROBES
 * + 1), if its node's silence does not end the connection before. Connections inherit it from the
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
take_connection(NsqServer *self, int fd, const struct sockaddr *address)
{
    g_autofree char *peer = endpoint_text_of_address(address);

    if (self->connections.length < self->options.max_connections) {
        nsq_connection_open(self, fd, peer);
        return;
    }
    refusals_add(self->refusals, REFUSAL_TOO_MANY, peer,
                 "raise max-connections of the section nsqlookupd");
    close(fd);
}

static void
on_connection(LoopWatch *watch, guint32 events G_GNUC_UNUSED)
{
    NsqServer *self = (NsqServer *) ((char *) watch - G_STRUCT_OFFSET(NsqServer, listener));

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

NsqServer *
nsq_server_new(Loop *loop, NsqTable *table, Refusals *refusals, const NsqServerOptions *options,
               GError **error)
{
    g_autoptr(NsqServer) self = g_new0(NsqServer, 1);

    self->loop = loop;
    self->table = table;
    self->refusals = refusals;
    self->options = *options;
    self->options.listen = NULL;
    self->metrics = metric_set_new(nsq_server_specs, "registry", "nsqlookupd", "nsqlookupd");
    self->pause.expired = on_pause_is_over;
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
nsq_server_bound(const NsqServer *self)
{
    return self->bound;
}

void
nsq_server_set_self(NsqServer *self, const NsqSelf *answer)
{
    g_free(self->self_json);
    self->self_json = nsq_self_to_json(answer);
}

MetricSet *
nsq_server_metrics(const NsqServer *self)
{
    return self->metrics;
}

void
nsq_server_stop(NsqServer *self)
{
    if (self->listener.fd < 0)
        return;
    loop_remove(self->loop, &self->listener);
    loop_timer_clear(self->loop, &self->pause);
    close(self->listener.fd);
    self->listener.fd = -1;
    while (self->connections.head != NULL)
        nsq_connection_close(self->connections.head->data, "the registry stops");
}

void
nsq_server_free(NsqServer *self)
{
    if (self == NULL)
        return;
    nsq_server_stop(self);
    metric_set_free(self->metrics);
    endpoint_free(self->bound);
    g_free(self->self_json);
    g_free(self);
}
