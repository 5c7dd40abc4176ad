/* registry_port.h - what listens at an address that is said to be a registry's. */
#pragma once

#include <gio/gio.h>

#include "base/endpoint.h"
#include "base/span.h"

typedef enum {
    REGISTRY_PORT_NSQ_HTTP, /* where an nsqlookupd is asked */
    REGISTRY_PORT_NSQ_TCP,  /* where nodes register with it */
    REGISTRY_PORT_OTHER,    /* a namesrv's, or something else */
} RegistryPort;

/* error: nobody is there, so that port says nothing; else NULL. */
typedef void (*RegistryPortFound)(RegistryPort port, const GError *error, gpointer user);

/* In the thread's default main context, which turns until done has been called: once, later. stop
 * may be NULL. */
void registry_port_find_out(const Endpoint *peer, GCancellable *stop, RegistryPortFound done,
                            gpointer user);

/* Whether it is what nsqlookupd's TCP port answers, behind its length, to all that is not its own
 * protocol. */
gboolean registry_port_is_nsq_tcp(ByteSpan answer);
/* (transfer full) For one who wanted HTTP of it. */
GError *registry_port_explain_nsq_tcp(guint16 port);
/* (transfer full) For one who wanted a namesrv, and found one of nsqlookupd's ports. */
GError *registry_port_explain_no_namesrv(guint16 port, RegistryPort found);
/* Whether the error means that nobody is there. */
gboolean registry_port_is_absence(const GError *error);
