/* endpoint.h - "host:port" as people write it: name, IPv4, [IPv6], or nothing for every interface.
 */
#pragma once

#include <glib.h>

#define ENDPOINT_ERROR (endpoint_error_quark())
GQuark endpoint_error_quark(void);
typedef enum {
    ENDPOINT_ERROR_SYNTAX,
    ENDPOINT_ERROR_RESOLVE,
    ENDPOINT_ERROR_IN_USE, /* by a process that listens, or by any connection */
    ENDPOINT_ERROR_BIND,   /* anything else that keeps an address from being listened on */
} EndpointError;

typedef struct {
    char *host;   /* without brackets; "" means every interface of both families (listening only) */
    guint16 port; /* 0 when listening: the system picks one */
} Endpoint;

/* "host:port", "1.2.3.4:port", "[::1]:port", ":port". */
Endpoint *endpoint_parse(const char *text, GError **error);
/* The same with a host and a port that can be connected to. */
Endpoint *endpoint_parse_peer(const char *text, GError **error);
Endpoint *endpoint_new(const char *host, guint16 port);
Endpoint *endpoint_copy(const Endpoint *self);
void endpoint_free(Endpoint *self);
char *endpoint_to_text(const Endpoint *self); /* (transfer full) with brackets round IPv6 */
/* As written: names are not looked up, and the case of their letters is no difference. */
gboolean endpoint_equal(const Endpoint *self, const Endpoint *other);
/* The first of them (Endpoint *) that comes again, or NULL. */
const Endpoint *endpoints_find_twice(const GPtrArray *endpoints);
/* The first of some that is one of others too, or NULL. */
const Endpoint *endpoints_find_common(const GPtrArray *some, const GPtrArray *others);

/* ":4141" listens on every interface of both families through one socket, "0.0.0.0:4141" on IPv4
 * and
 * "[::]:4141" on IPv6 alone; a name that has addresses of both is listened on at its IPv4 address.
 *
 * A listening TCP socket: close-on-exec, non-blocking, SO_REUSEADDR, never SO_REUSEPORT. -1 and an
 * error that names the address and the remedy. ret_bound (transfer full; may be NULL) has the port
 * really bound.
 */
int endpoint_listen(const Endpoint *self, int backlog, Endpoint **ret_bound, GError **error);

struct sockaddr;
/* "192.0.2.1:4141" or "[2001:db8::1]:4141"; IPv4-mapped IPv6 is written as IPv4. */
char *endpoint_text_of_address(const struct sockaddr *address);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Endpoint, endpoint_free)
