/* fake_listener.c - a source that says where it listens. */
#include "tests/support/fake_listener.h"

static const Endpoint *
listens_on(const Source *source)
{
    return ((const FakeListener *) source)->configured;
}

static const Endpoint *
bound_to(const Source *source)
{
    return ((const FakeListener *) source)->bound;
}

static const SourceType fake_listener = {
    .base = { .name = "fake", .instance_size = sizeof(FakeListener) },
    .listens_on = listens_on,
    .bound_to = bound_to,
};

FakeListener *
fake_listener_new(const char *listen, guint16 port)
{
    FakeListener *self = g_new0(FakeListener, 1);

    self->base.base.type = &fake_listener.base;
    self->base.base.name = g_strdup("apps");
    self->configured = endpoint_parse(listen, NULL);
    self->bound = endpoint_new(self->configured->host, port);
    return self;
}

void
fake_listener_free(FakeListener *self)
{
    endpoint_free(self->configured);
    endpoint_free(self->bound);
    g_free(self->base.base.name);
    g_free(self);
}
