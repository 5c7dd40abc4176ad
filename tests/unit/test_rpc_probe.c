/* test_rpc_probe.c - under load balancing a host that has failed is asked aside whether it is back:
 * it holds up nobody, and has its share when it answers. */
#include <glib.h>

#include "base/clock.h"
#include "client/rpc_client.h"
#include "tests/support/deaf_peer.h"
#include "tests/support/events.h"
#include "tests/support/rpc_fixture.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define TIMEOUT_US (5 * G_USEC_PER_SEC / 2)
#define BACKOFF_US (20 * 1000)

static void
fixture_init(RpcFixture *self, guint n_servers)
{
    rpc_fixture_init(self, RPC_LOAD_BALANCE, n_servers);
    self->options.backoff = TRUE;
    self->options.max_backoff_us = BACKOFF_US;
    self->options.connections = 1;
}

/* Sends until *counter (atomic) is at least n. Returns how many events were sent. */
static guint
send_until_told(RpcFixture *self, const gint *counter, gint n)
{
    gint64 give_up_us = clock_deadline_us(2 * SOON_US);
    guint n_sent = 0;

    for (; g_atomic_int_get(counter) < n; n_sent++) {
        g_assert_cmpint(clock_now_us(), <, give_up_us);
        rpc_fixture_send_each(self, 0, 1);
        g_usleep(1000);
    }
    return n_sent;
}

static void
test_a_frozen_host_is_asked_again_and_nobody_waits_for_it(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, 2);
    self.options.request_timeout_us = TIMEOUT_US;
    rpc_server_answer(self.servers[0], ANSWER_NOTHING);
    rpc_fixture_send_each(&self, 0, 1); /* the first finds it out */

    g_assert_cmpuint(send_until_told(&self, &self.n_still_failing, 1), >, 10);
    g_assert_cmpint(self.n_failed, ==, 1);
    g_assert_cmpuint(rpc_server_n_stored(self.servers[0]), ==, 0);
}

/* The only other host answers no attempt to connect. */
static void
test_nobody_waits_for_a_host_that_cannot_be_connected_to(void)
{
    g_auto(RpcFixture) self;
    g_auto(DeafPeer) deaf = { 0 };
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();

    deaf_peer_init(&deaf);
    fixture_init(&self, 2);
    self.options.connect_timeout_us = TIMEOUT_US;
    g_ptr_array_add(hosts, deaf.bound);
    g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self.servers[1]));
    g_assert_true(rpc_client_set_hosts(rpc_fixture_client(&self), hosts, NULL));
    rpc_fixture_send_each(&self, 0, 2); /* one of them finds it out */

    g_assert_cmpuint(send_until_told(&self, &self.n_still_failing, 1), >, 10);
    g_assert_cmpint(self.n_failed, ==, 1);
    rpc_client_close(self.client); /* ends the one under way, before its peer goes */
}

static void
check_has_its_share_again(Answer failure)
{
    g_auto(RpcFixture) self;
    gint64 give_up_us = clock_deadline_us(SOON_US);
    guint n_before;

    fixture_init(&self, 2);
    rpc_server_plan(self.servers[0], &failure, 1);
    rpc_fixture_send_each(&self, 0, 1);
    while (rpc_server_n_stored(self.servers[0]) == 0) {
        g_assert_cmpint(clock_now_us(), <, give_up_us);
        rpc_fixture_send_each(&self, 0, 1);
    }
    n_before = rpc_server_n_stored(self.servers[0]);
    rpc_fixture_send_each(&self, 0, 20);

    g_assert_cmpuint(rpc_server_n_stored(self.servers[0]) - n_before, ==, 10);
    g_assert_cmpint(self.n_failed, ==, 1);
    g_assert_cmpint(self.n_still_failing, ==, 0);
}

static void
test_a_host_that_answers_again_has_its_share(void)
{
    check_has_its_share_again(ANSWER_HANG_UP);
    check_has_its_share_again(ANSWER_FAILED);
}

/* It says no to a batch of no events, too; events may fare better. */
static void
test_a_host_that_refuses_is_there(void)
{
    static const Answer answers[] = { ANSWER_FAILED, ANSWER_FAILED };
    g_auto(RpcFixture) self;
    gint64 give_up_us = clock_deadline_us(SOON_US);

    fixture_init(&self, 2);
    rpc_server_plan(self.servers[0], answers, G_N_ELEMENTS(answers));
    while (rpc_server_n_stored(self.servers[0]) == 0) {
        g_assert_cmpint(clock_now_us(), <, give_up_us);
        rpc_fixture_send_each(&self, 0, 1);
    }

    g_assert_cmpint(self.n_failed, ==, 1);
    g_assert_cmpint(self.n_still_failing, ==, 0);
}

static void
test_a_peer_that_is_no_source_stays_out(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, 2);
    rpc_server_answer(self.servers[0], ANSWER_UNKNOWN_METHOD);
    rpc_fixture_send_each(&self, 0, 1);
    send_until_told(&self, &self.n_still_failing, 3);

    g_assert_cmpint(self.n_failed, ==, 1);
    g_assert_cmpint(self.n_opened, ==, 2);
}

static void
check_is_not_asked_aside(RpcFixture *self)
{
    gint64 until_us = clock_deadline_us(10 * BACKOFF_US);
    guint n_calls;

    rpc_server_answer(self->servers[0], ANSWER_FAILED);
    rpc_fixture_send_each(self, 0, 1);
    n_calls = rpc_server_n_calls(self->servers[0]);
    while (clock_now_us() < until_us)
        rpc_fixture_send_each(self, 0, 1);

    g_assert_cmpuint(n_calls, ==, 1);
    g_assert_cmpuint(rpc_server_n_calls(self->servers[0]), ==, n_calls);
}

static void
test_failover_leaves_a_host_that_failed_alone_while_another_works(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, 2);
    self.options.kind = RPC_FAILOVER;

    check_is_not_asked_aside(&self);
}

/* Nobody else could take over, so the call itself tries it. */
static void
test_while_no_host_works_calls_try_those_that_failed(void)
{
    g_auto(RpcFixture) self;

    fixture_init(&self, 2);
    rpc_server_answer(self.servers[0], ANSWER_FAILED);
    rpc_server_answer(self.servers[1], ANSWER_FAILED);
    for (guint i = 0; i < 5; i++) {
        g_assert_false(rpc_fixture_send(&self, 0, 1, NULL));
        g_usleep(BACKOFF_US);
    }

    g_assert_cmpint(self.n_failed, ==, 10);
    g_assert_cmpint(self.n_still_failing, ==, 0);
}

/* Host 0 has failed and is being asked, without an answer. */
static void
begin_an_endless_probe(RpcFixture *self)
{
    static const Answer answers[] = { ANSWER_FAILED };
    gint64 give_up_us = clock_deadline_us(SOON_US);

    fixture_init(self, 2);
    self->options.request_timeout_us = 10 * SOON_US;
    rpc_server_plan(self->servers[0], answers, G_N_ELEMENTS(answers));
    rpc_server_answer(self->servers[0], ANSWER_NOTHING);
    while (rpc_server_n_calls(self->servers[0]) < 2) {
        g_assert_cmpint(clock_now_us(), <, give_up_us);
        rpc_fixture_send_each(self, 0, 1);
    }
}

static void
test_close_ends_a_probe_at_once(void)
{
    g_auto(RpcFixture) self;
    gint64 begin_us;

    begin_an_endless_probe(&self);
    begin_us = clock_now_us();
    rpc_client_close(self.client);

    g_assert_cmpint(clock_now_us() - begin_us, <, SOON_US);
    g_assert_cmpint(self.n_still_failing, ==, 0);
    g_assert_cmpint(self.n_closed, ==, self.n_opened);
}

static void
test_an_interrupted_probe_says_nothing_and_there_is_another(void)
{
    g_auto(RpcFixture) self;

    begin_an_endless_probe(&self);
    rpc_server_answer(self.servers[0], ANSWER_OK);
    rpc_client_interrupt(self.client);
    while (rpc_server_n_stored(self.servers[0]) == 0)
        rpc_fixture_send_each(&self, 0, 1);

    g_assert_cmpint(self.n_still_failing, ==, 0);
    g_assert_cmpint(self.n_failed, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/rpc-probe/" name, function)
    ADD("a-frozen-host-is-asked-again-and-nobody-waits-for-it",
        test_a_frozen_host_is_asked_again_and_nobody_waits_for_it);
    ADD("nobody-waits-for-a-host-that-cannot-be-connected-to",
        test_nobody_waits_for_a_host_that_cannot_be_connected_to);
    ADD("a-host-that-answers-again-has-its-share", test_a_host_that_answers_again_has_its_share);
    ADD("a-host-that-refuses-is-there", test_a_host_that_refuses_is_there);
    ADD("a-peer-that-is-no-source-stays-out", test_a_peer_that_is_no_source_stays_out);
    ADD("failover-leaves-a-host-that-failed-alone",
        test_failover_leaves_a_host_that_failed_alone_while_another_works);
    ADD("while-no-host-works-calls-try-those-that-failed",
        test_while_no_host_works_calls_try_those_that_failed);
    ADD("close-ends-a-probe-at-once", test_close_ends_a_probe_at_once);
    ADD("an-interrupted-probe-says-nothing",
        test_an_interrupted_probe_says_nothing_and_there_is_another);
    return g_test_run();
}
