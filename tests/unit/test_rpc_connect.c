/* test_rpc_connect.c - a connection ahead of the first event. */
#include <glib.h>
#include <string.h>

#include "base/clock.h"
#include "client/rpc_client.h"
#include "tests/support/rpc_fixture.h"

#define SOON_US (10 * G_USEC_PER_SEC)

static gboolean
connect_soon(RpcFixture *self, GError **error)
{
    return rpc_client_connect(rpc_fixture_client(self), clock_deadline_us(SOON_US), error);
}

static void
test_the_first_event_goes_on_that_connection(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    g_assert_true(connect_soon(&self, &error));
    g_assert_no_error(error);
    g_assert_cmpint(self.n_opened, ==, 1);
    g_assert_true(rpc_fixture_send(&self, 0, 1, NULL));

    g_assert_cmpuint(rpc_server_n_connections(self.servers[0]), ==, 1);
}

static void
test_a_dead_host_is_passed_over_by_the_events_too(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_FAILOVER, 2);
    rpc_server_stop(self.servers[0]);
    g_assert_true(connect_soon(&self, NULL));
    g_assert_cmpint(self.n_failed, ==, 1);
    rpc_server_start(self.servers[0]);
    g_assert_true(rpc_fixture_send(&self, 0, 1, NULL));

    rpc_fixture_assert_stored(&self, 1, "0");
}

static void
test_without_any_host_the_error_names_them_all(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    rpc_server_stop(self.servers[0]);
    rpc_server_stop(self.servers[1]);
    g_assert_false(connect_soon(&self, &error));

    g_assert_error(error, RPC_ERROR, RPC_ERROR_UNREACHABLE);
    for (guint i = 0; i < 2; i++) {
        g_autofree char *host = endpoint_to_text(rpc_server_endpoint(self.servers[i]));

        g_assert_nonnull(strstr(error->message, host));
    }
}

static void
test_a_closed_client_connects_to_nothing(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_FAILOVER, 2);
    rpc_client_close(rpc_fixture_client(&self));
    g_assert_false(connect_soon(&self, &error));

    g_assert_error(error, RPC_ERROR, RPC_ERROR_CLOSED);
    g_assert_cmpstr(error->message, ==, "the client is closed");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rpc-connect/the-first-event-goes-on-that-connection",
                    test_the_first_event_goes_on_that_connection);
    g_test_add_func("/rpc-connect/a-dead-host-is-passed-over-by-the-events-too",
                    test_a_dead_host_is_passed_over_by_the_events_too);
    g_test_add_func("/rpc-connect/without-any-host-the-error-names-them-all",
                    test_without_any_host_the_error_names_them_all);
    g_test_add_func("/rpc-connect/a-closed-client-connects-to-nothing",
                    test_a_closed_client_connects_to_nothing);
    return g_test_run();
}
