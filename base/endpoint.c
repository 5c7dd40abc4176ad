/* endpoint.c - "host:port" as people write it, from text and back. */
#include "base/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

G_DEFINE_QUARK(leat_endpoint_error, endpoint_error)

#define HOST_MAX_LENGTH 253 /* of a name in the DNS */

Endpoint *
endpoint_new(const char *host, guint16 port)
{
    Endpoint *self = g_new0(Endpoint, 1);

    self->host = g_strdup(host);
    self->port = port;
    return self;
}

Endpoint *
endpoint_copy(const Endpoint *self)
{
    return endpoint_new(self->host, self->port);
}

void
endpoint_free(Endpoint *self)
{
    if (self == NULL)
        return;
    g_free(self->host);
    g_free(self);
}

char *
endpoint_to_text(const Endpoint *self)
{
    return g_strdup_printf(strchr(self->host, ':') != NULL ? "[%s]:%u" : "%s:%u", self->host,
                           self->port);
}

gboolean
endpoint_equal(const Endpoint *self, const Endpoint *other)
{
    return self->port == other->port && g_ascii_strcasecmp(self->host, other->host) == 0;
}

const Endpoint *
endpoints_find_twice(const GPtrArray *endpoints)
{
    for (guint i = 0; i < endpoints->len; i++)
        for (guint j = i + 1; j < endpoints->len; j++)
            if (endpoint_equal(endpoints->pdata[i], endpoints->pdata[j]))
                return endpoints->pdata[i];
    return NULL;
}

const Endpoint *
endpoints_find_common(const GPtrArray *some, const GPtrArray *others)
{
    for (guint i = 0; i < some->len; i++)
        for (guint j = 0; j < others->len; j++)
            if (endpoint_equal(some->pdata[i], others->pdata[j]))
                return some->pdata[i];
    return NULL;
}

/* --- text → endpoint --- */

static gboolean G_GNUC_PRINTF(3, 4)
    refuse(GError **error, const char *text, const char *format, ...)
{
    g_autofree char *why = NULL;
    va_list arguments;

    va_start(arguments, format);
    why = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_SYNTAX, "'%s' %s", text, why);
    return FALSE;
}

/* A switch where there is none: no host by that name is meant. */
static gboolean
is_switch(const char *text)
{
    static const char *const switches[] = { "off", "on", "no", "yes", "none", "false", "true" };

    for (gsize i = 0; i < G_N_ELEMENTS(switches); i++)
        if (g_ascii_strcasecmp(text, switches[i]) == 0)
            return TRUE;
    return FALSE;
}

static void
refuse_without_port(GError **error, const char *text)
{
    if (*text == '\0')
        refuse(error, text, "is no address; write host:port, such as hub1:4141");
    else if (is_switch(text))
        refuse(error, text, "is no address; write host:port");
    else
        refuse(error, text, "has no port; write %s:PORT", text);
}

/* The colon before the port. NULL and an error if the text has none, or too many. */
static const char *
find_port_colon(const char *text, GError **error)
{
    const char *colon = strrchr(text, ':');
    const char *bracket = strchr(text, ']');

    if (strstr(text, "://") != NULL) {
        refuse(error, text, "is a URL; write host:port alone, such as hub1:4141");
    } else if (*text == '[' && bracket == NULL) {
        refuse(error, text, "has no ']'; write an IPv6 address as [::1]:4141");
    } else if (*text != '\0' && text[strspn(text, "0123456789")] == '\0') {
        refuse(error, text, "has no host; write host:port, such as 127.0.0.1:%s, or :%s to listen",
               text, text);
    } else if (colon == NULL || (*text == '[' && colon < bracket)) {
        refuse_without_port(error, text);
    } else if (*text != '[' && strchr(text, ':') != colon) {
        refuse(error, text, "has more than one ':'; write an IPv6 address as [::1]:4141");
    } else if (*text == '[' && bracket + 1 != colon) {
        refuse(error, text, "has text between ']' and ':'; write an IPv6 address as [::1]:4141");
    } else {
        return colon;
    }
    return NULL;
}

static gboolean
parse_port(const char *text, const char *port, guint16 *ret_port, GError **error)
{
    guint64 number;

    if (*port == '\0')
        return refuse(error, text, "has no port; write one behind the colon");
    if (!g_ascii_string_to_unsigned(port, 10, 0, G_MAXUINT16, &number, NULL))
        return refuse(error, text, "has no valid port; a port is a number from 0 to 65535");
    *ret_port = (guint16) number;
    return TRUE;
}

/* Without the zone ("fe80::1%eth0"), which only a resolver can judge. */
static gboolean
is_ipv6(const char *host)
{
    g_auto(GStrv) parts = g_strsplit(host, "%", 2);
    struct in6_addr address;

    if (parts[0] == NULL || (parts[1] != NULL && *parts[1] == '\0'))
        return FALSE;
    return inet_pton(AF_INET6, parts[0], &address) == 1;
}

static gboolean
check_host(const char *text, const char *host, GError **error)
{
    struct in_addr address;

    if (strcmp(host, "*") == 0)
        return refuse(error, text, "has '*' for a host; write :4141 for every interface");
    if (strlen(host) > HOST_MAX_LENGTH)
        return refuse(error, text, "has a host name that is too long; 253 letters is the most");
    for (const char *c = host; *c != '\0'; c++)
        if (!g_ascii_isalnum(*c) && strchr("-._", *c) == NULL)
            return refuse(error, text,
                          "is not host:port; a host is a name, an IPv4 address, or an IPv6 address "
                          "in brackets");
    if (*host != '\0' && strspn(host, "0123456789.") == strlen(host) &&
        inet_pton(AF_INET, host, &address) != 1)
        return refuse(error, text, "has no valid IPv4 address; write four numbers, as 127.0.0.1");
    return TRUE;
}

Endpoint *
endpoint_parse(const char *text, GError **error)
{
    const char *colon = find_port_colon(text, error);
    g_autofree char *host = NULL;
    guint16 port = 0;

    if (colon == NULL || !parse_port(text, colon + 1, &port, error))
        return NULL;
    if (*text != '[') {
        host = g_strndup(text, (gsize) (colon - text));
        return check_host(text, host, error) ? endpoint_new(host, port) : NULL;
    }
    host = g_strndup(text + 1, (gsize) (colon - text) - 2);
    if (!is_ipv6(host)) {
        refuse(error, text, "has no IPv6 address in its brackets; write it as [::1]:4141");
        return NULL;
    }
    return endpoint_new(host, port);
}

Endpoint *
endpoint_parse_peer(const char *text, GError **error)
{
    g_autoptr(Endpoint) peer = endpoint_parse(text, error);

    if (peer == NULL)
        return NULL;
    if (*peer->host == '\0')
        refuse(error, text, "has no host to connect to; write host:port, such as hub1:4141");
    else if (peer->port == 0)
        refuse(error, text,
               "has port 0, which nobody can connect to; write the port that is "
               "listened on");
    else
        return g_steal_pointer(&peer);
    return NULL;
}

/* --- socket addresses --- */

static char *
text_of_ipv4(const struct in_addr *address, in_port_t port)
{
    char host[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, address, host, sizeof host);
    return g_strdup_printf("%s:%u", host, ntohs(port));
}

char *
endpoint_text_of_address(const struct sockaddr *address)
{
    struct sockaddr_in6 ipv6;
    struct sockaddr_in ipv4;
    char host[INET6_ADDRSTRLEN];

    if (address->sa_family == AF_INET) {
        memcpy(&ipv4, address, sizeof ipv4);
        return text_of_ipv4(&ipv4.sin_addr, ipv4.sin_port);
    }
    if (address->sa_family != AF_INET6)
        return g_strdup("unknown");
    memcpy(&ipv6, address, sizeof ipv6);
    if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
        memcpy(&ipv4.sin_addr, &ipv6.sin6_addr.s6_addr[12], sizeof ipv4.sin_addr);
        return text_of_ipv4(&ipv4.sin_addr, ipv6.sin6_port);
    }
    inet_ntop(AF_INET6, &ipv6.sin6_addr, host, sizeof host);
    return g_strdup_printf("[%s]:%u", host, ntohs(ipv6.sin6_port));
}
