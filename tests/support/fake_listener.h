/* fake_listener.h - a source that says where it listens, for tests of what is said of it. */
#pragma once

#include "agent/core/source.h"

typedef struct {
    Source base;
    Endpoint *configured;
    Endpoint *bound;
} FakeListener;

/* "host:port" as configured, and the port that it got. */
FakeListener *fake_listener_new(const char *listen, guint16 port);
void fake_listener_free(FakeListener *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FakeListener, fake_listener_free)
