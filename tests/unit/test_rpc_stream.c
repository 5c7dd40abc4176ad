/* test_rpc_stream.c - several batches on their way: who has answered what, and what is sent again.
 */
#include "client/rpc_stream.h"

#include <glib.h>

#include "base/clock.h"
#include "tests/support/events.h"
#include "tests/support/rpc_fixture.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define SHORT_US (200 * 1000)
/* A healthy server answers within that even on a busy machine. */
#define PATIENCE_US (5 * G_USEC_PER_SEC / 2)
#define MOST 32

typedef struct {
    RpcFixture hosts;
    RpcStream *stream;
    Batch *batches[MOST]; /* batch i holds the event i */
    BatchSlice slices[MOST];
} Fixture;

static void
fixture_init(Fixture *self, RpcClientKind kind, guint n_servers, guint in_flight)
{
    rpc_fixture_init(&self->hosts, kind, n_servers);
    self->hosts.options.in_flight = in_flight;
    self->hosts.options.request_timeout_us = SOON_US;
    for (guint i = 0; i < MOST; i++) {
        self->batches[i] = batch_of_numbers(i, 1);
        self->slices[i] = (BatchSlice){ .batch = self->batches[i], .count = 1 };
    }
    self->stream = NULL;
}

static void
fixture_clear(Fixture *self)
{
    rpc_stream_free(self->stream);
    for (guint i = 0; i < MOST; i++)
        batch_unref(self->batches[i]);
    rpc_fixture_clear(&self->hosts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fixture, fixture_clear)

static void
submit(Fixture *self, guint first, guint count)
{
    if (self->stream == NULL)
        self->stream = rpc_stream_new(rpc_fixture_client(&self->hosts));
    for (guint i = first; i < first + count; i++)
        rpc_stream_submit(self->stream, &self->slices[i], 1, clock_deadline_us(SOON_US));
}

static void
collect(Fixture *self, guint count)
{
    g_autoptr(GError) error = NULL;
    guint acknowledged;

    for (guint i = 0; i < count; i++) {
        rpc_stream_collect(self->stream, &acknowledged, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(acknowledged, ==, 1);
    }
}

static void
collect_failure(Fixture *self, int code)
{
    g_autoptr(GError) error = NULL;
    guint acknowledged;

    g_assert_false(rpc_stream_collect(self->stream, &acknowledged, &error));
    g_assert_error(error, RPC_ERROR, code);
}

/* ---- what is on its way ---- */

static void
test_as_many_calls_are_on_their_way_as_may_be_without_an_answer(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 4);
    rpc_server_hold(self.hosts.servers[0], 4);
    submit(&self, 0, 4);
    g_assert_true(rpc_server_wait_calls(self.hosts.servers[0], 4));
    g_assert_cmpuint(rpc_stream_in_flight(self.stream), ==, 4);
    g_assert_cmpuint(rpc_stream_room(self.stream), ==, 0);

    collect(&self, 4);
    g_assert_cmpuint(rpc_stream_in_flight(self.stream), ==, 0);
    g_assert_cmpuint(rpc_stream_room(self.stream), ==, 4);
    rpc_fixture_assert_stored(&self.hosts, 0, "0 1 2 3");
    g_assert_cmpuint(rpc_server_n_connections(self.hosts.servers[0]), ==, 1);
}

static void
test_no_more_than_in_flight_are_sent_and_the_rest_as_answers_come(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 2);
    rpc_server_hold(self.hosts.servers[0], 2);
    submit(&self, 0, 6);
    g_assert_true(rpc_server_wait_calls(self.hosts.servers[0], 2));
    g_assert_cmpuint(rpc_server_n_calls(self.hosts.servers[0]), ==, 2);

    collect(&self, 6);
    rpc_fixture_assert_stored(&self.hosts, 0, "0 1 2 3 4 5");
}

static void
test_a_stream_has_failed_when_the_oldest_submission_has_and_until_it_is_collected(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 2);
    submit(&self, 0, 0);
    g_assert_false(rpc_stream_has_failed(self.stream));
    rpc_client_close(self.hosts.client);
    submit(&self, 0, 1);

    g_assert_true(rpc_stream_has_failed(self.stream));
    collect_failure(&self, RPC_ERROR_CLOSED);
    g_assert_false(rpc_stream_has_failed(self.stream));
}

static void
test_the_calls_of_one_submission_are_pipelined_too(void)
{
    g_auto(Fixture) self;
    guint acknowledged;

    fixture_init(&self, RPC_SINGLE, 1, 8);
    self.hosts.options.batch_size = 2;
    rpc_server_hold(self.hosts.servers[0], 5);
    g_assert_true(rpc_fixture_send_counted(&self.hosts, 0, 10, &acknowledged, NULL));

    g_assert_cmpuint(acknowledged, ==, 10);
    rpc_fixture_assert_stored(&self.hosts, 0, "0 1 2 3 4 5 6 7 8 9");
}

static void
test_load_balancing_has_calls_on_their_way_to_all_hosts(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_LOAD_BALANCE, 2, 2);
    rpc_server_hold(self.hosts.servers[0], 2);
    rpc_server_hold(self.hosts.servers[1], 2);
    submit(&self, 0, 1);
    g_assert_cmpuint(rpc_stream_room(self.stream), ==, 3);
    submit(&self, 1, 3);
    collect(&self, 4);

    rpc_fixture_assert_stored(&self.hosts, 0, "0 2");
    rpc_fixture_assert_stored(&self.hosts, 1, "1 3");
}

static void
test_a_connection_without_calls_is_there_for_others(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 4);
    self.hosts.options.connections = 1;
    submit(&self, 0, 2);
    collect(&self, 2);

    g_assert_true(rpc_fixture_send(&self.hosts, 2, 1, NULL));
    submit(&self, 3, 1);
    collect(&self, 1);
    rpc_fixture_assert_stored(&self.hosts, 0, "0 1 2 3");
    g_assert_cmpuint(rpc_server_n_connections(self.hosts.servers[0]), ==, 1);
}

/* ---- failures ---- */

static void
check_unanswered_go_elsewhere_in_order(Answer failure)
{
    const Answer answers[] = { ANSWER_OK, ANSWER_OK, ANSWER_OK, failure };
    g_auto(Fixture) self;

    fixture_init(&self, RPC_FAILOVER, 2, 8);
    if (failure == ANSWER_NOTHING)
        self.hosts.options.request_timeout_us = PATIENCE_US;
    rpc_server_plan(self.hosts.servers[0], answers, G_N_ELEMENTS(answers));
    rpc_server_answer(self.hosts.servers[0], ANSWER_NOTHING);
    submit(&self, 0, 8);
    collect(&self, 8);

    rpc_fixture_assert_stored(&self.hosts, 0, "0 1 2");
    rpc_fixture_assert_stored(&self.hosts, 1, "3 4 5 6 7");
    g_assert_cmpint(self.hosts.n_failed, ==, 1);
}

static void
test_a_broken_connection_sends_exactly_the_unanswered_elsewhere_in_order(void)
{
    check_unanswered_go_elsewhere_in_order(ANSWER_HANG_UP);
    check_unanswered_go_elsewhere_in_order(ANSWER_NOTHING);
    check_unanswered_go_elsewhere_in_order(ANSWER_WRONG_SEQUENCE_ID);
}

static void
test_a_refused_call_goes_elsewhere_alone(void)
{
    static const Answer answers[] = { ANSWER_OK, ANSWER_FAILED };
    g_auto(Fixture) self;

    fixture_init(&self, RPC_FAILOVER, 2, 4);
    rpc_server_plan(self.hosts.servers[0], answers, G_N_ELEMENTS(answers));
    submit(&self, 0, 4);
    collect(&self, 4);
    submit(&self, 4, 1);
    collect(&self, 1);

    rpc_fixture_assert_stored(&self.hosts, 0, "0 2 3");
    rpc_fixture_assert_stored(&self.hosts, 1, "1 4");
}

static void
test_single_fails_exactly_the_unanswered(void)
{
    static const Answer answers[] = { ANSWER_OK, ANSWER_OK, ANSWER_HANG_UP };
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 4);
    rpc_server_plan(self.hosts.servers[0], answers, G_N_ELEMENTS(answers));
    submit(&self, 0, 4);
    collect(&self, 2);
    collect_failure(&self, RPC_ERROR_BROKEN);
    collect_failure(&self, RPC_ERROR_BROKEN);

    submit(&self, 2, 2);
    collect(&self, 2);
    rpc_fixture_assert_stored(&self.hosts, 0, "0 1 2 3");
}

static void
test_what_follows_a_failed_submission_is_not_touched(void)
{
    static const Answer answers[] = { ANSWER_FAILED, ANSWER_OK, ANSWER_OK };
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 3);
    rpc_server_plan(self.hosts.servers[0], answers, G_N_ELEMENTS(answers));
    submit(&self, 0, 3);
    collect_failure(&self, RPC_ERROR_REFUSED);
    collect(&self, 2);

    rpc_fixture_assert_stored(&self.hosts, 0, "1 2");
    g_assert_cmpuint(rpc_server_n_connections(self.hosts.servers[0]), ==, 1);
}

/* Two calls of a submission are on their way; the first is refused. The answer to the second comes
 * when nobody waits for it any more. */
static void
test_an_answer_that_comes_too_late_is_passed_over(void)
{
    static const Answer answers[] = { ANSWER_FAILED, ANSWER_OK };
    g_auto(Fixture) self;
    g_autoptr(Batch) two = batch_of_numbers(20, 2);
    BatchSlice slice = { .batch = two, .count = 2 };

    fixture_init(&self, RPC_SINGLE, 1, 3);
    self.hosts.options.batch_size = 1;
    rpc_server_plan(self.hosts.servers[0], answers, G_N_ELEMENTS(answers));
    self.stream = rpc_stream_new(rpc_fixture_client(&self.hosts));
    rpc_stream_submit(self.stream, &slice, 1, clock_deadline_us(SOON_US));
    submit(&self, 0, 1);
    collect_failure(&self, RPC_ERROR_REFUSED);
    collect(&self, 1);

    rpc_fixture_assert_stored(&self.hosts, 0, "21 0");
    g_assert_cmpuint(rpc_server_n_connections(self.hosts.servers[0]), ==, 1);
}

static void
test_a_dead_host_of_two_under_load_balancing_loses_nothing(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_LOAD_BALANCE, 2, 4);
    rpc_server_answer(self.hosts.servers[1], ANSWER_HANG_UP);
    submit(&self, 0, 8);
    collect(&self, 8);

    g_assert_cmpuint(rpc_server_n_stored(self.hosts.servers[0]), ==, 8);
}

/* ---- time ---- */

/* Ten calls of 300 ms behind one another are more than there is for each. */
static void
test_the_time_of_a_call_begins_when_the_one_before_it_is_answered(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 10);
    self.hosts.options.request_timeout_us = PATIENCE_US;
    rpc_server_delay(self.hosts.servers[0], 300 * 1000);
    submit(&self, 0, 10);

    collect(&self, 10);
}

static void
test_a_submission_that_is_out_of_time_fails_and_the_next_goes_on(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_FAILOVER, 2, 4);
    rpc_server_answer(self.hosts.servers[0], ANSWER_NOTHING);
    self.stream = rpc_stream_new(rpc_fixture_client(&self.hosts));
    rpc_stream_submit(self.stream, &self.slices[0], 1, clock_deadline_us(SHORT_US));
    submit(&self, 1, 1);
    collect_failure(&self, RPC_ERROR_TIMEOUT);

    collect(&self, 1);
    rpc_fixture_assert_stored(&self.hosts, 1, "1");
}

static void
test_a_busy_connection_is_renewed_when_its_calls_are_answered(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_SINGLE, 1, 2);
    self.hosts.options.reset_connection_interval_us = 40 * 1000;
    rpc_server_delay(self.hosts.servers[0], 30 * 1000);
    submit(&self, 0, 2);
    for (guint i = 2; i < 10; i++) {
        collect(&self, 1);
        submit(&self, i, 1);
    }
    collect(&self, 2);

    rpc_fixture_assert_stored(&self.hosts, 0, "0 1 2 3 4 5 6 7 8 9");
    g_assert_cmpint(self.hosts.n_opened, >=, 3);
    g_assert_cmpint(self.hosts.n_failed, ==, 0);
}

/* ---- the end ---- */

static void
test_an_interrupt_fails_what_was_submitted_and_later_submissions_work(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_FAILOVER, 2, 4);
    rpc_server_answer(self.hosts.servers[0], ANSWER_NOTHING);
    submit(&self, 0, 2);
    g_assert_true(rpc_server_wait_calls(self.hosts.servers[0], 2));
    rpc_client_interrupt(self.hosts.client);
    rpc_server_answer(self.hosts.servers[0], ANSWER_OK);
    submit(&self, 2, 1);
    collect_failure(&self, RPC_ERROR_CLOSED);
    collect_failure(&self, RPC_ERROR_CLOSED);

    collect(&self, 1);
    rpc_fixture_assert_stored(&self.hosts, 0, "2");
    g_assert_cmpint(self.hosts.n_failed, ==, 0);
}

static void
test_after_an_interrupt_the_host_that_owed_an_answer_comes_last(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_LOAD_BALANCE, 2, 1);
    self.hosts.options.backoff = TRUE;
    self.hosts.options.max_backoff_us = SOON_US;
    rpc_server_answer(self.hosts.servers[0], ANSWER_NOTHING);
    submit(&self, 0, 1);
    g_assert_true(rpc_server_wait_calls(self.hosts.servers[0], 1));
    rpc_client_interrupt(self.hosts.client);
    collect_failure(&self, RPC_ERROR_CLOSED);
    for (guint i = 1; i < 4; i++) {
        submit(&self, i, 1);
        collect(&self, 1);
    }

    rpc_fixture_assert_stored(&self.hosts, 1, "1 2 3");
    g_assert_cmpint(self.hosts.n_failed, ==, 0);
}

static void
test_a_stream_that_is_freed_closes_what_was_not_answered(void)
{
    g_auto(Fixture) self;

    fixture_init(&self, RPC_LOAD_BALANCE, 2, 4);
    rpc_server_answer(self.hosts.servers[0], ANSWER_NOTHING);
    submit(&self, 0, 2);
    g_assert_true(rpc_server_wait_calls(self.hosts.servers[0], 1));
    g_clear_pointer(&self.stream, rpc_stream_free);

    g_assert_true(rpc_server_wait_no_connection(self.hosts.servers[0]));
    g_assert_cmpint(self.hosts.n_closed, ==, self.hosts.n_opened);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/rpc-stream/" name, function)
    ADD("as-many-calls-are-on-their-way-as-may-be-without-an-answer",
        test_as_many_calls_are_on_their_way_as_may_be_without_an_answer);
    ADD("no-more-than-in-flight-are-sent-and-the-rest-as-answers-come",
        test_no_more_than_in_flight_are_sent_and_the_rest_as_answers_come);
    ADD("a-stream-has-failed-when-the-oldest-submission-has-and-until-it-is-collected",
        test_a_stream_has_failed_when_the_oldest_submission_has_and_until_it_is_collected);
    ADD("the-calls-of-one-submission-are-pipelined-too",
        test_the_calls_of_one_submission_are_pipelined_too);
    ADD("load-balancing-has-calls-on-their-way-to-all-hosts",
        test_load_balancing_has_calls_on_their_way_to_all_hosts);
    ADD("a-connection-without-calls-is-there-for-others",
        test_a_connection_without_calls_is_there_for_others);
    ADD("a-broken-connection-sends-exactly-the-unanswered-elsewhere-in-order",
        test_a_broken_connection_sends_exactly_the_unanswered_elsewhere_in_order);
    ADD("a-refused-call-goes-elsewhere-alone", test_a_refused_call_goes_elsewhere_alone);
    ADD("single-fails-exactly-the-unanswered", test_single_fails_exactly_the_unanswered);
    ADD("what-follows-a-failed-submission-is-not-touched",
        test_what_follows_a_failed_submission_is_not_touched);
    ADD("an-answer-that-comes-too-late-is-passed-over",
        test_an_answer_that_comes_too_late_is_passed_over);
    ADD("a-dead-host-of-two-under-load-balancing-loses-nothing",
        test_a_dead_host_of_two_under_load_balancing_loses_nothing);
    ADD("the-time-of-a-call-begins-when-the-one-before-it-is-answered",
        test_the_time_of_a_call_begins_when_the_one_before_it_is_answered);
    ADD("a-submission-that-is-out-of-time-fails-and-the-next-goes-on",
        test_a_submission_that_is_out_of_time_fails_and_the_next_goes_on);
    ADD("a-busy-connection-is-renewed-when-its-calls-are-answered",
        test_a_busy_connection_is_renewed_when_its_calls_are_answered);
    ADD("an-interrupt-fails-what-was-submitted-and-later-submissions-work",
        test_an_interrupt_fails_what_was_submitted_and_later_submissions_work);
    ADD("after-an-interrupt-the-host-that-owed-an-answer-comes-last",
        test_after_an_interrupt_the_host_that_owed_an_answer_comes_last);
    ADD("a-stream-that-is-freed-closes-what-was-not-answered",
        test_a_stream_that_is_freed_closes_what_was_not_answered);
    return g_test_run();
}
