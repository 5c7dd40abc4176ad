/* registry_link.c - one TCP connection to a registry, on a GMainContext. */
#include "agent/registration/registry_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "agent/core/registration.h"

#define READ_BYTES 4096

struct RegistryLink {
    const RegistryLinkHooks *hooks; /* NULL once it is closed */
    gpointer user;
    guint *n_links;
    GCancellable *cancellable;     /* of the connect that is under way, else NULL */
    GSocketConnection *connection; /* NULL until connected */
    GSource *readable;
    GSource *writable;  /* while there is output */
    GByteArray *output; /* what the socket did not take yet */
};

static void
clear_source(GSource **source)
{
    if (*source == NULL)
        return;
    g_source_destroy(*source);
    g_clear_pointer(source, g_source_unref);
}

static void
registry_link_free(RegistryLink *self)
{
    clear_source(&self->readable);
    clear_source(&self->writable);
    g_clear_object(&self->cancellable);
    g_clear_object(&self->connection);
    g_byte_array_unref(self->output);
    --*self->n_links;
    g_free(self);
}

void
registry_link_close(RegistryLink *self)
{
    if (self->cancellable == NULL) {
        registry_link_free(self);
        return;
    }
    /* on_connected frees it. */
    self->hooks = NULL;
    g_cancellable_cancel(self->cancellable);
}

static GSource *
watch(RegistryLink *self, GIOCondition condition, GSocketSourceFunc ready)
{
    GSocket *socket = g_socket_connection_get_socket(self->connection);
    GSource *source = g_socket_create_source(socket, condition, NULL);

    g_source_set_callback(source, G_SOURCE_FUNC(ready), self, NULL);
    g_source_attach(source, g_main_context_get_thread_default());
    return source;
}

/* ---- output ---- */

/* FALSE: all is sent, or the connection is at its end, which shows when it is read next. */
static gboolean
flush(RegistryLink *self)
{
    GSocket *socket = g_socket_connection_get_socket(self->connection);
    g_autoptr(GError) error = NULL;
    gssize sent;

    if (self->output->len == 0)
        return FALSE;
    sent =
        g_socket_send(socket, (const char *) self->output->data, self->output->len, NULL, &error);
    if (sent < 0 && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
        return TRUE;
    g_byte_array_remove_range(self->output, 0, sent < 0 ? self->output->len : (guint) sent);
    return self->output->len > 0;
}

static gboolean
on_writable(GSocket *socket G_GNUC_UNUSED, GIOCondition condition G_GNUC_UNUSED, gpointer user)
{
    RegistryLink *self = user;

    if (flush(self))
        return G_SOURCE_CONTINUE;
    clear_source(&self->writable);
    return G_SOURCE_REMOVE;
}

void
registry_link_send(RegistryLink *self, ByteSpan bytes)
{
    g_byte_array_append(self->output, bytes.data, (guint) bytes.length);
    if (self->writable == NULL && flush(self))
        self->writable = watch(self, G_IO_OUT, on_writable);
}

/* ---- input ---- */

static gboolean
on_readable(GSocket *socket, GIOCondition condition G_GNUC_UNUSED, gpointer user)
{
    RegistryLink *self = user;
    g_autoptr(GError) error = NULL;
    char bytes[READ_BYTES];
    gssize got = g_socket_receive(socket, bytes, sizeof bytes, NULL, &error);

    if (got < 0 && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
        return G_SOURCE_CONTINUE;
    if (got > 0) {
        self->hooks->received(byte_span(bytes, (gsize) got), self->user);
        return G_SOURCE_CONTINUE; /* if it was closed meanwhile, its source is destroyed */
    }
    if (error == NULL)
        g_set_error_literal(&error, REGISTRATION_ERROR, REGISTRATION_ERROR_CLOSED,
                            "it closed the connection");
    self->hooks->broken(error, self->user);
    return G_SOURCE_CONTINUE;
}

/* ---- connecting ---- */

/* (transfer full) */
static char *
host_of(GSocketAddress *address)
{
    GInetAddress *inet = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address));

    return g_inet_address_to_string(inet);
}

static void
registry_link_begin(RegistryLink *self, GError **error)
{
    GSocket *socket = g_socket_connection_get_socket(self->connection);
    g_autoptr(GSocketAddress) local = g_socket_get_local_address(socket, error);
    g_autoptr(GSocketAddress) remote =
        local != NULL ? g_socket_get_remote_address(socket, error) : NULL;
    g_autofree char *local_host = NULL;
    g_autofree char *remote_host = NULL;

    if (remote == NULL)
        return;
    g_socket_set_blocking(socket, FALSE);
    g_socket_set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
    self->readable = watch(self, G_IO_IN, on_readable);
    local_host = host_of(local);
    remote_host = host_of(remote);
    self->hooks->connected(local_host, remote_host, self->user);
}

static void
on_connected(GObject *client, GAsyncResult *result, gpointer user)
{
    RegistryLink *self = user;
    g_autoptr(GError) error = NULL;

    self->connection =
        g_socket_client_connect_to_host_finish(G_SOCKET_CLIENT(client), result, &error);
    g_clear_object(&self->cancellable);
    if (self->hooks == NULL) {
        registry_link_free(self);
        return;
    }
    if (self->connection != NULL)
        registry_link_begin(self, &error);
    if (error != NULL)
        self->hooks->broken(error, self->user);
}

RegistryLink *
registry_link_open(const Endpoint *registry, const RegistryLinkHooks *hooks, gpointer user,
                   guint *n_links)
{
    g_autoptr(GSocketClient) client = g_socket_client_new();
    RegistryLink *self = g_new0(RegistryLink, 1);

    self->hooks = hooks;
    self->user = user;
    self->n_links = n_links;
    ++*n_links;
    self->output = g_byte_array_new();
    self->cancellable = g_cancellable_new();
    g_socket_client_set_enable_proxy(client, FALSE);
    g_socket_client_connect_to_host_async(client, registry->host, registry->port, self->cancellable,
                                          on_connected, self);
    return self;
}
