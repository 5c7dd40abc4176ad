/* test_thrift_sink.c - what hosts answer becomes verdicts, and metrics that tell which host it was.
 */
#include "agent/core/sink.h"

#include <string.h>

#include "agent/builtin.h"
#include "base/clock.h"
#include "tests/support/rpc_server.h"
#include "tests/support/test_part.h"
#include "thrift/wire/connection.h"

#define DEADLINE_US (10 * G_USEC_PER_SEC)

enum { HOST_FAILURES, NO_SOURCES }; /* the sink's own rows */

/* ---- a sink and its hosts ---- */

typedef struct {
    RpcServer *hosts[2];
    Sink *sink;
    Batch *batch; /* of the delivery under way */
    BatchSlice slice;
} Tier;

static Tier *
tier_new(guint n_hosts, const char *options)
{
    Tier *self = g_new0(Tier, 1);
    g_autoptr(GString) yaml = g_string_new("{ channel: buffer, hosts: [");

    for (guint i = 0; i < n_hosts; i++) {
        g_autofree char *address = NULL;

        self->hosts[i] = rpc_server_new();
        address = endpoint_to_text(rpc_server_endpoint(self->hosts[i]));
        g_string_append_printf(yaml, "%s\"%s\"", i > 0 ? ", " : "", address);
    }
    g_string_append_printf(yaml, "], connect-timeout: 5s%s }", options);
    self->sink = (Sink *) test_part_open(builtin_find(COMPONENT_SINK, "thrift"), COMPONENT_SINK,
                                         "out", yaml->str);
    return self;
}

static void
tier_free(Tier *self)
{
    test_part_free(&self->sink->base);
    for (guint i = 0; i < G_N_ELEMENTS(self->hosts); i++)
        g_clear_pointer(&self->hosts[i], rpc_server_free);
    g_clear_pointer(&self->batch, batch_unref);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tier, tier_free)

static void
submit(Tier *self, const char *body, gsize length)
{
    Delivery delivery = { .n_slices = 1,
                          .n_events = 1,
                          .deadline_us = clock_deadline_us(DEADLINE_US) };

    g_clear_pointer(&self->batch, batch_unref);
    self->batch = batch_new_single(NULL, 0, byte_span(body, length));
    self->slice = (BatchSlice){ .batch = self->batch, .count = 1 };
    delivery.slices = &self->slice;
    sink_type(self->sink)->submit(self->sink, &delivery);
}

static Verdict
collect(Tier *self, AnsweredBy *ret_by)
{
    g_autoptr(GError) error = NULL;
    guint done;
    Verdict verdict =
        sink_type(self->sink)->collect(self->sink, clock_deadline_us(DEADLINE_US), &done, &error);

    g_assert_true((verdict == DELIVERED) == (error == NULL));
    g_assert_cmpuint(done, ==, verdict == DELIVERED);
    *ret_by = sink_type(self->sink)->answered_by(self->sink);
    return verdict;
}

static Verdict
deliver(Tier *self, AnsweredBy *ret_by)
{
    submit(self, "x", 1);
    return collect(self, ret_by);
}

static guint64
kind_metric(const Tier *self, SinkMetric metric)
{
    return metric_get(self->sink->base.metrics, metric);
}

static guint64
failures_of(const Tier *self, guint host)
{
    return metric_get_value(self->sink->base.part_metrics, HOST_FAILURES, host);
}

static guint64
reports_of(const Tier *self, ReportReason reason)
{
    return metric_get_value(self->sink->base.reports, 0, reason);
}

/* ---- the tests ---- */

static void
test_an_event_that_was_acknowledged_is_delivered(void)
{
    g_autoptr(Tier) tier = tier_new(1, "");
    AnsweredBy by;

    g_assert_cmpint(deliver(tier, &by), ==, DELIVERED);

    g_assert_cmpuint(by.acknowledged, ==, 1);
    g_assert_cmpuint(by.refused, ==, 0);
    g_assert_cmpuint(kind_metric(tier, SINK_CONNECTIONS_CREATED), ==, 1);
    g_assert_cmpuint(rpc_server_n_stored(tier->hosts[0]), ==, 1);
}

static void
test_a_host_that_answers_no_refuses(void)
{
    static const Answer answers[] = { ANSWER_FAILED,         ANSWER_ERROR,
                                      ANSWER_UNKNOWN,        ANSWER_STATUS_42,
                                      ANSWER_INTERNAL_ERROR, ANSWER_PROTOCOL_ERROR,
                                      ANSWER_HANG_UP };
    g_autoptr(Tier) tier = tier_new(1, "");

    for (guint i = 0; i < G_N_ELEMENTS(answers); i++) {
        AnsweredBy by;

        rpc_server_answer(tier->hosts[0], answers[i]);
        g_assert_cmpint(deliver(tier, &by), ==, DELIVERY_REFUSED);
        g_assert_cmpuint(by.refused, ==, 1);
        g_assert_cmpuint(by.acknowledged, ==, 0);
        g_assert_cmpuint(by.hung_up, ==, answers[i] == ANSWER_HANG_UP);
    }
    g_assert_cmpuint(failures_of(tier, 0), ==, G_N_ELEMENTS(answers));
}

static void
test_a_host_that_is_not_there_is_an_outage(void)
{
    g_autoptr(Tier) tier = tier_new(1, "");
    AnsweredBy by;

    rpc_server_stop(tier->hosts[0]);
    g_assert_cmpint(deliver(tier, &by), ==, DELIVERY_RETRY);

    g_assert_cmpuint(by.refused, ==, 0);
    g_assert_cmpuint(kind_metric(tier, SINK_CONNECTIONS_FAILED), ==, 1);
}

static void
test_a_host_that_says_nothing_is_an_outage(void)
{
    g_autoptr(Tier) tier = tier_new(1, ", request-timeout: 20ms");
    AnsweredBy by;

    rpc_server_answer(tier->hosts[0], ANSWER_NOTHING);

    g_assert_cmpint(deliver(tier, &by), ==, DELIVERY_RETRY);
    g_assert_cmpuint(by.refused, ==, 0);
}

static void
test_a_peer_that_is_no_source_has_a_counter_and_a_report(void)
{
    g_autoptr(Tier) tier = tier_new(1, "");
    AnsweredBy by;

    rpc_server_answer(tier->hosts[0], ANSWER_UNKNOWN_METHOD);
    deliver(tier, &by);
    rpc_server_answer(tier->hosts[0], ANSWER_NO_THRIFT);
    deliver(tier, &by);

    g_assert_cmpuint(metric_get(tier->sink->base.part_metrics, NO_SOURCES), ==, 2);
    g_assert_cmpuint(reports_of(tier, REPORT_NOT_A_SOURCE), ==, 2);
}

static void
test_an_event_larger_than_any_frame_is_rejected_and_nothing_is_sent(void)
{
    g_autoptr(Tier) tier = tier_new(1, "");
    g_autofree char *body = g_malloc0(WIRE_MAX_FRAME);
    AnsweredBy by;

    submit(tier, body, WIRE_MAX_FRAME);

    g_assert_cmpint(collect(tier, &by), ==, DELIVERY_REJECTED);
    g_assert_cmpuint(rpc_server_n_calls(tier->hosts[0]), ==, 0);
}

static void
test_a_host_whose_part_another_takes_over_is_reported_when_it_fails_and_when_it_is_back(void)
{
    g_autoptr(Tier) tier = tier_new(2, ", client: load-balance, host-backoff: false");
    AnsweredBy by;

    rpc_server_stop(tier->hosts[0]);
    for (guint i = 0; i < 6; i++) {
        g_assert_cmpint(deliver(tier, &by), ==, DELIVERED);
        g_assert_cmpuint(by.acknowledged, ==, 2);
    }
    g_assert_cmpuint(failures_of(tier, 0), >=, 2);
    g_assert_cmpuint(failures_of(tier, 1), ==, 0);
    g_assert_cmpuint(reports_of(tier, REPORT_DESTINATION), ==, 1);
    rpc_server_start(tier->hosts[0]);
    for (guint i = 0; i < 2; i++)
        g_assert_cmpint(deliver(tier, &by), ==, DELIVERED);

    g_assert_cmpuint(reports_of(tier, REPORT_RECOVERED), ==, 1);
}

/* The second delivery and those behind it never went to the one that hangs up. */
static void
test_a_host_that_is_asked_aside_is_counted_and_blamed_for_no_delivery(void)
{
    g_autoptr(Tier) tier = tier_new(2, ", client: load-balance, max-host-backoff: 5ms");
    gint64 give_up_us = clock_deadline_us(DEADLINE_US);
    AnsweredBy by;

    rpc_server_answer(tier->hosts[0], ANSWER_HANG_UP);
    g_assert_cmpint(deliver(tier, &by), ==, DELIVERED);
    g_assert_cmpuint(by.refused, ==, 1);
    while (failures_of(tier, 0) < 4) {
        g_assert_cmpint(clock_now_us(), <, give_up_us);
        g_assert_cmpint(deliver(tier, &by), ==, DELIVERED);
        g_assert_cmpuint(by.refused, ==, 0);
    }

    g_assert_cmpuint(reports_of(tier, REPORT_DESTINATION), ==, 1);
}

static void
test_who_refused_and_who_was_not_there_are_told_apart(void)
{
    g_autoptr(Tier) tier = tier_new(2, "");
    AnsweredBy by;

    rpc_server_stop(tier->hosts[0]);
    rpc_server_answer(tier->hosts[1], ANSWER_FAILED);

    g_assert_cmpint(deliver(tier, &by), ==, DELIVERY_REFUSED);
    g_assert_cmpuint(by.refused, ==, 2);
    g_assert_cmpuint(by.acknowledged, ==, 0);
}

static void
test_several_connections_each_carry_several_batches(void)
{
    g_autoptr(Tier) tier = tier_new(1, ", connections: 2, in-flight: 3");
    AnsweredBy by;
    Batch *batches[6];

    g_assert_cmpuint(sink_type(tier->sink)->room(tier->sink), ==, 6);
    rpc_server_hold(tier->hosts[0], 3);
    for (guint i = 0; i < 6; i++) {
        submit(tier, &"abcdef"[i], 1);
        batches[i] = batch_ref(tier->batch); /* stays until it is collected */
    }
    g_assert_cmpuint(sink_type(tier->sink)->room(tier->sink), ==, 0);
    for (guint i = 0; i < 6; i++) {
        g_assert_cmpint(collect(tier, &by), ==, DELIVERED);
        batch_unref(batches[i]);
    }

    g_assert_cmpuint(rpc_server_most_connections(tier->hosts[0]), ==, 2);
    g_assert_cmpuint(rpc_server_n_stored(tier->hosts[0]), ==, 6);
}

static gpointer
interrupt_soon(gpointer user)
{
    Tier *tier = user;

    g_assert_true(rpc_server_wait_calls(tier->hosts[0], 1));
    sink_type(tier->sink)->interrupt(tier->sink);
    return NULL;
}

static void
test_an_interrupt_ends_the_wait_for_an_answer(void)
{
    g_autoptr(Tier) tier = tier_new(1, "");
    GThread *thread = g_thread_new(NULL, interrupt_soon, tier);
    gint64 begin_us = clock_now_us();
    AnsweredBy by;

    rpc_server_answer(tier->hosts[0], ANSWER_NOTHING);
    g_assert_cmpint(deliver(tier, &by), ==, DELIVERY_RETRY);
    g_thread_join(thread);

    g_assert_cmpint(clock_now_us() - begin_us, <, 4 * G_USEC_PER_SEC);
    g_assert_cmpuint(by.refused, ==, 0);
}

static void
test_what_is_under_way_may_be_given_up_and_the_sink_goes_on(void)
{
    g_autoptr(Tier) tier = tier_new(1, ", in-flight: 2");
    g_autoptr(Batch) kept = NULL;
    AnsweredBy by;
    guint done;

    rpc_server_answer(tier->hosts[0], ANSWER_NOTHING);
    submit(tier, "a", 1);
    kept = batch_ref(tier->batch);
    submit(tier, "b", 1);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;

        g_assert_cmpint(sink_type(tier->sink)->collect(tier->sink, 0, &done, &error), ==,
                        DELIVERY_RETRY);
        g_assert_error(error, SINK_ERROR, SINK_ERROR_INTERRUPTED);
    }
    rpc_server_answer(tier->hosts[0], ANSWER_OK);

    g_assert_cmpint(deliver(tier, &by), ==, DELIVERED);
}

static void
test_a_host_that_is_named_twice_has_one_counter(void)
{
    Component *sink = test_part_open(
        builtin_find(COMPONENT_SINK, "thrift"), COMPONENT_SINK, "out",
        "{ channel: buffer, client: load-balance, hosts: [\"a:1\", \"b:1\", \"a:1\"] }");
    const MetricSpec *failures = &metric_set_specs(sink->part_metrics)[HOST_FAILURES];
    g_autofree char *peers = g_strjoinv(" ", (GStrv) failures->values);

    g_assert_cmpstr(peers, ==, "a:1 b:1");
    test_part_free(sink);
}

#define ADD(name, function) g_test_add_func("/thrift-sink/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("acknowledged", test_an_event_that_was_acknowledged_is_delivered);
    ADD("a-host-that-answers-no", test_a_host_that_answers_no_refuses);
    ADD("a-host-that-is-not-there", test_a_host_that_is_not_there_is_an_outage);
    ADD("a-host-that-says-nothing", test_a_host_that_says_nothing_is_an_outage);
    ADD("a-peer-that-is-no-source", test_a_peer_that_is_no_source_has_a_counter_and_a_report);
    ADD("too-large", test_an_event_larger_than_any_frame_is_rejected_and_nothing_is_sent);
    ADD("a-host-is-reported",
        test_a_host_whose_part_another_takes_over_is_reported_when_it_fails_and_when_it_is_back);
    ADD("a-host-is-asked-aside",
        test_a_host_that_is_asked_aside_is_counted_and_blamed_for_no_delivery);
    ADD("who-refused", test_who_refused_and_who_was_not_there_are_told_apart);
    ADD("a-host-that-is-named-twice", test_a_host_that_is_named_twice_has_one_counter);
    ADD("several-connections", test_several_connections_each_carry_several_batches);
    ADD("an-interrupt", test_an_interrupt_ends_the_wait_for_an_answer);
    ADD("given-up", test_what_is_under_way_may_be_given_up_and_the_sink_goes_on);
    return g_test_run();
}
