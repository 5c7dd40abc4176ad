/* test_rpc_client.c - a client of one host: what it sends, what it makes of answers. */
#include "client/rpc_client.h"

#include <glib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/support/events.h"
#include "tests/support/rpc_fixture.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define SHORT_US (100 * 1000)

static void
send_and_expect(RpcFixture *self, int code)
{
    g_autoptr(GError) error = NULL;

    g_assert_false(rpc_fixture_send(self, 0, 1, &error));
    g_assert_error(error, RPC_ERROR, code);
}

/* ---- what is sent ---- */

/* Flume's testOK: batch-size 10; 10 appends, batches of 16 and 12. */
static void
test_single_events_are_appended_and_batches_cut(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) singles = batch_of_numbers(0, 10);
    g_autoptr(GString) expected = g_string_new("0");
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.batch_size = 10;
    for (guint i = 0; i < 10; i++) {
        rpc_client_append(rpc_fixture_client(&self), singles, i, clock_deadline_us(SOON_US),
                          &error);
        g_assert_no_error(error);
    }
    g_assert_true(rpc_fixture_send(&self, 10, 16, NULL));
    g_assert_true(rpc_fixture_send(&self, 26, 12, NULL));

    for (guint i = 1; i < 38; i++)
        g_string_append_printf(expected, " %u", i);
    rpc_fixture_assert_stored(&self, 0, expected->str);
    g_assert_cmpuint(rpc_server_n_appends(self.servers[0]), ==, 10);
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, 14);
}

static void
test_slices_become_one_call_in_their_order(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) low = batch_of_numbers(0, 10);
    g_autoptr(Batch) high = batch_of_numbers(100, 10);
    const BatchSlice slices[] = { { .batch = high, .first = 8, .count = 2 },
                                  { .batch = low, .first = 0, .count = 1 },
                                  { .batch = low, .first = 5, .count = 2 } };
    g_autoptr(GError) error = NULL;
    guint acknowledged;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    rpc_client_append_batch(rpc_fixture_client(&self), slices, 3, clock_deadline_us(SOON_US),
                            &acknowledged, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(acknowledged, ==, 5);
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, 1);
    rpc_fixture_assert_stored(&self, 0, "108 109 0 5 6");
}

static void
test_binary_arrives_the_same(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) single = batch_of("last", NULL);
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.protocol = WIRE_BINARY;
    self.options.batch_size = 2;
    rpc_fixture_send(&self, 0, 3, &error);
    g_assert_no_error(error);
    rpc_client_append(self.client, single, 0, clock_deadline_us(SOON_US), &error);

    g_assert_no_error(error);
    rpc_fixture_assert_stored(&self, 0, "0 1 2 last");
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, 3);
}

static void
test_no_events_are_no_call(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_SINGLE, 1);

    g_assert_true(rpc_fixture_send(&self, 0, 0, NULL));
    g_assert_cmpuint(rpc_server_n_connections(self.servers[0]), ==, 0);
}

static void
test_an_event_larger_than_a_frame_is_refused_after_those_before_it(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) small = batch_of_numbers(1, 3);
    g_autoptr(Batch) large = batch_of_size(1, 16384000);
    const BatchSlice slices[] = { { .batch = small, .count = 3 },
                                  { .batch = large, .count = 1 },
                                  { .batch = small, .count = 1 } };
    g_autoptr(GError) error = NULL;
    guint acknowledged;

    rpc_fixture_init(&self, RPC_SINGLE, 1);

    g_assert_false(rpc_client_append_batch(rpc_fixture_client(&self), slices, 3,
                                           clock_deadline_us(SOON_US), &acknowledged, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_TOO_LARGE);
    g_assert_cmpuint(acknowledged, ==, 3);
    rpc_fixture_assert_stored(&self, 0, "1 2 3");
}

/* ---- answers ---- */

typedef struct {
    Answer answer;
    int code;
    guint n_connections; /* after one more call that is answered OK */
    const char *words;
} Refusal;

static const Refusal refusals[] = {
    { ANSWER_FAILED, RPC_ERROR_REFUSED, 1, "FAILED" },
    { ANSWER_ERROR, RPC_ERROR_REFUSED, 1, "answered ERROR" },
    { ANSWER_UNKNOWN, RPC_ERROR_REFUSED, 1, "answered UNKNOWN" },
    { ANSWER_STATUS_42, RPC_ERROR_REFUSED, 1, "status 42" },
    { ANSWER_NO_STATUS, RPC_ERROR_REFUSED, 1, "without a status" },
    { ANSWER_INTERNAL_ERROR, RPC_ERROR_REFUSED, 1, "(6): broken" },
    { ANSWER_UNKNOWN_METHOD, RPC_ERROR_NOT_A_SOURCE, 1, "no source" },
    { ANSWER_PROTOCOL_ERROR, RPC_ERROR_NOT_A_SOURCE, 1, "not understand" },
    { ANSWER_WRONG_SEQUENCE_ID, RPC_ERROR_NOT_A_SOURCE, 2, "not made" },
    { ANSWER_WRONG_METHOD, RPC_ERROR_NOT_A_SOURCE, 2, "another method" },
    { ANSWER_NO_THRIFT, RPC_ERROR_NOT_A_SOURCE, 2, "framing" },
    { ANSWER_HANG_UP, RPC_ERROR_BROKEN, 2, "closed" },
};

static void
check_refusal(const Refusal *refusal, WireProtocol protocol)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) batch = batch_of("one", NULL);
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.protocol = protocol;
    rpc_server_plan(self.servers[0], &refusal->answer, 1);
    send_and_expect(&self, refusal->code);
    rpc_server_plan(self.servers[0], &(Answer){ ANSWER_OK }, 1);
    g_assert_true(rpc_fixture_send(&self, 0, 1, NULL));

    g_assert_cmpuint(rpc_server_n_connections(self.servers[0]), ==, refusal->n_connections);
    rpc_server_plan(self.servers[0], &refusal->answer, 1);
    g_assert_false(rpc_client_append(self.client, batch, 0, clock_deadline_us(SOON_US), &error));
    g_assert_error(error, RPC_ERROR, refusal->code);
    g_assert_true(g_str_has_prefix(error->message, "127.0.0.1:"));
    g_assert_nonnull(strstr(error->message, refusal->words));
    g_assert_cmpint(self.n_failed, ==, 2);
}

static void
test_a_refusal_is_an_error_and_only_a_broken_connection_is_closed(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(refusals); i++) {
        check_refusal(&refusals[i], WIRE_COMPACT);
        check_refusal(&refusals[i], WIRE_BINARY);
    }
}

static void
test_calls_acknowledged_before_a_failure_are_counted(void)
{
    static const Answer answers[] = { ANSWER_OK, ANSWER_OK, ANSWER_FAILED };
    g_auto(RpcFixture) self;
    g_autoptr(GError) error = NULL;
    guint acknowledged;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.batch_size = 10;
    rpc_server_plan(self.servers[0], answers, G_N_ELEMENTS(answers));

    g_assert_false(rpc_fixture_send_counted(&self, 0, 50, &acknowledged, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_REFUSED);
    g_assert_cmpuint(acknowledged, ==, 20);
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), ==, 3);
}

/* ---- time ---- */

/* Flume's testSlow: the time-out is that of one call, not of the batch. */
static void
test_a_slow_host_has_the_request_timeout_for_each_call(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.batch_size = 1;
    self.options.request_timeout_us = G_USEC_PER_SEC;
    rpc_server_delay(self.servers[0], 300 * 1000);

    g_assert_true(rpc_fixture_send(&self, 0, 4, NULL));
}

static void
test_a_silent_host_is_given_up_at_the_request_timeout_and_its_connection_closed(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.request_timeout_us = G_USEC_PER_SEC;
    rpc_server_plan(self.servers[0], &(Answer){ ANSWER_NOTHING }, 1);
    send_and_expect(&self, RPC_ERROR_TIMEOUT);

    g_assert_true(rpc_server_wait_no_connection(self.servers[0]));
    g_assert_true(rpc_fixture_send(&self, 1, 1, NULL));
    g_assert_cmpuint(rpc_server_n_connections(self.servers[0]), ==, 2);
}

static void
test_the_deadline_of_the_call_ends_it_before_the_request_timeout(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) batch = batch_of("late", NULL);
    BatchSlice slice = { .batch = batch, .count = 1 };
    g_autoptr(GError) error = NULL;
    gint64 begin_us = clock_now_us();
    guint acknowledged = 42;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    rpc_server_answer(self.servers[0], ANSWER_NOTHING);

    g_assert_false(rpc_client_append_batch(rpc_fixture_client(&self), &slice, 1,
                                           clock_deadline_us(SHORT_US), &acknowledged, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_TIMEOUT);
    g_assert_cmpuint(acknowledged, ==, 0);
    g_assert_cmpint(clock_now_us() - begin_us, <, self.options.request_timeout_us);
}

/* ---- connections ---- */

static void
test_nothing_is_connected_before_the_first_event(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    rpc_server_stop(self.servers[0]);
    g_assert_true(rpc_client_is_active(rpc_fixture_client(&self)));
    send_and_expect(&self, RPC_ERROR_UNREACHABLE);

    rpc_server_start(self.servers[0]);
    g_assert_true(rpc_fixture_send(&self, 7, 1, NULL));
    rpc_fixture_assert_stored(&self, 0, "7");
}

static void
test_a_connection_is_used_again(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    rpc_fixture_send_each(&self, 0, 20);

    g_assert_cmpuint(rpc_server_n_connections(self.servers[0]), ==, 1);
    g_assert_cmpint(self.n_opened, ==, 1);
}

static void
test_a_host_that_hung_up_while_idle_is_no_failure(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    rpc_fixture_send_each(&self, 0, 1);
    rpc_server_hang_up(self.servers[0]);
    rpc_fixture_send_each(&self, 1, 1);
    rpc_server_stop(self.servers[0]);
    rpc_server_start(self.servers[0]);
    rpc_fixture_send_each(&self, 2, 1);

    rpc_fixture_assert_stored(&self, 0, "0 1 2");
    g_assert_cmpint(self.n_failed, ==, 0);
    g_assert_cmpint(self.n_opened, ==, 3);
    g_assert_cmpint(self.n_closed, ==, 2);
}

static void
test_a_connection_is_renewed_at_its_interval_between_calls_and_without_a_failure(void)
{
    g_auto(RpcFixture) self;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.reset_connection_interval_us = 50 * 1000;
    rpc_server_delay(self.servers[0], 60 * 1000);
    rpc_fixture_send_each(&self, 0, 3);

    rpc_fixture_assert_stored(&self, 0, "0 1 2");
    g_assert_cmpint(self.n_opened, ==, 3);
    g_assert_cmpint(self.n_failed, ==, 0);
}

/* ---- configuration, and the end ---- */

static void
check_configuration(RpcClientKind kind, guint n_hosts, const char *words)
{
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();
    g_autoptr(Endpoint) host = endpoint_new("localhost", 1);
    g_autoptr(RpcClient) client = NULL;
    g_autoptr(GError) error = NULL;
    RpcClientOptions options;

    for (guint i = 0; i < n_hosts; i++)
        g_ptr_array_add(hosts, host);
    rpc_client_options_init(&options);
    options.kind = kind;
    options.hosts = hosts;
    client = rpc_client_new(&options, &error);

    g_assert_true((client == NULL) == (words != NULL));
    if (words != NULL) {
        g_assert_error(error, RPC_ERROR, RPC_ERROR_CONFIGURATION);
        g_assert_nonnull(strstr(error->message, words));
    }
}

static void
test_each_kind_has_its_number_of_hosts(void)
{
    check_configuration(RPC_SINGLE, 0, "no hosts");
    check_configuration(RPC_SINGLE, 1, NULL);
    check_configuration(RPC_SINGLE, 2, "one host");
    check_configuration(RPC_FAILOVER, 1, NULL);
    check_configuration(RPC_FAILOVER, 3, NULL);
    check_configuration(RPC_LOAD_BALANCE, 1, "at least two");
    check_configuration(RPC_LOAD_BALANCE, 2, NULL);
}

static void
test_after_close_everything_fails_at_once_and_a_second_close_does_nothing(void)
{
    g_auto(RpcFixture) self;
    g_autoptr(Batch) batch = batch_of("one", NULL);
    g_autoptr(GError) error = NULL;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    rpc_fixture_send_each(&self, 0, 1);
    rpc_client_close(self.client);
    rpc_client_close(self.client);

    g_assert_false(rpc_client_is_active(self.client));
    g_assert_true(rpc_server_wait_no_connection(self.servers[0]));
    send_and_expect(&self, RPC_ERROR_CLOSED);
    g_assert_false(rpc_fixture_send(&self, 0, 0, NULL));
    g_assert_false(rpc_client_append(self.client, batch, 0, CLOCK_NEVER, &error));
    g_assert_error(error, RPC_ERROR, RPC_ERROR_CLOSED);
    g_assert_cmpint(self.n_closed, ==, 1);
    g_assert_cmpint(self.n_failed, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/rpc-client/" name, function)
    ADD("single-events-are-appended-and-batches-cut",
        test_single_events_are_appended_and_batches_cut);
    ADD("slices-become-one-call-in-their-order", test_slices_become_one_call_in_their_order);
    ADD("binary-arrives-the-same", test_binary_arrives_the_same);
    ADD("no-events-are-no-call", test_no_events_are_no_call);
    ADD("an-event-larger-than-a-frame-is-refused-after-those-before-it",
        test_an_event_larger_than_a_frame_is_refused_after_those_before_it);
    ADD("a-refusal-is-an-error-and-only-a-broken-connection-is-closed",
        test_a_refusal_is_an_error_and_only_a_broken_connection_is_closed);
    ADD("calls-acknowledged-before-a-failure-are-counted",
        test_calls_acknowledged_before_a_failure_are_counted);
    ADD("a-slow-host-has-the-request-timeout-for-each-call",
        test_a_slow_host_has_the_request_timeout_for_each_call);
    ADD("a-silent-host-is-given-up-at-the-request-timeout",
        test_a_silent_host_is_given_up_at_the_request_timeout_and_its_connection_closed);
    ADD("the-deadline-of-the-call-ends-it-before-the-request-timeout",
        test_the_deadline_of_the_call_ends_it_before_the_request_timeout);
    ADD("nothing-is-connected-before-the-first-event",
        test_nothing_is_connected_before_the_first_event);
    ADD("a-connection-is-used-again", test_a_connection_is_used_again);
    ADD("a-host-that-hung-up-while-idle-is-no-failure",
        test_a_host_that_hung_up_while_idle_is_no_failure);
    ADD("a-connection-is-renewed-at-its-interval",
        test_a_connection_is_renewed_at_its_interval_between_calls_and_without_a_failure);
    ADD("each-kind-has-its-number-of-hosts", test_each_kind_has_its_number_of_hosts);
    ADD("after-close-everything-fails-at-once",
        test_after_close_everything_fails_at_once_and_a_second_close_does_nothing);
    return g_test_run();
}
