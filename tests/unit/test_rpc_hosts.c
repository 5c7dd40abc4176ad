/* test_rpc_hosts.c - failover and load balancing over servers that fail in every way. */
#include <glib.h>
#include <netdb.h>
#include <string.h>

#include "base/clock.h"
#include "client/rpc_client.h"
#include "tests/support/events.h"
#include "tests/support/rpc_fixture.h"

/* A healthy server answers within that even on a busy machine. */
#define PATIENCE_US (5 * G_USEC_PER_SEC / 2)
#define SHORT_US (200 * 1000)

static void
assert_shares(RpcFixture *self, const char *expected)
{
    g_autofree char *shares = rpc_fixture_shares(self);

    g_assert_cmpstr(shares, ==, expected);
}

static void
answer(RpcFixture *self, guint server, Answer answer)
{
    rpc_server_answer(self->servers[server], answer);
}

/* ---- every failure goes on to the next host ---- */

static const Answer failures[] = {
    ANSWER_FAILED,         ANSWER_ERROR,          ANSWER_UNKNOWN,
    ANSWER_STATUS_42,      ANSWER_NO_STATUS,      ANSWER_INTERNAL_ERROR,
    ANSWER_UNKNOWN_METHOD, ANSWER_PROTOCOL_ERROR, ANSWER_WRONG_SEQUENCE_ID,
    ANSWER_WRONG_METHOD,   ANSWER_NO_THRIFT,      ANSWER_HANG_UP,
    ANSWER_NOTHING,
};

static void
check_next_host_takes_over(RpcClientKind kind, Answer failure)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, kind, 2);
    if (failure == ANSWER_NOTHING)
        self.options.request_timeout_us = PATIENCE_US;
    rpc_server_plan(self.servers[0], &failure, 1);
    rpc_fixture_send_each(&self, 7, 1);

    rpc_fixture_assert_stored(&self, 1, "7");
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, 1);
    g_assert_cmpint(self.n_failed, ==, 1);
}

static void
test_every_failure_goes_on_to_the_next_host_within_the_call(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(failures); i++) {
        check_next_host_takes_over(RPC_FAILOVER, failures[i]);
        check_next_host_takes_over(RPC_LOAD_BALANCE, failures[i]);
    }
}

static void
test_what_one_host_acknowledged_is_not_sent_to_the_next(void)
{
    static const Answer answers[] = { ANSWER_OK, ANSWER_OK, ANSWER_HANG_UP };
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_FAILOVER, 2);
    self.options.batch_size = 2;
    rpc_server_plan(self.servers[0], answers, G_N_ELEMENTS(answers));
    g_assert_true(rpc_fixture_send(&self, 0, 9, NULL));

    rpc_fixture_assert_stored(&self, 0, "0 1 2 3");
    rpc_fixture_assert_stored(&self, 1, "4 5 6 7 8");
}

static void
test_an_event_that_is_too_large_is_tried_nowhere(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) large = batch_of_size(1, 16384000);
    BatchSlice slice = { .batch = large, .count = 1 };
    g_autoptr(GError) error = NULL;
    guint acknowledged;

    rpc_fixture_init(&self, RPC_FAILOVER, 2);

    g_assert_false(rpc_client_append_batch(rpc_fixture_client(&self), &slice, 1, CLOCK_NEVER,
                                           &acknowledged, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_TOO_LARGE);
    g_assert_cmpint(self.n_opened + self.n_failed, ==, 0);
}

static void
test_the_error_names_what_was_wrong_with_each_host(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    rpc_server_stop(self.servers[0]);
    answer(&self, 1, ANSWER_FAILED);

    g_assert_false(rpc_fixture_send(&self, 0, 1, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_REFUSED);
    g_assert_nonnull(strstr(error->message, "refused; 127.0.0.1"));
    g_assert_nonnull(strstr(error->message, "FAILED"));
}

/* ---- failover ---- */

/* Flume's TestFailoverRpcClient.testFailover. */
static void
test_failover_stays_with_what_works_and_wraps_round(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_FAILOVER, 3);
    rpc_fixture_send_each(&self, 0, 2);
    rpc_server_stop(self.servers[0]);
    rpc_fixture_send_each(&self, 2, 2); /* on to the second */
    rpc_server_stop(self.servers[1]);
    rpc_fixture_send_each(&self, 4, 2); /* on to the third */
    rpc_server_start(self.servers[1]);
    rpc_server_stop(self.servers[2]);
    rpc_fixture_send_each(&self, 6, 2); /* round to the second, as the first is dead */
    rpc_server_start(self.servers[0]);
    rpc_fixture_send_each(&self, 8, 2); /* and stays there */
    rpc_server_stop(self.servers[1]);
    rpc_fixture_send_each(&self, 10, 2); /* on to the third, which is dead, and to the first */
    rpc_server_stop(self.servers[0]);
    rpc_server_start(self.servers[0]);
    rpc_fixture_send_each(&self, 12, 1); /* the same host, restarted */

    rpc_fixture_assert_stored(&self, 0, "0 1 10 11 12");
    rpc_fixture_assert_stored(&self, 1, "2 3 6 7 8 9");
    rpc_fixture_assert_stored(&self, 2, "4 5");
}

static void
test_failover_with_all_hosts_down_fails_and_with_one_back_works(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_FAILOVER, 3);
    self.options.backoff = TRUE;
    for (guint i = 0; i < 3; i++)
        rpc_server_stop(self.servers[i]);
    g_assert_false(rpc_fixture_send(&self, 0, 1, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_UNREACHABLE);
    g_assert_cmpint(self.n_failed, ==, 3);
    rpc_server_start(self.servers[1]);

    g_assert_true(rpc_fixture_send(&self, 0, 1, NULL));
    assert_shares(&self, "0 1 0");
}

static void
check_attempts(guint max_attempts, guint first, guint second)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_FAILOVER, 2);
    self.options.max_attempts = max_attempts;
    answer(&self, 0, ANSWER_FAILED);
    answer(&self, 1, ANSWER_FAILED);
    g_assert_false(rpc_fixture_send(&self, 0, 1, NULL));

    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, first);
    g_assert_cmpuint(rpc_server_n_calls(self.servers[1]), ==, second);
}

static void
test_failover_makes_as_many_attempts_as_it_may(void)
{
    check_attempts(0, 1, 1);
    check_attempts(1, 1, 0);
    check_attempts(2, 1, 1);
    check_attempts(5, 3, 2);
}

/* ---- load balancing ---- */

static void
test_round_robin_takes_turns_with_events_and_with_batches(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    rpc_fixture_send_each(&self, 0, 100);
    assert_shares(&self, "50 50");
    for (guint i = 0; i < 100; i++)
        g_assert_true(rpc_fixture_send(&self, 0, 10, NULL));

    assert_shares(&self, "550 550");
}

static void
test_the_calls_of_one_batch_go_to_one_host(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    self.options.batch_size = 3;
    g_assert_true(rpc_fixture_send(&self, 0, 10, NULL));
    g_assert_true(rpc_fixture_send(&self, 10, 10, NULL));

    rpc_fixture_assert_stored(&self, 0, "0 1 2 3 4 5 6 7 8 9");
    rpc_fixture_assert_stored(&self, 1, "10 11 12 13 14 15 16 17 18 19");
}

static void
test_ten_hosts_get_equal_shares_in_turn(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 10);
    rpc_fixture_send_each(&self, 0, 1000);

    assert_shares(&self, "100 100 100 100 100 100 100 100 100 100");
}

static void
test_ten_hosts_get_different_shares_at_random_and_nothing_is_lost(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
    guint sum = 0;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 10);
    self.options.host_selector = RPC_RANDOM;
    rpc_fixture_send_each(&self, 0, 1000);

    for (guint i = 0; i < 10; i++) {
        guint n_stored = rpc_server_n_stored(self.servers[i]);

        g_hash_table_add(counts, GUINT_TO_POINTER(n_stored));
        sum += n_stored;
    }
    g_assert_cmpuint(sum, ==, 1000);
    g_assert_cmpuint(g_hash_table_size(counts), >, 2);
}

/* Flume's testTwoHostFailover: the second fails calls 20 to 39. */
static void
test_the_share_of_a_failing_host_goes_to_the_other(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    rpc_fixture_send_each(&self, 0, 20);
    answer(&self, 1, ANSWER_FAILED);
    rpc_fixture_send_each(&self, 20, 20);
    answer(&self, 1, ANSWER_OK);
    rpc_fixture_send_each(&self, 40, 60);

    assert_shares(&self, "60 40");
}

static void
test_one_dead_host_of_two_is_tolerated(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    rpc_server_stop(self.servers[0]);
    rpc_fixture_send_each(&self, 0, 10);
    g_assert_true(rpc_fixture_send(&self, 10, 10, NULL));

    assert_shares(&self, "0 20");
}

/* FALSE: it took so long that the back-off may have been over. */
static gboolean
check_left_alone_in_backoff(void)
{
    g_auto(RpcFixture) self;
    gint64 failed_us;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 3);
    self.options.backoff = TRUE;
    rpc_fixture_send_each(&self, 0, 3);
    answer(&self, 1, ANSWER_FAILED);
    failed_us = clock_now_us();
    rpc_fixture_send_each(&self, 3, 3);
    answer(&self, 1, ANSWER_OK);
    rpc_fixture_send_each(&self, 6, 3);
    if (clock_now_us() - failed_us >= G_USEC_PER_SEC / 2)
        return FALSE;

    assert_shares(&self, "4 1 4");
    return TRUE;
}

/* Flume's testRoundRobinBackoffInitialFailure. */
static void
test_a_host_in_backoff_is_left_alone_although_it_has_recovered(void)
{
    for (guint i = 0; i < 20; i++)
        if (check_left_alone_in_backoff())
            return;
    g_test_skip("the machine is too busy");
}

static void
test_after_its_backoff_a_host_has_its_share_again(void)
{
    g_auto(RpcFixture) self;
    gint64 deadline_us = clock_deadline_us(10 * G_USEC_PER_SEC);
    guint before[3];

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 3);
    self.options.backoff = TRUE;
    self.options.max_backoff_us = SHORT_US;
    rpc_server_plan(self.servers[1], &(Answer){ ANSWER_FAILED }, 1);
    rpc_fixture_send_each(&self, 0, 3);
    assert_shares(&self, "1 0 2");
    while (rpc_server_n_stored(self.servers[1]) == 0 && clock_now_us() < deadline_us)
        rpc_fixture_send_each(&self, 0, 1);

    for (guint i = 0; i < 3; i++)
        before[i] = rpc_server_n_stored(self.servers[i]);
    rpc_fixture_send_each(&self, 0, 30);
    for (guint i = 0; i < 3; i++)
        g_assert_cmpuint(rpc_server_n_stored(self.servers[i]) - before[i], ==, 10);
}

/* Flume's testRandomBackoff. */
static void
test_at_random_only_hosts_that_are_due_get_anything(void)
{
    g_auto(RpcFixture) self;
    guint n_calls;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 3);
    self.options.backoff = TRUE;
    self.options.host_selector = RPC_RANDOM;
    answer(&self, 0, ANSWER_FAILED);
    answer(&self, 2, ANSWER_FAILED);
    rpc_fixture_send_each(&self, 0, 50);
    n_calls = rpc_server_n_calls(self.servers[0]) + rpc_server_n_calls(self.servers[2]);
    g_assert_cmpuint(n_calls, <=, 10);
    answer(&self, 1, ANSWER_FAILED);
    g_assert_false(rpc_fixture_send(&self, 50, 1, NULL));
    answer(&self, 2, ANSWER_OK);

    rpc_fixture_send_each(&self, 50, 1);
    assert_shares(&self, "0 50 1");
}

/* ---- hosts that say nothing ---- */

static void
test_a_frozen_host_costs_one_request_timeout_and_then_nothing(void)
{
    g_auto(RpcFixture) self;
    gint64 begin_us;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    self.options.backoff = TRUE;
    self.options.request_timeout_us = PATIENCE_US;
    answer(&self, 0, ANSWER_NOTHING);
    begin_us = clock_now_us();
    rpc_fixture_send_each(&self, 0, 20);

    assert_shares(&self, "0 20");
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), <=, 2);
    g_assert_cmpint(clock_now_us() - begin_us, >=, PATIENCE_US);
}

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_list);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_list);

/* A name with two addresses: nobody listens at the first. */
int
__wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret_list)
{
    int status;

    if (strcmp(node, "both") != 0 || (hints->ai_flags & AI_NUMERICHOST))
        return __real_getaddrinfo(node, service, hints, ret_list);
    status = __real_getaddrinfo("127.0.0.2", service, hints, ret_list);
    if (status == 0)
        status = __real_getaddrinfo("127.0.0.1", service, hints, &(*ret_list)->ai_next);
    return status;
}

static void
test_a_name_with_a_dead_and_a_live_address_is_reached(void)
{
    g_autoptr(RpcServer) server = rpc_server_new();
    g_autoptr(Endpoint) both = endpoint_new("both", rpc_server_endpoint(server)->port);
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();
    g_autoptr(Batch) batch = batch_of("one", NULL);
    g_autoptr(RpcClient) client = NULL;
    g_autoptr(GError) error = NULL;
    RpcClientOptions options;

    g_ptr_array_add(hosts, both);
    rpc_client_options_init(&options);
    options.hosts = hosts;
    client = rpc_client_new(&options, &error);
    g_assert_no_error(error);
    rpc_client_append(client, batch, 0, clock_deadline_us(10 * G_USEC_PER_SEC), &error);

    g_assert_no_error(error);
    g_assert_cmpuint(rpc_server_n_stored(server), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/rpc-hosts/" name, function)
    ADD("every-failure-goes-on-to-the-next-host-within-the-call",
        test_every_failure_goes_on_to_the_next_host_within_the_call);
    ADD("what-one-host-acknowledged-is-not-sent-to-the-next",
        test_what_one_host_acknowledged_is_not_sent_to_the_next);
    ADD("an-event-that-is-too-large-is-tried-nowhere",
        test_an_event_that_is_too_large_is_tried_nowhere);
    ADD("the-error-names-what-was-wrong-with-each-host",
        test_the_error_names_what_was_wrong_with_each_host);
    ADD("failover-stays-with-what-works-and-wraps-round",
        test_failover_stays_with_what_works_and_wraps_round);
    ADD("failover-with-all-hosts-down-fails-and-with-one-back-works",
        test_failover_with_all_hosts_down_fails_and_with_one_back_works);
    ADD("failover-makes-as-many-attempts-as-it-may",
        test_failover_makes_as_many_attempts_as_it_may);
    ADD("round-robin-takes-turns-with-events-and-with-batches",
        test_round_robin_takes_turns_with_events_and_with_batches);
    ADD("the-calls-of-one-batch-go-to-one-host", test_the_calls_of_one_batch_go_to_one_host);
    ADD("ten-hosts-get-equal-shares-in-turn", test_ten_hosts_get_equal_shares_in_turn);
    ADD("ten-hosts-get-different-shares-at-random",
        test_ten_hosts_get_different_shares_at_random_and_nothing_is_lost);
    ADD("the-share-of-a-failing-host-goes-to-the-other",
        test_the_share_of_a_failing_host_goes_to_the_other);
    ADD("one-dead-host-of-two-is-tolerated", test_one_dead_host_of_two_is_tolerated);
    ADD("a-host-in-backoff-is-left-alone-although-it-has-recovered",
        test_a_host_in_backoff_is_left_alone_although_it_has_recovered);
    ADD("after-its-backoff-a-host-has-its-share-again",
        test_after_its_backoff_a_host_has_its_share_again);
    ADD("at-random-only-hosts-that-are-due-get-anything",
        test_at_random_only_hosts_that_are_due_get_anything);
    ADD("a-frozen-host-costs-one-request-timeout-and-then-nothing",
        test_a_frozen_host_costs_one_request_timeout_and_then_nothing);
    ADD("a-name-with-a-dead-and-a-live-address-is-reached",
        test_a_name_with_a_dead_and_a_live_address_is_reached);
    return g_test_run();
}
