/* rpc_fixture.c - makes the client of a test, sends numbers through it. */
#include "tests/support/rpc_fixture.h"

#include "base/clock.h"
#include "tests/support/events.h"

#define SOON_US (10 * G_USEC_PER_SEC)

void
rpc_fixture_init(RpcFixture *self, RpcClientKind kind, guint n_servers)
{
    g_assert_cmpuint(n_servers, <=, RPC_FIXTURE_MOST);
    *self = (RpcFixture){ .n_servers = n_servers };
    for (guint i = 0; i < n_servers; i++)
        self->servers[i] = rpc_server_new();
    rpc_client_options_init(&self->options);
    self->options.kind = kind;
    self->options.backoff = FALSE;
    self->options.connect_timeout_us = SOON_US / 2;
    self->options.request_timeout_us = SOON_US / 2;
}

void
rpc_fixture_clear(RpcFixture *self)
{
    rpc_client_free(self->client);
    for (guint i = 0; i < self->n_servers; i++)
        rpc_server_free(self->servers[i]);
}

static void
note_opened(const char *peer G_GNUC_UNUSED, gpointer fixture)
{
    g_atomic_int_inc(&((RpcFixture *) fixture)->n_opened);
}

static void
note_closed(const char *peer G_GNUC_UNUSED, gpointer fixture)
{
    g_atomic_int_inc(&((RpcFixture *) fixture)->n_closed);
}

static void
note_failed(const char *peer G_GNUC_UNUSED, const GError *error, gpointer fixture)
{
    g_assert_nonnull(error);
    g_atomic_int_inc(&((RpcFixture *) fixture)->n_failed);
}

static void
note_still_failing(const char *peer G_GNUC_UNUSED, const GError *error, gpointer fixture)
{
    g_assert_nonnull(error);
    g_atomic_int_inc(&((RpcFixture *) fixture)->n_still_failing);
}

RpcClient *
rpc_fixture_client(RpcFixture *self)
{
    static const RpcClientEvents events = {
        .connection_opened = note_opened,
        .connection_closed = note_closed,
        .host_failed = note_failed,
        .host_still_failing = note_still_failing,
    };
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();
    g_autoptr(GError) error = NULL;

    if (self->client != NULL)
        return self->client;
    for (guint i = 0; i < self->n_servers; i++)
        g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self->servers[i]));
    self->options.hosts = hosts;
    self->client = rpc_client_new(&self->options, &error);
    g_assert_no_error(error);
    rpc_client_set_events(self->client, &events, self);
    return self->client;
}

gboolean
rpc_fixture_send_counted(RpcFixture *self, guint first, guint count, guint *ret_acknowledged,
                         GError **error)
{
    g_autoptr(Batch) batch = batch_of_numbers(first, count);
    BatchSlice slice = { .batch = batch, .count = count };

    return rpc_client_append_batch(rpc_fixture_client(self), &slice, 1, clock_deadline_us(SOON_US),
                                   ret_acknowledged, error);
}

gboolean
rpc_fixture_send(RpcFixture *self, guint first, guint count, GError **error)
{
    guint acknowledged;
    gboolean is_sent = rpc_fixture_send_counted(self, first, count, &acknowledged, error);

    g_assert_true(!is_sent || acknowledged == count);
    return is_sent;
}

void
rpc_fixture_send_each(RpcFixture *self, guint first, guint count)
{
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < count; i++) {
        rpc_fixture_send(self, first + i, 1, &error);
        g_assert_no_error(error);
    }
}

void
rpc_fixture_assert_stored(RpcFixture *self, guint server, const char *events)
{
    g_autofree char *stored = rpc_server_stored(self->servers[server]);

    g_assert_cmpstr(stored, ==, events);
}

char *
rpc_fixture_shares(RpcFixture *self)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < self->n_servers; i++)
        g_string_append_printf(text, "%s%u", i > 0 ? " " : "",
                               rpc_server_n_stored(self->servers[i]));
    return g_string_free(g_steal_pointer(&text), FALSE);
}
