/* limit_server.c - the least that a server of framed calls can do: read each frame, and answer.
 *
 * `ok` answers every call as Flume's Thrift source does (the direct reader), `echo` sends every
 * frame back. Epoll loops, one buffer a connection, one recv and one send a small frame: what leat
 * is measured against. Prints its port, ends with its standard input. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#define LENGTH_SIZE 4
#define MAX_FRAME 16384000
#define FIRST_CAPACITY 4096
#define MAX_NAME 127
#define MAX_HEADER (2 + 5 + 1 + MAX_NAME)

typedef struct {
    int fd;
    guint8 *buffer;
    gsize capacity;
    gsize n_read; /* of the frame, its length included */
} Connection;

static gboolean answers_ok;

static G_NORETURN void
die(const char *what)
{
    fprintf(stderr, "limit_server: %s: %s\n", what, g_strerror(errno));
    exit(1);
}

static void
connection_free(Connection *self)
{
    close(self->fd);
    g_free(self->buffer);
    g_free(self);
}

/* 0 while its length has not come. */
static gsize
frame_size(const Connection *self)
{
    guint32 length;

    if (self->n_read < LENGTH_SIZE)
        return 0;
    memcpy(&length, self->buffer, LENGTH_SIZE);
    return LENGTH_SIZE + (gsize) GUINT32_FROM_BE(length);
}

static void
send_all(const Connection *self, const guint8 *bytes, gsize size)
{
    while (size > 0) {
        gssize n_sent = send(self->fd, bytes, size, MSG_NOSIGNAL);

        if (n_sent <= 0)
            return; /* a broken connection; answers fit into the socket buffer */
        bytes += n_sent;
        size -= (gsize) n_sent;
    }
}

/* Protocol and type, the sequence id as a varint, the name behind its length. 0: too long. */
static gsize
call_header_size(const guint8 *call)
{
    gsize at = 2;

    while (call[at] >= 0x80 && at < 6)
        at++;
    return call[at + 1] <= MAX_NAME ? at + 2 + call[at + 1] : 0;
}

/* Method and sequence id are those of the call. */
static void
answer_ok(const Connection *self)
{
    static const guint8 ok[] = { 0x05, 0x00, 0x00, 0x00 };
    const guint8 *call = self->buffer + LENGTH_SIZE;
    gsize header_size = call_header_size(call);
    guint8 reply[LENGTH_SIZE + MAX_HEADER + sizeof ok];
    guint32 length = GUINT32_TO_BE((guint32) (header_size + sizeof ok));

    if (header_size == 0)
        return;
    memcpy(reply, &length, LENGTH_SIZE);
    memcpy(reply + LENGTH_SIZE, call, header_size);
    reply[LENGTH_SIZE + 1] = 0x41;
    memcpy(reply + LENGTH_SIZE + header_size, ok, sizeof ok);
    send_all(self, reply, LENGTH_SIZE + header_size + sizeof ok);
}

static void
answer(const Connection *self, gsize size)
{
    if (answers_ok)
        answer_ok(self);
    else
        send_all(self, self->buffer, size);
}

/* FALSE: the connection is of no use. A client that does not wait for its answers sends the next
 * frame behind the first. */
static gboolean
connection_answer_all(Connection *self)
{
    gsize size;

    while ((size = frame_size(self)) > 0 && self->n_read >= size) {
        answer(self, size);
        self->n_read -= size;
        memmove(self->buffer, self->buffer + size, self->n_read);
    }
    if (size > MAX_FRAME)
        return FALSE;
    if (size > self->capacity) {
        self->capacity = size;
        self->buffer = g_realloc(self->buffer, size);
    }
    return TRUE;
}

static gboolean
connection_read(Connection *self)
{
    gssize n_read = recv(self->fd, self->buffer + self->n_read, self->capacity - self->n_read, 0);

    if (n_read <= 0)
        return n_read < 0 && errno == EAGAIN;
    self->n_read += (gsize) n_read;
    return connection_answer_all(self);
}

static gpointer
loop_thread(gpointer data)
{
    int epoll_fd = GPOINTER_TO_INT(data);
    struct epoll_event events[256];

    for (;;) {
        int n_events = epoll_wait(epoll_fd, events, G_N_ELEMENTS(events), -1);

        for (int i = 0; i < n_events; i++)
            if (!connection_read(events[i].data.ptr))
                connection_free(events[i].data.ptr);
    }
    return NULL;
}

static int
listen_anywhere(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;

    if (fd < 0 || bind(fd, (struct sockaddr *) &address, size) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *) &address, &size) != 0)
        die("listen");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void
accept_one(int listen_fd, int epoll_fd)
{
    const int one = 1;
    Connection *connection = g_new0(Connection, 1);
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };

    connection->fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    connection->capacity = FIRST_CAPACITY;
    connection->buffer = g_malloc(FIRST_CAPACITY);
    if (connection->fd < 0)
        die("accept");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        die("epoll_ctl");
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
    int epoll_fds[64];
    int n_loops = argc == 3 ? atoi(argv[2]) : 0;
    int listen_fd;

    if (n_loops < 1 || n_loops > (int) G_N_ELEMENTS(epoll_fds)) {
        fprintf(stderr, "usage: limit_server ok|echo THREADS\n");
        return 2;
    }
    answers_ok = strcmp(argv[1], "ok") == 0;
    for (int i = 0; i < n_loops; i++) {
        epoll_fds[i] = epoll_create1(EPOLL_CLOEXEC);
        g_thread_unref(g_thread_new("loop", loop_thread, GINT_TO_POINTER(epoll_fds[i])));
    }
    listen_fd = listen_anywhere();
    g_thread_unref(g_thread_new("stdin", end_with_stdin, NULL));
    for (int i = 0;; i++)
        accept_one(listen_fd, epoll_fds[i % n_loops]);
}
