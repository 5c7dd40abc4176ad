/* test_peer_socket.c - what the system is told to do for a connection, and what it is handed. */
#include "thrift/wire/peer_socket.h"

#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/events.h"
#include "thrift/wire/connection.h"

#define SOON_US (10 * G_USEC_PER_SEC)

typedef struct {
    int listen_fd;
    Endpoint *bound;
    PeerSocket socket;
} Fixture;

/* FALSE: this machine has no such address. */
static gboolean
fixture_init(Fixture *self, const char *host)
{
    g_autoptr(Endpoint) anywhere = endpoint_new(host, 0);

    *self = (Fixture){ 0 };
    peer_socket_init(&self->socket);
    self->listen_fd = endpoint_listen(anywhere, 1, &self->bound, NULL);
    return self->listen_fd >= 0;
}

static void
fixture_clear(Fixture *self)
{
    peer_socket_clear(&self->socket);
    g_clear_pointer(&self->bound, endpoint_free);
    if (self->listen_fd >= 0)
        close(self->listen_fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fixture, fixture_clear)

static void
connect_to_it(Fixture *self)
{
    g_autoptr(GError) error = NULL;

    peer_socket_connect(&self->socket, self->bound, clock_deadline_us(SOON_US), &error);
    g_assert_no_error(error);
}

static int
option_of(const Fixture *self, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;

    g_assert_cmpint(getsockopt(self->socket.fd, level, name, &value, &size), ==, 0);
    return value;
}

/* One that vanished without a word is noticed while nothing is sent, and while what was sent is not
 * acknowledged. */
static void
test_the_system_looks_after_peers_that_vanish(void)
{
    g_auto(Fixture) self;

    g_assert_true(fixture_init(&self, "127.0.0.1"));
    connect_to_it(&self);

    g_assert_cmpint(option_of(&self, SOL_SOCKET, SO_KEEPALIVE), ==, 1);
    g_assert_cmpint(option_of(&self, IPPROTO_TCP, TCP_KEEPIDLE) +
                        option_of(&self, IPPROTO_TCP, TCP_KEEPINTVL) *
                            option_of(&self, IPPROTO_TCP, TCP_KEEPCNT),
                    <=, 90);
    g_assert_cmpint(option_of(&self, IPPROTO_TCP, TCP_USER_TIMEOUT), ==, 30000);
    g_assert_cmpint(option_of(&self, IPPROTO_TCP, TCP_NODELAY), ==, 1);
}

static void
test_a_peer_may_have_an_ipv6_address(void)
{
    g_auto(Fixture) self;

    if (!fixture_init(&self, "::1")) {
        g_test_skip("this machine has no IPv6");
        return;
    }
    connect_to_it(&self);

    g_assert_true(g_str_has_prefix(self.socket.peer, "[::1]:"));
    g_assert_true(peer_socket_is_quiet(&self.socket));
}

/* ---- what is handed to the system ---- */

static guint n_sends;
static int send_flags;
static ByteSpan in_place;        /* where the events of a batch stand */
static gsize n_bytes_from_there; /* that were handed over */

gssize __real_sendmsg(int fd, const struct msghdr *message, int flags);
gssize __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

gssize
__wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    n_sends++;
    send_flags = flags;
    for (gsize i = 0; i < message->msg_iovlen; i++) {
        const guint8 *base = message->msg_iov[i].iov_base;

        if (base >= in_place.data && base < in_place.data + in_place.length)
            n_bytes_from_there += message->msg_iov[i].iov_len;
    }
    return __real_sendmsg(fd, message, flags);
}

static void
test_slices_go_out_from_where_they_stand_with_one_gathered_send_and_no_signal(void)
{
    g_auto(Fixture) self;
    g_autoptr(Batch) batch = batch_of_size(10, 100);
    const BatchSlice slices[] = { { .batch = batch, .first = 1, .count = 2 },
                                  { .batch = batch, .first = 5, .count = 4 } };
    g_autoptr(WireConnection) connection = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_true(fixture_init(&self, "127.0.0.1"));
    connection = wire_connection_new(self.bound, WIRE_COMPACT);
    g_assert_true(wire_connection_open(connection, clock_deadline_us(SOON_US), NULL));
    in_place = batch_span(batch, 0, 10);
    wire_connection_send(connection, slices, 2, clock_deadline_us(SOON_US), &error);

    g_assert_no_error(error);
    g_assert_cmpuint(n_sends, ==, 1);
    g_assert_cmpint(send_flags & MSG_NOSIGNAL, !=, 0);
    g_assert_cmpuint(n_bytes_from_there, ==,
                     batch_span(batch, 1, 2).length + batch_span(batch, 5, 4).length);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/peer-socket/the-system-looks-after-peers-that-vanish",
                    test_the_system_looks_after_peers_that_vanish);
    g_test_add_func("/peer-socket/a-peer-may-have-an-ipv6-address",
                    test_a_peer_may_have_an_ipv6_address);
    g_test_add_func("/peer-socket/slices-go-out-from-where-they-stand",
                    test_slices_go_out_from_where_they_stand_with_one_gathered_send_and_no_signal);
    return g_test_run();
}
