/* test_rpc_set_hosts.c - a client is given other hosts while it works: nothing is lost, nothing is
 * sent twice, and whoever leaves finishes what it has. */
#include <glib.h>
#include <string.h>

#include "base/clock.h"
#include "client/rpc_stream.h"
#include "tests/support/events.h"
#include "tests/support/rpc_fixture.h"
#include "tests/support/rpc_turmoil.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define SHORT_US (200 * 1000)

/* mask: a bit for each server of the fixture. */
static void
set_hosts(RpcFixture *self, guint mask)
{
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();

    for (guint i = 0; i < self->n_servers; i++)
        if (mask & 1u << i)
            g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self->servers[i]));
    g_assert_true(rpc_client_set_hosts(rpc_fixture_client(self), hosts, NULL));
}

/* What the client has before it is told: all servers. */
static void
fixture_init(RpcFixture *self, RpcClientKind kind, guint n_servers)
{
    rpc_fixture_init(self, kind, n_servers);
    self->options.in_flight = 4;
}

static void
assert_shares(RpcFixture *self, const char *expected)
{
    g_autofree char *shares = rpc_fixture_shares(self);

    g_assert_cmpstr(shares, ==, expected);
}

/* ---- who gets what ---- */

static void
test_new_hosts_have_their_share_and_those_that_left_get_nothing(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, RPC_LOAD_BALANCE, 4);
    set_hosts(&self, 0x3);
    rpc_fixture_send_each(&self, 0, 10);
    set_hosts(&self, 0xe);
    rpc_fixture_send_each(&self, 10, 30);

    assert_shares(&self, "5 15 10 10");
    g_assert_true(rpc_server_wait_no_connection(self.servers[0]));
    g_assert_cmpint(self.n_failed, ==, 0);
}

static void
test_a_host_that_stays_keeps_its_connection_and_its_backoff(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, RPC_LOAD_BALANCE, 3);
    self.options.backoff = TRUE;
    self.options.max_backoff_us = 60 * SOON_US;
    rpc_server_answer(self.servers[0], ANSWER_FAILED);
    set_hosts(&self, 0x3);
    rpc_fixture_send_each(&self, 0, 10);
    rpc_server_answer(self.servers[0], ANSWER_OK);
    for (guint i = 0; i < 10; i++) {
        set_hosts(&self, i % 2 == 0 ? 0x7 : 0x3);
        rpc_fixture_send_each(&self, 10 + i, 1);
    }

    g_assert_cmpuint(rpc_server_n_connections(self.servers[1]), ==, 1);
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, 1);
}

static void
test_failover_stays_with_a_host_that_stays(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, RPC_FAILOVER, 3);
    rpc_server_plan(self.servers[0], &(Answer){ ANSWER_FAILED }, 1);
    rpc_fixture_send_each(&self, 0, 2);
    set_hosts(&self, 0x6);
    rpc_fixture_send_each(&self, 2, 2);
    set_hosts(&self, 0x7);
    rpc_fixture_send_each(&self, 4, 2);

    rpc_fixture_assert_stored(&self, 1, "0 1 2 3 4 5");
}

static void
test_a_client_of_one_host_goes_over_to_another(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, RPC_FAILOVER, 2);
    self.options.kind = RPC_FAILOVER;
    set_hosts(&self, 0x1);
    rpc_fixture_send_each(&self, 0, 2);
    set_hosts(&self, 0x2);
    rpc_fixture_send_each(&self, 2, 2);

    rpc_fixture_assert_stored(&self, 0, "0 1");
    rpc_fixture_assert_stored(&self, 1, "2 3");
}

static void
test_hosts_of_a_higher_rank_are_for_when_the_others_fail(void)
{
    static const guint ranks[] = { 0, 1, 0 };
    g_auto(RpcFixture) self;
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();

    fixture_init(&self, RPC_LOAD_BALANCE, 3);
    self.options.backoff = TRUE;
    for (guint i = 0; i < 3; i++)
        g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self.servers[i]));
    rpc_client_set_ranked_hosts(rpc_fixture_client(&self), hosts, ranks, NULL);
    rpc_fixture_send_each(&self, 0, 10);
    assert_shares(&self, "5 0 5");
    rpc_server_stop(self.servers[0]);
    rpc_server_stop(self.servers[2]);
    rpc_fixture_send_each(&self, 10, 5);

    assert_shares(&self, "5 5 5");
}

static void
test_a_host_that_is_named_twice_fails_with_both_at_once(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();

    fixture_init(&self, RPC_LOAD_BALANCE, 2);
    self.options.backoff = TRUE;
    self.options.max_backoff_us = 60 * SOON_US;
    g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self.servers[0]));
    g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self.servers[0]));
    g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self.servers[1]));
    rpc_client_set_hosts(rpc_fixture_client(&self), hosts, NULL);
    rpc_server_answer(self.servers[0], ANSWER_FAILED);
    rpc_fixture_send_each(&self, 0, 6);

    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, 1);
}

static void
test_without_hosts_calls_fail_at_once_and_with_hosts_again_they_work(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GError) error = NULL;

    fixture_init(&self, RPC_LOAD_BALANCE, 2);
    set_hosts(&self, 0x0);
    g_assert_false(rpc_fixture_send(&self, 0, 1, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_UNREACHABLE);
    g_clear_error(&error);
    g_assert_false(rpc_client_connect(self.client, clock_deadline_us(SOON_US), &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_UNREACHABLE);
    set_hosts(&self, 0x1);

    rpc_fixture_send_each(&self, 0, 1);
    assert_shares(&self, "1 0");
}

static void
test_what_is_no_address_changes_nothing(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Endpoint) no_port = endpoint_new("hub1", 0);
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();
    g_autoptr(GError) error = NULL;

    fixture_init(&self, RPC_FAILOVER, 1);
    g_ptr_array_add(hosts, no_port);

    g_assert_false(rpc_client_set_hosts(rpc_fixture_client(&self), hosts, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_CONFIGURATION);
    rpc_fixture_send_each(&self, 0, 1);
}

/* As weights are written: one has twice the share. */
static void
test_a_host_that_is_named_twice_has_two_shares(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();

    fixture_init(&self, RPC_LOAD_BALANCE, 2);
    for (guint i = 0; i < 3; i++)
        g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self.servers[i % 2]));
    g_assert_true(rpc_client_set_hosts(rpc_fixture_client(&self), hosts, NULL));
    rpc_fixture_send_each(&self, 0, 15);
    g_assert_true(rpc_client_set_hosts(self.client, hosts, NULL));
    rpc_fixture_send_each(&self, 15, 15);

    assert_shares(&self, "20 10");
    g_assert_cmpint(self.n_opened, ==, 3);
}

/* ---- what is on its way ---- */

static void
submit(RpcStream *stream, Batch *batch, guint index)
{
    BatchSlice slices[] = { { .batch = batch, .first = index, .count = 1 } };

    rpc_stream_submit(stream, slices, 1, clock_deadline_us(SOON_US));
}

static void
collect(RpcStream *stream, guint count)
{
    g_autoptr(GError) error = NULL;
    guint acknowledged;

    for (guint i = 0; i < count; i++) {
        rpc_stream_collect(stream, &acknowledged, &error);
        g_assert_no_error(error);
    }
}

static void
test_a_host_that_leaves_finishes_its_calls_and_then_its_connections_are_closed(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) batch = batch_of_numbers(0, 4);
    g_autoptr(RpcStream) stream = NULL;

    fixture_init(&self, RPC_FAILOVER, 2);
    rpc_server_delay(self.servers[0], SHORT_US);
    stream = rpc_stream_new(rpc_fixture_client(&self));
    submit(stream, batch, 0);
    submit(stream, batch, 1);
    g_assert_true(rpc_server_wait_calls(self.servers[0], 1));
    set_hosts(&self, 0x2);
    submit(stream, batch, 2);
    submit(stream, batch, 3);
    collect(stream, 4);

    rpc_fixture_assert_stored(&self, 0, "0 1");
    rpc_fixture_assert_stored(&self, 1, "2 3");
    g_assert_true(rpc_server_wait_no_connection(self.servers[0]));
    g_assert_cmpint(self.n_failed, ==, 0);
}

static void
test_what_fails_on_a_host_that_has_left_goes_to_the_new_ones(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) batch = batch_of_numbers(7, 1);
    g_autoptr(RpcStream) stream = NULL;

    fixture_init(&self, RPC_FAILOVER, 3);
    self.options.request_timeout_us = SHORT_US;
    set_hosts(&self, 0x1);
    rpc_server_answer(self.servers[0], ANSWER_NOTHING);
    stream = rpc_stream_new(self.client);
    submit(stream, batch, 0);
    g_assert_true(rpc_server_wait_calls(self.servers[0], 1));
    rpc_server_answer(self.servers[1], ANSWER_FAILED);
    set_hosts(&self, 0x6);
    collect(stream, 1);

    rpc_fixture_assert_stored(&self, 2, "7");
}

static void
test_close_ends_calls_on_their_way_to_a_host_that_has_left(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) batch = batch_of_numbers(0, 1);
    g_autoptr(RpcStream) stream = NULL;
    g_autoptr(GError) error = NULL;
    gint64 begin_us = clock_now_us();
    guint acknowledged;

    fixture_init(&self, RPC_FAILOVER, 2);
    self.options.request_timeout_us = 10 * SOON_US;
    rpc_server_answer(self.servers[0], ANSWER_NOTHING);
    stream = rpc_stream_new(rpc_fixture_client(&self));
    submit(stream, batch, 0);
    set_hosts(&self, 0x2);
    set_hosts(&self, 0x0);
    rpc_client_close(self.client);

    g_assert_false(rpc_stream_collect(stream, &acknowledged, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_CLOSED);
    g_assert_cmpint(clock_now_us() - begin_us, <, SOON_US);
}

/* ---- threads ---- */

typedef struct {
    RpcFixture *fixture;
    guint number;
    GThread *thread;
    GError *error;
} Sender;

static gpointer
send_one(gpointer user)
{
    Sender *self = user;

    rpc_fixture_send(self->fixture, self->number, 1, &self->error);
    return NULL;
}

/* One has the only connection; the other waits for it when the host leaves. */
static void
test_who_waits_for_a_connection_to_a_host_that_leaves_goes_to_another(void)
{
    g_auto(RpcFixture) self;
    Sender senders[2];

    fixture_init(&self, RPC_FAILOVER, 2);
    self.options.connections = 1;
    rpc_server_delay(self.servers[0], SHORT_US);
    rpc_fixture_client(&self);
    for (guint i = 0; i < 2; i++) {
        senders[i] = (Sender){ .fixture = &self, .number = i };
        senders[i].thread = g_thread_new("sender", send_one, &senders[i]);
        g_assert_true(rpc_server_wait_calls(self.servers[0], 1));
    }
    g_usleep(SHORT_US / 10); /* it may just as well not have begun to wait */
    set_hosts(&self, 0x2);
    for (guint i = 0; i < 2; i++) {
        g_thread_join(senders[i].thread);
        g_assert_no_error(senders[i].error);
    }

    rpc_fixture_assert_stored(&self, 0, "0");
    rpc_fixture_assert_stored(&self, 1, "1");
}

/* No host ever fails, so every call succeeds, and once. */
static void
check_turmoil(RpcClientKind kind)
{
    g_auto(RpcFixture) self;
    RpcTurmoil turmoil;
    guint n_stored = 0;

    fixture_init(&self, kind, 4);
    self.options.batch_size = 7;
    self.options.connections = 2;
    rpc_turmoil_begin(&turmoil, rpc_fixture_client(&self), SOON_US);
    for (guint i = 0; i < 300; i++) {
        set_hosts(&self, 1 + i * 7 % 15);
        g_usleep(1000);
    }
    rpc_turmoil_end(&turmoil);
    rpc_client_close(self.client);

    for (guint i = 0; i < self.n_servers; i++) {
        g_assert_cmpuint(rpc_server_n_stored(self.servers[i]), >, 0);
        n_stored += rpc_server_n_stored(self.servers[i]);
    }
    g_assert_cmpint(turmoil.n_failed, ==, 0);
    g_assert_cmpuint(n_stored, ==, (guint) turmoil.n_acknowledged);
    g_assert_cmpint(self.n_failed, ==, 0);
    g_assert_cmpint(self.n_opened, ==, self.n_closed);
}

static void
test_every_event_arrives_once_however_often_the_hosts_are_replaced(void)
{
    check_turmoil(RPC_LOAD_BALANCE);
    check_turmoil(RPC_FAILOVER);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/rpc-set-hosts/" name, function)
    ADD("new-hosts-have-their-share",
        test_new_hosts_have_their_share_and_those_that_left_get_nothing);
    ADD("a-host-that-stays-keeps-its-connection-and-its-backoff",
        test_a_host_that_stays_keeps_its_connection_and_its_backoff);
    ADD("failover-stays-with-a-host-that-stays", test_failover_stays_with_a_host_that_stays);
    ADD("a-client-of-one-host-goes-over-to-another",
        test_a_client_of_one_host_goes_over_to_another);
    ADD("without-hosts-calls-fail-at-once",
        test_without_hosts_calls_fail_at_once_and_with_hosts_again_they_work);
    ADD("what-is-no-address-changes-nothing", test_what_is_no_address_changes_nothing);
    ADD("a-host-that-is-named-twice-has-two-shares",
        test_a_host_that_is_named_twice_has_two_shares);
    ADD("a-host-that-leaves-finishes-its-calls",
        test_a_host_that_leaves_finishes_its_calls_and_then_its_connections_are_closed);
    ADD("what-fails-on-a-host-that-has-left-goes-to-the-new-ones",
        test_what_fails_on_a_host_that_has_left_goes_to_the_new_ones);
    ADD("close-ends-calls-to-a-host-that-has-left",
        test_close_ends_calls_on_their_way_to_a_host_that_has_left);
    ADD("who-waits-for-a-host-that-leaves-goes-to-another",
        test_who_waits_for_a_connection_to_a_host_that_leaves_goes_to_another);
    ADD("every-event-arrives-once",
        test_every_event_arrives_once_however_often_the_hosts_are_replaced);
    g_test_add_func("/rpc-set-hosts/ranks",
                    test_hosts_of_a_higher_rank_are_for_when_the_others_fail);
    g_test_add_func("/rpc-set-hosts/twice-fails-once",
                    test_a_host_that_is_named_twice_fails_with_both_at_once);
    return g_test_run();
}
