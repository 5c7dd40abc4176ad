/* registry_link.h - one TCP connection to a registry, on the thread's default GMainContext: its
 * name is looked up, it is connected and talked to, and nothing of it ever blocks. */
#pragma once

#include <gio/gio.h>

#include "base/endpoint.h"
#include "base/span.h"

/* Never called from within the calls below, and not after registry_link_close, which may be called
 * from within each of them. */
typedef struct {
    void (*connected)(const char *local_host, const char *registry_host, gpointer user);
    void (*received)(ByteSpan bytes, gpointer user);
    void (*broken)(const GError *why, gpointer user); /* could not connect, or is at its end */
} RegistryLinkHooks;

typedef struct RegistryLink RegistryLink;

/* *n_links is one more until the link has been freed. */
RegistryLink *registry_link_open(const Endpoint *registry, const RegistryLinkHooks *hooks,
                                 gpointer user, guint *n_links);
void registry_link_send(RegistryLink *self, ByteSpan bytes); /* once connected */
/* Frees it. A look-up that is under way is told to end and ends a little later. */
void registry_link_close(RegistryLink *self);
