/* resolver.h - names to addresses, on threads of its own, so that a caller's wait has a deadline.
 *
 * A thread lives as long as there are names to look up, and there are few of them, so that one dead
 * name server delays nobody else's names. Addresses in figures are answered at once. Who asks for a
 * name that is being looked up shares the answer; a failure is remembered for a second, so that
 * many callers do not flood a name server; nothing else is remembered. */
#pragma once

#include <glib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/endpoint.h"

#define RESOLVER_ERROR (resolver_error_quark())
GQuark resolver_error_quark(void);
typedef enum {
    RESOLVER_ERROR_NOT_FOUND,
    RESOLVER_ERROR_TIMEOUT,
    RESOLVER_ERROR_INTERRUPTED
} ResolverError;

typedef struct {
    struct sockaddr_storage address;
    socklen_t length;
} ResolvedAddress;

/* (transfer full) GArray of ResolvedAddress, at least one, in the system's order of preference.
 * stop: atomic, may be NULL; non-zero ends the wait after resolver_wake. */
GArray *resolver_lookup(const Endpoint *endpoint, gint64 deadline_us, const gint *stop,
                        GError **error);
void resolver_wake(void); /* any thread */
