/* endpoint_listen.c - opens a listening TCP socket, and says what to do when it cannot. */
#include "base/endpoint.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *
remedy_of(int reason)
{
    switch (reason) {
    case EADDRINUSE:
        return "; a process listens there or a connection has that port, `ss -tanp` shows which";
    case EACCES:
    case EPERM:
        return "; ports below 1024 need root or CAP_NET_BIND_SERVICE";
    case EADDRNOTAVAIL:
        return "; no interface of this machine has that address, `ip address` lists them";
    case EMFILE:
    case ENFILE:
        return "; raise the limit on open files (`ulimit -n`, LimitNOFILE= of the unit)";
    case EAFNOSUPPORT:
        return "; this machine has no such address family, write an IPv4 address";
    default:
        return "";
    }
}

/* -1 and errno. One socket of the address's family, listening. */
static int
listen_at(const struct sockaddr *address, socklen_t length, gboolean both_families, int backlog)
{
    const int on = 1, only_v6 = !both_families;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int reason;

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        (address->sa_family != AF_INET6 ||
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6) == 0) &&
        bind(fd, address, length) == 0 && listen(fd, backlog) == 0)
        return fd;
    reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int
listen_everywhere(guint16 port, int backlog)
{
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct sockaddr_in ipv4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    int fd;

    ipv6.sin6_addr = in6addr_any;
    fd = listen_at((struct sockaddr *) &ipv6, sizeof ipv6, TRUE, backlog);
    if (fd >= 0 || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL))
        return fd;
    /* The machine has no IPv6. */
    return listen_at((struct sockaddr *) &ipv4, sizeof ipv4, FALSE, backlog);
}

/* The first address of a family that can be bound; -1 and errno of the last that could not, or
 * errno unchanged if there is none of that family. */
static int
listen_at_family(const struct addrinfo *list, int family, int backlog)
{
    for (; list != NULL; list = list->ai_next) {
        int fd;

        if (list->ai_family != family)
            continue;
        fd = listen_at(list->ai_addr, list->ai_addrlen, FALSE, backlog);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

static int
listen_at_host(const Endpoint *self, int backlog, GError **error)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
    };
    g_autofree char *service = g_strdup_printf("%u", self->port);
    struct addrinfo *found = NULL;
    int status = getaddrinfo(self->host, service, &hints, &found);
    int reason;
    int fd;

    if (status != 0) {
        g_set_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_RESOLVE,
                    "cannot resolve '%s': %s; write an address, or a name that `getent hosts %s` "
                    "finds",
                    self->host, status == EAI_SYSTEM ? g_strerror(errno) : gai_strerror(status),
                    self->host);
        return -1;
    }
    errno = EADDRNOTAVAIL;
    /* A name such as localhost has both: IPv4 is what a client that knows only one will try. So
     * IPv6 takes its place only where there is no IPv4, not where it is in use. */
    fd = listen_at_family(found, AF_INET, backlog);
    if (fd < 0 && (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT))
        fd = listen_at_family(found, AF_INET6, backlog);
    reason = errno;
    freeaddrinfo(found);
    errno = reason;
    return fd;
}

static Endpoint *
bound_endpoint(const Endpoint *self, int fd)
{
    struct sockaddr_storage address = { 0 };
    socklen_t length = sizeof address;
    in_port_t port;

    if (getsockname(fd, (struct sockaddr *) &address, &length) < 0)
        g_error("getsockname: %s", g_strerror(errno));
    port = address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *) &address)->sin6_port
                                         : ((struct sockaddr_in *) &address)->sin_port;
    return endpoint_new(self->host, ntohs(port));
}

int
endpoint_listen(const Endpoint *self, int backlog, Endpoint **ret_bound, GError **error)
{
    g_autofree char *text = endpoint_to_text(self);
    g_autoptr(GError) cause = NULL;
    int fd = *self->host == '\0' ? listen_everywhere(self->port, backlog)
                                 : listen_at_host(self, backlog, &cause);

    if (fd < 0 && cause == NULL)
        g_set_error(&cause, ENDPOINT_ERROR,
                    errno == EADDRINUSE ? ENDPOINT_ERROR_IN_USE : ENDPOINT_ERROR_BIND, "%s%s",
                    g_strerror(errno), remedy_of(errno));
    if (fd < 0) {
        g_propagate_prefixed_error(error, g_steal_pointer(&cause), "cannot listen on %s: ", text);
        return -1;
    }
    if (ret_bound != NULL)
        *ret_bound = bound_endpoint(self, fd);
    return fd;
}
