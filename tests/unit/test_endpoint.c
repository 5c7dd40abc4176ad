/* test_endpoint.c - addresses from text and back, and listening on them. */
#include "base/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
test_an_address_reads_and_writes_as_the_same_text(void)
{
    static const char *const texts[] = { "hub1:4141",        "127.0.0.1:0", "[::1]:4141",
                                         "[2001:db8::1]:1",  ":65535",      "a-b_c.example:80",
                                         "[fe80::1%eth0]:9", NULL };

    for (guint i = 0; texts[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Endpoint) endpoint = endpoint_parse(texts[i], &error);
        g_autoptr(Endpoint) copy = NULL;
        g_autofree char *text = NULL;

        g_assert_no_error(error);
        copy = endpoint_copy(endpoint);
        text = endpoint_to_text(copy);
        g_assert_cmpstr(text, ==, texts[i]);
    }
}

static void
test_a_wrong_address_is_refused_with_what_to_write_instead(void)
{
    static const char *const rows[][2] = {
        { "", "is no address; write host:port, such as hub1:4141" },
        { "off", "'off' is no address; write host:port" },
        { "hub1", "has no port; write hub1:PORT" },
        { "hub1:", "has no port; write one behind the colon" },
        { "41414", "has no host; write host:port, such as 127.0.0.1:41414, or :41414 to listen" },
        { "[::1]", "has no port; write [::1]:PORT" },
        { "hub1:65536", "a port is a number from 0 to 65535" },
        { "hub1:-1", "a port is a number from 0 to 65535" },
        { "hub1:http", "a port is a number from 0 to 65535" },
        { "hub1:80 ", "a port is a number from 0 to 65535" },
        { "::1:4141", "write an IPv6 address as [::1]:4141" },
        { "[::1:4141", "has no ']'" },
        { "[::1]x:4141", "has text between ']' and ':'" },
        { "[hub1]:4141", "has no IPv6 address in its brackets" },
        { "[]:4141", "has no IPv6 address in its brackets" },
        { "[::1%]:4141", "has no IPv6 address in its brackets" },
        { "hub 1:4141", "a host is a name, an IPv4 address, or an IPv6 address in brackets" },
        { "*:4141", "write :4141 for every interface" },
        { "thrift://hub1:4141", "is a URL; write host:port alone" },
        { "256.0.0.1:4141", "has no valid IPv4 address" },
        { "10.1:4141", "has no valid IPv4 address" },
        { "hub1:1]", "a port is a number" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Endpoint) endpoint = endpoint_parse(rows[i][0], &error);

        g_assert_null(endpoint);
        g_assert_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_SYNTAX);
        g_assert_nonnull(strstr(error->message, rows[i][1]));
    }
}

static int
listen_on(const char *text, Endpoint **ret_bound, GError **error)
{
    g_autoptr(Endpoint) endpoint = endpoint_parse(text, error);

    g_assert_nonnull(endpoint);
    return endpoint_listen(endpoint, 16, ret_bound, error);
}

/* TRUE if something listens there. */
static gboolean
can_connect(int family, guint16 port)
{
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct sockaddr_in ipv4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status;

    ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ipv6.sin6_addr = in6addr_loopback;
    status = family == AF_INET ? connect(fd, (struct sockaddr *) &ipv4, sizeof ipv4)
                               : connect(fd, (struct sockaddr *) &ipv6, sizeof ipv6);
    close(fd);
    return status == 0;
}

/* A connection that this side closes first. */
static void
accept_and_close(int listener, guint16 port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int server;
    char byte;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    g_assert_cmpint(connect(client, (struct sockaddr *) &address, sizeof address), ==, 0);
    server = accept(listener, NULL, NULL);
    g_assert_cmpint(server, >=, 0);
    close(server);
    g_assert_cmpint(read(client, &byte, 1), ==, 0);
    close(client);
}

static gboolean
has_ipv6(void)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status;

    address.sin6_addr = in6addr_loopback;
    status = bind(fd, (struct sockaddr *) &address, sizeof address);
    close(fd);
    return status == 0;
}

static void
test_port_0_picks_one_and_says_which(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    int fd = listen_on("127.0.0.1:0", &bound, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(bound->host, ==, "127.0.0.1");
    g_assert_cmpuint(bound->port, >, 0);
    g_assert_true(can_connect(AF_INET, bound->port));
    g_assert_false(can_connect(AF_INET6, bound->port));
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, !=, 0);
    g_assert_cmpint(fcntl(fd, F_GETFL) & O_NONBLOCK, !=, 0);
    close(fd);
}

static void
test_no_host_means_every_interface_of_both_families(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    int fd = listen_on(":0", &bound, &error);

    g_assert_no_error(error);
    g_assert_true(can_connect(AF_INET, bound->port));
    g_assert_cmpint(can_connect(AF_INET6, bound->port), ==, has_ipv6());
    close(fd);
}

static gboolean without_ipv6;

/* In place of the C library's, to see what happens on a machine without IPv6. */
int
socket(int domain, int type, int protocol)
{
    if (without_ipv6 && domain == AF_INET6) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return (int) syscall(SYS_socket, domain, type, protocol);
}

static void
test_no_host_means_every_interface_of_ipv4_where_there_is_no_ipv6(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    int fd;

    without_ipv6 = TRUE;
    fd = listen_on(":0", &bound, &error);
    without_ipv6 = FALSE;

    g_assert_no_error(error);
    g_assert_true(can_connect(AF_INET, bound->port));
    close(fd);
}

static void
test_an_address_may_be_listened_on_again_at_once(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    g_autofree char *text = NULL;
    int fd = listen_on("127.0.0.1:0", &bound, &error);

    g_assert_no_error(error);
    text = endpoint_to_text(bound);
    accept_and_close(fd, bound->port); /* leaves a connection in TIME_WAIT */
    close(fd);
    fd = listen_on(text, NULL, &error);

    g_assert_no_error(error);
    close(fd);
}

static void
test_a_name_is_listened_on_where_it_resolves_to(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    int fd = listen_on("localhost:0", &bound, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(bound->host, ==, "localhost");
    g_assert_true(can_connect(AF_INET, bound->port));
    close(fd);
}

static void
test_a_name_whose_ipv4_address_is_in_use_does_not_move_to_ipv6(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    g_autofree char *same = NULL;
    int fd = listen_on("localhost:0", &bound, &error);

    g_assert_no_error(error);
    same = g_strdup_printf("localhost:%u", bound->port);

    g_assert_cmpint(listen_on(same, NULL, &error), ==, -1);
    g_assert_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_IN_USE);
    close(fd);
}

static void
test_ipv4_and_ipv6_may_be_listened_on_side_by_side(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    g_autofree char *same_port = NULL;
    int ipv6, ipv4;

    if (!has_ipv6()) {
        g_test_skip("this machine has no IPv6");
        return;
    }
    ipv6 = listen_on("[::]:0", &bound, &error);
    g_assert_no_error(error);
    g_assert_false(can_connect(AF_INET, bound->port));
    same_port = g_strdup_printf("0.0.0.0:%u", bound->port);

    ipv4 = listen_on(same_port, NULL, &error);

    g_assert_no_error(error);
    close(ipv4);
    close(ipv6);
}

static void
test_a_taken_address_is_named_with_the_way_to_find_who_has_it(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) bound = NULL;
    g_autofree char *text = NULL;
    int first = listen_on("127.0.0.1:0", &bound, &error);
    int second;

    text = endpoint_to_text(bound);
    second = listen_on(text, NULL, &error);

    g_assert_cmpint(second, ==, -1);
    g_assert_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_IN_USE);
    g_assert_nonnull(strstr(error->message, text));
    g_assert_nonnull(strstr(error->message, "Address already in use; a process listens there or "
                                            "a connection has that port, `ss -tanp` shows which"));
    close(first);
}

static void
test_an_address_of_another_machine_cannot_be_listened_on(void)
{
    g_autoptr(GError) error = NULL;
    int fd = listen_on("192.0.2.1:0", NULL, &error);

    g_assert_cmpint(fd, ==, -1);
    g_assert_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_BIND);
    g_assert_nonnull(strstr(error->message, "cannot listen on 192.0.2.1:0: "));
    g_assert_nonnull(strstr(error->message, "no interface of this machine has that address"));
}

static void
test_a_name_that_does_not_resolve_says_so(void)
{
    g_autoptr(GError) error = NULL;
    int fd = listen_on("no-such-host.invalid:0", NULL, &error);

    g_assert_cmpint(fd, ==, -1);
    g_assert_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_RESOLVE);
    g_assert_nonnull(strstr(error->message, "cannot resolve 'no-such-host.invalid'"));
}

static void
assert_address_text(const struct sockaddr *address, const char *expected)
{
    g_autofree char *text = endpoint_text_of_address(address);

    g_assert_cmpstr(text, ==, expected);
}

static void
test_a_peer_is_written_as_people_write_it(void)
{
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6, .sin6_port = htons(4141) };
    struct sockaddr_in ipv4 = { .sin_family = AF_INET, .sin_port = htons(4141) };
    struct sockaddr local = { .sa_family = AF_UNIX };

    inet_pton(AF_INET, "192.0.2.1", &ipv4.sin_addr);
    assert_address_text((struct sockaddr *) &ipv4, "192.0.2.1:4141");
    inet_pton(AF_INET6, "2001:db8::1", &ipv6.sin6_addr);
    assert_address_text((struct sockaddr *) &ipv6, "[2001:db8::1]:4141");
    inet_pton(AF_INET6, "::ffff:192.0.2.1", &ipv6.sin6_addr);
    assert_address_text((struct sockaddr *) &ipv6, "192.0.2.1:4141");
    assert_address_text(&local, "unknown");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/endpoint/reads-and-writes-as-the-same-text",
                    test_an_address_reads_and_writes_as_the_same_text);
    g_test_add_func("/endpoint/a-wrong-address-is-refused",
                    test_a_wrong_address_is_refused_with_what_to_write_instead);
    g_test_add_func("/endpoint/port-0-picks-one", test_port_0_picks_one_and_says_which);
    g_test_add_func("/endpoint/no-host-means-every-interface",
                    test_no_host_means_every_interface_of_both_families);
    g_test_add_func("/endpoint/no-host-where-there-is-no-ipv6",
                    test_no_host_means_every_interface_of_ipv4_where_there_is_no_ipv6);
    g_test_add_func("/endpoint/may-be-listened-on-again-at-once",
                    test_an_address_may_be_listened_on_again_at_once);
    g_test_add_func("/endpoint/a-name-is-listened-on-where-it-resolves-to",
                    test_a_name_is_listened_on_where_it_resolves_to);
    g_test_add_func("/endpoint/a-name-in-use-stays-with-ipv4",
                    test_a_name_whose_ipv4_address_is_in_use_does_not_move_to_ipv6);
    g_test_add_func("/endpoint/ipv4-and-ipv6-side-by-side",
                    test_ipv4_and_ipv6_may_be_listened_on_side_by_side);
    g_test_add_func("/endpoint/a-taken-address-is-named",
                    test_a_taken_address_is_named_with_the_way_to_find_who_has_it);
    g_test_add_func("/endpoint/an-address-of-another-machine",
                    test_an_address_of_another_machine_cannot_be_listened_on);
    g_test_add_func("/endpoint/a-name-that-does-not-resolve",
                    test_a_name_that_does_not_resolve_says_so);
    g_test_add_func("/endpoint/a-peer-is-written-as-people-write-it",
                    test_a_peer_is_written_as_people_write_it);
    return g_test_run();
}
