/* hop_latency.c - sends one event at a time to one port and takes it from another: how long it was
 * on its way.
 *
 * Prints the port that it takes events at, reads from its standard input the one that it is to send
 * to, and prints a line of JSON: microseconds from before the send until the whole frame is there,
 * the first event apart, which waits for connections. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/load_frame.h"

#define MAX_FRAME 65536
#define TIMEOUT_S 10
/* Longer than a sink lingers after its last take, so that the hops are idle. */
#define PAUSE_US 20000

static G_NORETURN void
die(const char *what)
{
    fprintf(stderr, "hop_latency: %s: %s\n", what, g_strerror(errno));
    exit(1);
}

static struct sockaddr_in
loopback(guint16 port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                 .sin_port = htons(port) };
}

static void
set_options(int fd)
{
    const int one = 1;
    const struct timeval timeout = { .tv_sec = TIMEOUT_S };

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
}

static int
listen_anywhere(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;

    if (fd < 0 || bind(fd, (struct sockaddr *) &address, size) != 0 || listen(fd, 4) != 0 ||
        getsockname(fd, (struct sockaddr *) &address, &size) != 0)
        die("listen");
    set_options(fd);
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static int
connect_to_port_of_stdin(void)
{
    char line[16];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address;

    if (fgets(line, sizeof line, stdin) == NULL)
        exit(2);
    address = loopback((guint16) atoi(line));
    if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof address) != 0)
        die("connect");
    set_options(fd);
    return fd;
}

static void
send_all(int fd, const guint8 *bytes, gsize size)
{
    if (send(fd, bytes, size, MSG_NOSIGNAL) != (gssize) size)
        die("send");
}

/* The whole frame, as a rule with one call. */
static void
receive_frame(int fd, guint8 *frame)
{
    gsize size = sizeof(guint32);
    gsize n_received = 0;

    while (n_received < size) {
        gssize n_read = recv(fd, frame + n_received, MAX_FRAME - n_received, 0);
        guint32 length;

        if (n_read <= 0)
            die("receive");
        n_received += (gsize) n_read;
        memcpy(&length, frame, sizeof length);
        if (n_received >= sizeof length)
            size = sizeof length + (gsize) GUINT32_FROM_BE(length);
        if (size > MAX_FRAME)
            die("frame");
    }
}

/* Method and sequence id, one byte each for their lengths, are those of the call. */
static void
answer_ok(int fd, const guint8 *frame)
{
    static const guint8 ok[] = { 0x05, 0x00, 0x00, 0x00 };
    const guint8 *call = frame + sizeof(guint32);
    gsize header_size = 4 + (gsize) call[3];
    guint8 reply[sizeof(guint32) + 4 + 255 + sizeof ok];
    guint32 length = GUINT32_TO_BE((guint32) (header_size + sizeof ok));

    memcpy(reply, &length, sizeof length);
    memcpy(reply + sizeof length, call, header_size);
    reply[sizeof length + 1] = 0x41;
    memcpy(reply + sizeof length + header_size, ok, sizeof ok);
    send_all(fd, reply, sizeof length + header_size + sizeof ok);
}

/* The last hop connects when it has the first event. */
static gint64
send_one(const GByteArray *event, int near_fd, int listen_fd, int *far_fd)
{
    guint8 frame[MAX_FRAME];
    gint64 start_us = clock_now_us();
    gint64 took_us;

    send_all(near_fd, event->data, event->len);
    if (*far_fd < 0) {
        *far_fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (*far_fd < 0)
            die("accept");
        set_options(*far_fd);
    }
    receive_frame(*far_fd, frame);
    took_us = clock_now_us() - start_us;
    answer_ok(*far_fd, frame);
    receive_frame(near_fd, frame);
    return took_us;
}

static int
compare_us(const void *a, const void *b)
{
    gint64 left = *(const gint64 *) a;
    gint64 right = *(const gint64 *) b;

    return (left > right) - (left < right);
}

static void
print_times(gint64 *times_us, guint n)
{
    qsort(times_us, n, sizeof *times_us, compare_us);
    printf("{\"median\": %" G_GINT64_FORMAT ", \"p99\": %" G_GINT64_FORMAT
           ", \"worst\": %" G_GINT64_FORMAT "}\n",
           times_us[n / 2], times_us[n * 99 / 100], times_us[n - 1]);
}

int
main(int argc, char **argv)
{
    const LoadShape shape = { .batch = 0, .body = 300, .headers = 2 };
    g_autoptr(GByteArray) event = load_frame_new(&shape);
    guint n_events = argc == 2 ? (guint) atoi(argv[1]) : 0;
    g_autofree gint64 *times_us = NULL;
    int listen_fd;
    int near_fd;
    int far_fd = -1;

    if (n_events == 0 || n_events > 1000000) {
        fprintf(stderr, "usage: hop_latency EVENTS\n");
        return 2;
    }
    times_us = g_new(gint64, n_events);
    listen_fd = listen_anywhere();
    near_fd = connect_to_port_of_stdin();
    send_one(event, near_fd, listen_fd, &far_fd);
    for (guint i = 0; i < n_events; i++) {
        g_usleep(PAUSE_US);
        times_us[i] = send_one(event, near_fd, listen_fd, &far_fd);
    }
    print_times(times_us, n_events);
    return 0;
}
