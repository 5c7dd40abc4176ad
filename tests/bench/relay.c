/* relay.c - reads bytes from a client and writes them to a server, and back: what a relay of frames
 * is measured against.
 *
 * Prints its port, ends with its standard input. Two threads a connection, one a direction. */
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
} Direction;

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

static gpointer
direction_run(gpointer data)
{
    g_autofree Direction *self = data;
    g_autofree guint8 *buffer = g_malloc(BUFFER_SIZE);
    gssize n_read;

    while ((n_read = recv(self->from, buffer, BUFFER_SIZE, 0)) > 0)
        if (!write_all(self->to, buffer, n_read))
            break;
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
    struct sockaddr_in there = loopback(argc == 2 ? (guint16) atoi(argv[1]) : 0);
    socklen_t size = sizeof here;

    if (there.sin_port == 0) {
        fprintf(stderr, "usage: relay PORT\n");
        return 2;
    }
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
