/* loadgen.c - sends the same frame over many connections, each waiting for its answer before the
 * next, for a number of seconds; or only holds connections that have been used once.
 *
 * Prints one line of JSON: events accepted and refused, bytes, and when it began and ended on the
 * monotonic clock. With --hold it prints when all connections stand, and ends with its standard
 * input. Single-minded on purpose: it is the same client for leat and for every limit. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/load_frame.h"

/* One source address has some 28,000 ports. */
#define CONNECTIONS_PER_ADDRESS 20000
#define MAX_REPLY 65536

typedef struct {
    int fd;
    gsize n_sent; /* of the frame */
    gsize n_received;
    guint8 reply[64]; /* its beginning; the rest is only counted */
} Connection;

typedef struct {
    GArray *connections; /* Connection */
    guint first;         /* by number among all, decides the source address */
    guint64 n_accepted;  /* calls */
    guint64 n_refused;
    guint n_open;
    int epoll_fd;
    GThread *thread;
} Worker;

static struct {
    int port;
    int connections;
    int threads;
    double seconds;
    int batch;
    int body;
    int headers;
    gboolean echo; /* any frame is an answer */
    gboolean hold;
} options = {
    .connections = 4, .threads = 2, .seconds = 5, .batch = 1000, .body = 300, .headers = 2
};

static GByteArray *frame;
static gint64 stop_us;

static G_NORETURN void
die(const char *what)
{
    fprintf(stderr, "loadgen: %s: %s\n", what, g_strerror(errno));
    exit(1);
}

static int
connect_number(guint number)
{
    const int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in from = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK + number / CONNECTIONS_PER_ADDRESS),
    };
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((guint16) options.port),
    };

    if (fd < 0)
        die("socket");
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(fd, (struct sockaddr *) &from, sizeof from) != 0)
        die("bind");
    if (connect(fd, (struct sockaddr *) &to, sizeof to) != 0)
        die("connect");
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        die("fcntl");
    return fd;
}

static void
watch(Worker *self, Connection *connection, int operation, guint32 events)
{
    struct epoll_event event = { .events = events, .data.ptr = connection };

    if (epoll_ctl(self->epoll_fd, operation, connection->fd, &event) != 0)
        die("epoll_ctl");
}

static void
send_rest(Worker *self, Connection *connection)
{
    gssize n_sent = send(connection->fd, frame->data + connection->n_sent,
                         frame->len - connection->n_sent, MSG_NOSIGNAL);
    gboolean was_partial = connection->n_sent > 0;

    if (n_sent < 0 && errno != EAGAIN)
        die("send");
    connection->n_sent += (gsize) MAX(n_sent, 0);
    if (connection->n_sent < frame->len)
        watch(self, connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    else if (was_partial)
        watch(self, connection, EPOLL_CTL_MOD, EPOLLIN);
}

static void
send_next(Worker *self, Connection *connection)
{
    connection->n_sent = 0;
    connection->n_received = 0;
    send_rest(self, connection);
}

static gsize
reply_size(const Connection *connection)
{
    guint32 length;

    memcpy(&length, connection->reply, sizeof length);
    length = GUINT32_FROM_BE(length);
    if (length > MAX_REPLY) {
        errno = EPROTO;
        die("answer");
    }
    return sizeof length + length;
}

/* A compact reply ends with field 0 of type i32, the status, end of struct. */
static gboolean
is_ok(const Connection *connection, gsize size)
{
    static const guint8 ok[] = { 0x05, 0x00, 0x00, 0x00 };

    return options.echo || (size < sizeof connection->reply && connection->reply[5] >> 5 == 2 &&
                            memcmp(connection->reply + size - sizeof ok, ok, sizeof ok) == 0);
}

static void
take_reply(Worker *self, Connection *connection, gsize size)
{
    if (is_ok(connection, size))
        self->n_accepted++;
    else
        self->n_refused++;
    if (clock_now_us() < stop_us) {
        send_next(self, connection);
        return;
    }
    self->n_open--;
    if (!options.hold)
        close(connection->fd);
}

static void
receive(Worker *self, Connection *connection)
{
    guint8 bytes[MAX_REPLY];
    gssize n_read = recv(connection->fd, bytes, sizeof bytes, 0);
    gsize size;

    if (n_read == 0)
        errno = ECONNRESET;
    if (n_read == 0 || (n_read < 0 && errno != EAGAIN))
        die("receive");
    if (n_read < 0)
        return;
    if (connection->n_received < sizeof connection->reply)
        memcpy(connection->reply + connection->n_received, bytes,
               MIN((gsize) n_read, sizeof connection->reply - connection->n_received));
    connection->n_received += (gsize) n_read;
    if (connection->n_received < sizeof(guint32))
        return;
    size = reply_size(connection);
    if (connection->n_received >= size)
        take_reply(self, connection, size);
}

static gpointer
worker_run(gpointer data)
{
    Worker *self = (Worker *) data;
    struct epoll_event events[256];

    for (guint i = 0; i < self->connections->len; i++)
        send_next(self, &g_array_index(self->connections, Connection, i));
    while (self->n_open > 0) {
        int n_events = epoll_wait(self->epoll_fd, events, G_N_ELEMENTS(events), -1);

        for (int i = 0; i < n_events; i++) {
            Connection *connection = (Connection *) events[i].data.ptr;

            if (events[i].events & EPOLLOUT)
                send_rest(self, connection);
            else
                receive(self, connection);
        }
    }
    return NULL;
}

static void
worker_connect(Worker *self, guint first, guint n_connections)
{
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    self->n_open = n_connections;
    self->connections = g_array_sized_new(FALSE, TRUE, sizeof(Connection), n_connections);
    g_array_set_size(self->connections, n_connections);
    for (guint i = 0; i < n_connections; i++) {
        Connection *connection = &g_array_index(self->connections, Connection, i);

        connection->fd = connect_number(first + i);
        watch(self, connection, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static void
run_workers(Worker *workers, guint n_workers, guint n_events_per_call)
{
    gint64 start_us = clock_now_us();
    guint64 n_accepted = 0;
    guint64 n_refused = 0;

    stop_us = options.hold ? start_us : start_us + (gint64) (options.seconds * G_USEC_PER_SEC);
    for (guint i = 0; i < n_workers; i++)
        workers[i].thread = g_thread_new("load", worker_run, &workers[i]);
    for (guint i = 0; i < n_workers; i++) {
        g_thread_join(workers[i].thread);
        n_accepted += workers[i].n_accepted;
        n_refused += workers[i].n_refused;
    }
    printf("{\"events\": %" G_GUINT64_FORMAT ", \"refused\": %" G_GUINT64_FORMAT
           ", \"bytes\": %" G_GUINT64_FORMAT ", \"start\": %.6f, \"end\": %.6f}\n",
           n_accepted * n_events_per_call, n_refused * n_events_per_call, n_accepted * frame->len,
           (double) start_us / G_USEC_PER_SEC, (double) clock_now_us() / G_USEC_PER_SEC);
    fflush(stdout);
}

static gboolean
parse_options(int argc, char **argv)
{
    const GOptionEntry entries[] = {
        { "port", 0, 0, G_OPTION_ARG_INT, &options.port, "On 127.0.0.1", "PORT" },
        { "connections", 0, 0, G_OPTION_ARG_INT, &options.connections, "Default 4", "N" },
        { "threads", 0, 0, G_OPTION_ARG_INT, &options.threads, "Default 2", "N" },
        { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds, "Default 5", "N" },
        { "batch", 0, 0, G_OPTION_ARG_INT, &options.batch,
          "Events in a call (default 1000); 0 sends single appends", "N" },
        { "body", 0, 0, G_OPTION_ARG_INT, &options.body, "Bytes (default 300)", "N" },
        { "headers", 0, 0, G_OPTION_ARG_INT, &options.headers, "Of each event (default 2)", "N" },
        { "echo", 0, 0, G_OPTION_ARG_NONE, &options.echo, "Take any frame for an answer", NULL },
        { "hold", 0, 0, G_OPTION_ARG_NONE, &options.hold,
          "One call a connection, then keep all open until standard input ends", NULL },
        { 0 },
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) failure = NULL;

    g_option_context_add_main_entries(context, entries, NULL);
    if (g_option_context_parse(context, &argc, &argv, &failure) && options.port > 0 &&
        options.connections > 0 && options.threads > 0)
        return TRUE;
    fprintf(stderr, "loadgen: %s\n",
            failure ? failure->message : "--port is missing, or a number is 0");
    return FALSE;
}

int
main(int argc, char **argv)
{
    g_autofree Worker *workers = NULL;
    LoadShape shape;
    guint n_workers;
    guint first = 0;

    if (!parse_options(argc, argv))
        return 2;
    shape = (LoadShape){ (guint) options.batch, (guint) options.body, (guint) options.headers };
    frame = load_frame_new(&shape);
    n_workers = (guint) MIN(options.threads, options.connections);
    workers = g_new0(Worker, n_workers);
    for (guint i = 0; i < n_workers; i++) {
        guint share = ((guint) options.connections - first) / (n_workers - i);

        worker_connect(&workers[i], first, share);
        first += share;
    }
    run_workers(workers, n_workers, load_shape_n_events(&shape));
    while (options.hold && getchar() != EOF)
        continue;
    return 0;
}
