/* host_interceptor.c - writes the address or the name of this machine into a header. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/core/interceptor.h"

typedef struct {
    Interceptor base;
    char *host_header;
    gboolean use_ip;
    gboolean preserve_existing;
    char *host; /* found by open */
} HostInterceptor;

static const OptionSpec host_options[] = {
    { .name = "host-header",
      OPTION_AT(STRING, HostInterceptor, host_header),
      .fallback = "host",
      .help = "The header that receives the address or name." },
    { .name = "use-ip",
      OPTION_AT(BOOL, HostInterceptor, use_ip),
      .fallback = "true",
      .help =
          "The address from which this machine reaches others, as found at start; if false, its "
          "host name." },
    { .name = "preserve-existing",
      OPTION_AT(BOOL, HostInterceptor, preserve_existing),
      .fallback = "false",
      .help = "Leave events alone that have this header." },
    { 0 },
};

/* ---- the address of this machine ---- */

static char *
text_of_address(const struct sockaddr *address, socklen_t length)
{
    char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];

    if (getnameinfo(address, length, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
        return NULL;
    return g_strdup(text);
}

/* The address that packets to a distant destination leave with. Connecting a datagram socket asks
 * the routing table; nothing is sent. */
static char *
address_of_default_route(const char *distant)
{
    struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                              .ai_socktype = SOCK_DGRAM };
    struct sockaddr_storage own = { 0 };
    socklen_t length = sizeof own;
    struct addrinfo *to;
    char *text = NULL;
    int fd;

    if (getaddrinfo(distant, "9", &hints, &to) != 0)
        return NULL;
    fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        if (connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
            getsockname(fd, (struct sockaddr *) &own, &length) == 0)
            text = text_of_address((struct sockaddr *) &own, length);
        close(fd);
    }
    freeaddrinfo(to);
    return text;
}

static char *
address_of_first_interface(void)
{
    struct ifaddrs *interfaces;
    char *text = NULL;

    if (getifaddrs(&interfaces) != 0)
        return NULL;
    for (const struct ifaddrs *i = interfaces; i != NULL && text == NULL; i = i->ifa_next) {
        if (i->ifa_addr == NULL || (i->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        if (i->ifa_addr->sa_family == AF_INET)
            text = text_of_address(i->ifa_addr, sizeof(struct sockaddr_in));
        else if (i->ifa_addr->sa_family == AF_INET6)
            text = text_of_address(i->ifa_addr, sizeof(struct sockaddr_in6));
    }
    freeifaddrs(interfaces);
    return text;
}

/* The distant ones are reserved for documentation: every table has them behind its default route.
 */
static char *
address_of_this_machine(void)
{
    char *text = address_of_default_route("192.0.2.1");

    if (text == NULL)
        text = address_of_default_route("2001:db8::1");
    if (text == NULL)
        text = address_of_first_interface();
    return text != NULL ? text : g_strdup("127.0.0.1");
}

/* ---- the part ---- */

static gboolean
host_open(Component *component, GError **error G_GNUC_UNUSED)
{
    HostInterceptor *self = (HostInterceptor *) component;

    g_free(self->host);
    self->host = self->use_ip ? address_of_this_machine() : g_strdup(g_get_host_name());
    return TRUE;
}

static void
host_finalize(Component *component)
{
    g_clear_pointer(&((HostInterceptor *) component)->host, g_free);
}

static void
host_intercept(const Interceptor *base, EventEdit *event)
{
    const HostInterceptor *self = (const HostInterceptor *) base;
    ByteSpan key = byte_span_of_text(self->host_header);
    ByteSpan existing;

    if (self->preserve_existing && event_edit_find_header(event, key, &existing))
        return;
    event_edit_set_header(event, key, byte_span_of_text(self->host));
}

const InterceptorType host_interceptor = {
    .base = {
        .name = "host",
        .summary = "Writes the address or the name of this machine into a header.",
        .instance_size = sizeof(HostInterceptor),
        .options = host_options,
        .open = host_open,
        .finalize = host_finalize,
    },
    .intercept = host_intercept,
};
