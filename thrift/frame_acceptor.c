/* frame_acceptor.c - takes connections from the one listening socket and deals them out. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "thrift/frame_server_private.h"

#define ACCEPTS_PER_TURN 64
#define RETRY_US (100 * 1000)

/* A peer that has vanished is noticed after two minutes, whether we wait for it or it for us. */
#define KEEPALIVE_IDLE_S 60
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES 6
#define USER_TIMEOUT_MS (120 * 1000)

static void
set_number(int fd, int level, int option, int number)
{
    /* What an old kernel does not know it has to do without. */
    (void) setsockopt(fd, level, option, &number, sizeof number);
}

/* Connections inherit them from the listening socket. */
static void
set_socket_options(int fd)
{
    set_number(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
    set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
}

static FrameLoop *
loop_with_fewest(FrameServer *server)
{
    FrameLoop *best = &server->loops[0];

    for (guint i = 1; i < server->n_loops; i++)
        if (atomic_load(&server->loops[i].n_connections) < atomic_load(&best->n_connections))
            best = &server->loops[i];
    return best;
}

static void
refuse(FrameServer *server, int fd, const struct sockaddr *address)
{
    g_autofree char *peer = endpoint_text_of_address(address);
    g_autofree char *detail =
        g_strdup_printf("max-connections (%u) is reached", server->options.max_connections);

    frame_server_report(server, FRAME_REFUSED_CONNECTION, peer, detail);
    close(fd);
}

static void
take(FrameServer *server, int fd, const struct sockaddr *address, gsize length)
{
    FrameLoop *loop;

    if (atomic_load(&server->n_connections) >= server->options.max_connections) {
        refuse(server, fd, address);
        return;
    }
    loop = loop_with_fewest(server);
    atomic_fetch_add(&loop->n_connections, 1);
    atomic_fetch_add(&server->n_connections, 1);
    server->handler.connections_changed(1, server->user);
    frame_connection_open(loop, fd, address, length);
}

/* ---- out of descriptors ---- */

/* Until a connection closes, or a little while has passed: they may have gone elsewhere. */
static void
pause_accepting(FrameServer *server, int code)
{
    FrameAcceptor *self = &server->acceptor;
    Loop *loop = server->loops[0].loop;

    loop_change(loop, &self->watch, 0);
    loop_timer_set(loop, &self->retry, loop_now_us(loop) + RETRY_US);
    atomic_store(&self->needs_closed, TRUE);
    if (!atomic_exchange(&self->paused, TRUE)) {
        g_autofree char *detail =
            g_strdup_printf("%s; no connection is accepted until this changes. Raise the limit of "
                            "open files (LimitNOFILE=, ulimit -n)",
                            g_strerror(code));

        frame_server_report(server, FRAME_ACCEPT_PAUSED, NULL, detail);
    }
}

void
frame_acceptor_connection_closed(FrameServer *server)
{
    if (atomic_load_explicit(&server->acceptor.needs_closed, memory_order_relaxed) &&
        atomic_exchange(&server->acceptor.needs_closed, FALSE))
        loop_post(server->loops[0].loop, &server->acceptor.resume);
}

/* ---- accepting ---- */

/* Errors of one connection, or of the network below it; the next may succeed. */
static gboolean
concerns_one_connection(int code)
{
    switch (code) {
    case ECONNABORTED:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EINTR:
    case ENETDOWN:
    case ENETUNREACH:
    case ENONET:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case EPERM:
    case EPROTO:
        return TRUE;
    default:
        return FALSE;
    }
}

static void
listener_ready(LoopWatch *watch, guint32 events G_GNUC_UNUSED)
{
    FrameServer *server = ((FrameAcceptor *) watch)->server;

    for (guint i = 0; i < ACCEPTS_PER_TURN; i++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd =
            accept4(watch->fd, (struct sockaddr *) &address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0 || errno == EAGAIN)
            atomic_store(&server->acceptor.paused, FALSE); /* there was a descriptor for it */
        if (fd >= 0) {
            take(server, fd, (const struct sockaddr *) &address, length);
        } else if (errno == EAGAIN) {
            return;
        } else if (!concerns_one_connection(errno)) {
            pause_accepting(server, errno);
            return;
        }
    }
}

static void
resume_accepting(FrameAcceptor *self)
{
    Loop *loop = self->server->loops[0].loop;

    atomic_store(&self->needs_closed, FALSE);
    loop_timer_clear(loop, &self->retry);
    if (self->server->listen_fd < 0)
        return;
    loop_change(loop, &self->watch, EPOLLIN);
    listener_ready(&self->watch, EPOLLIN); /* whether anybody waits or not: has it recovered? */
}

static void
retry_came(LoopTimer *timer)
{
    resume_accepting(
        (FrameAcceptor *) (gpointer) ((char *) timer - offsetof(FrameAcceptor, retry)));
}

static void
resume_job(LoopJob *job)
{
    resume_accepting((FrameAcceptor *) (gpointer) ((char *) job - offsetof(FrameAcceptor, resume)));
}

gboolean
frame_server_is_paused(const FrameServer *self)
{
    return atomic_load(&self->acceptor.paused);
}

gboolean
frame_acceptor_start(FrameServer *server, GError **error)
{
    FrameAcceptor *self = &server->acceptor;

    set_socket_options(server->listen_fd);
    self->server = server;
    self->watch =
        (LoopWatch){ .fd = server->listen_fd, .events = EPOLLIN, .ready = listener_ready };
    self->retry.expired = retry_came;
    self->resume.run = resume_job;
    return loop_add(server->loops[0].loop, &self->watch, error);
}

void
frame_acceptor_stop(FrameServer *server)
{
    FrameAcceptor *self = &server->acceptor;
    Loop *loop = server->loops[0].loop;

    loop_timer_clear(loop, &self->retry);
    loop_remove(loop, &self->watch);
    close(server->listen_fd);
    server->listen_fd = -1;
}
