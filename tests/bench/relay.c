/* relay.c - reads bytes from a client and writes them to a server, and back: what a relay of frames
 * is measured against; with a delay it is a long link.
 *
 * Prints its port, ends with its standard input. Two threads a connection, one a direction, and a
 * third and a fourth with a delay. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#define BUFFER_SIZE (256 * 1024)

typedef struct {
    int from;
    int to;
    GAsyncQueue *on_their_way; /* Parcel; NULL without a delay */
} Direction;

typedef struct {
    gint64 due_us;
    GBytes *bytes; /* none at the end */
} Parcel;

static gint64 delay_us;

static G_NORETURN void
die(const char *what)
{
    fprintf(stderr, "relay: %s: %s\n", what, g_strerror(errno));
    exit(1);
}

static gboolean
write_all(int fd, const guint8 *bytes, gssize size)
{
    while (size > 0) {
        gssize n_sent = send(fd, bytes, (gsize) size, MSG_NOSIGNAL);

        if (n_sent <= 0)
            return FALSE;
        bytes += n_sent;
        size -= n_sent;
    }
    return TRUE;
}

static void
direction_relay(const Direction *self)
{
    g_autofree guint8 *buffer = g_malloc(BUFFER_SIZE);
    gssize n_read;

    while ((n_read = recv(self->from, buffer, BUFFER_SIZE, 0)) > 0)
        if (!write_all(self->to, buffer, n_read))
            break;
}

static void
direction_dispatch(Direction *self, GBytes *bytes)
{
    Parcel *parcel = g_new(Parcel, 1);

    *parcel = (Parcel){ .due_us = g_get_monotonic_time() + delay_us, .bytes = bytes };
    g_async_queue_push(self->on_their_way, parcel);
}

/* The clients wait for answers, which bounds what is on its way. */
static gpointer
direction_read(gpointer data)
{
    Direction *self = data;
    g_autofree guint8 *buffer = g_malloc(BUFFER_SIZE);
    gssize n_read;

    while ((n_read = recv(self->from, buffer, BUFFER_SIZE, 0)) > 0)
        direction_dispatch(self, g_bytes_new(buffer, (gsize) n_read));
    direction_dispatch(self, NULL);
    return NULL;
}

/* FALSE: that was the last one. */
static gboolean
direction_deliver(const Direction *self, Parcel *parcel)
{
    gint64 wait_us = parcel->due_us - g_get_monotonic_time();
    g_autoptr(GBytes) bytes = parcel->bytes;

    g_free(parcel);
    if (wait_us > 0)
        g_usleep((gulong) wait_us);
    if (bytes != NULL) /* to a peer that is gone it goes nowhere */
        write_all(self->to, g_bytes_get_data(bytes, NULL), (gssize) g_bytes_get_size(bytes));
    return bytes != NULL;
}

static void
direction_relay_late(Direction *self)
{
    GThread *reader;

    self->on_their_way = g_async_queue_new();
    reader = g_thread_new("read", direction_read, self);
    while (direction_deliver(self, g_async_queue_pop(self->on_their_way)))
        continue;
    g_thread_join(reader);
    g_async_queue_unref(self->on_their_way);
}

static gpointer
direction_run(gpointer data)
{
    g_autofree Direction *self = data;

    if (delay_us > 0)
        direction_relay_late(self);
    else
        direction_relay(self);
    shutdown(self->to, SHUT_WR);
    return NULL;
}

static void
direction_start(int from, int to)
{
    const int one = 1;
    Direction *direction = g_new(Direction, 1);

    *direction = (Direction){ .from = from, .to = to };
    setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    g_thread_unref(g_thread_new("relay", direction_run, direction));
}

static struct sockaddr_in
loopback(guint16 port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                 .sin_port = htons(port) };
}

static gpointer
end_with_stdin(gpointer data G_GNUC_UNUSED)
{
    while (getchar() != EOF)
        continue;
    exit(0);
}

int
main(int argc, char **argv)
{
    int listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in here = loopback(0);
    struct sockaddr_in there = loopback(argc == 2 || argc == 3 ? (guint16) atoi(argv[1]) : 0);
    socklen_t size = sizeof here;

    if (there.sin_port == 0) {
        fprintf(stderr, "usage: relay PORT [DELAY_MS]\n");
        return 2;
    }
    delay_us = argc == 3 ? atoi(argv[2]) * 1000 : 0;
    if (listen_fd < 0 || bind(listen_fd, (struct sockaddr *) &here, size) != 0 ||
        listen(listen_fd, 64) != 0 || getsockname(listen_fd, (struct sockaddr *) &here, &size) != 0)
        die("listen");
    printf("%u\n", ntohs(here.sin_port));
    fflush(stdout);
    g_thread_unref(g_thread_new("stdin", end_with_stdin, NULL));
    for (;;) {
        int client = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (client < 0 || connect(server, (struct sockaddr *) &there, sizeof there) != 0)
            die("connect");
        direction_start(client, server);
        direction_start(server, client);
    }
}
