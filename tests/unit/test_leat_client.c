/* test_leat_client.c - the library as an application sees it: options, events, errors. */
#include "client/leat/client.h"

#include <glib.h>
#include <string.h>

#include "tests/support/rpc_server.h"

#define FRAME_LIMIT 16384000

typedef struct {
    RpcServer *server;
    LeatClient *client;
} Fixture;

/* A client of one host, with these options besides. */
static void
fixture_init(Fixture *self, const char *name, const char *value)
{
    g_autofree char *host = NULL;
    g_autoptr(GError) error = NULL;

    self->server = rpc_server_new();
    host = endpoint_to_text(rpc_server_endpoint(self->server));
    self->client =
        leat_client_new((const char *const[]){ "hosts", host, name, value, NULL }, &error);
    g_assert_no_error(error);
}

static void
fixture_clear(Fixture *self)
{
    leat_client_free(self->client);
    rpc_server_free(self->server);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fixture, fixture_clear)

static LeatEvent
event_of(const char *body)
{
    return (LeatEvent){ .body = body, .body_length = strlen(body) };
}

static void
assert_stored(const Fixture *self, const char *expected)
{
    g_autofree char *stored = rpc_server_stored(self->server);

    g_assert_cmpstr(stored, ==, expected);
}

/* ---- options ---- */

static void
assert_refused(const char *message, const char *const *options)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(leat_client_new(options, &error));
    g_assert_error(error, LEAT_ERROR, LEAT_ERROR_OPTION);
    g_assert_cmpstr(error->message, ==, message);
}

static void
test_a_wrong_option_is_refused_with_its_name_and_a_remedy(void)
{
    static const struct {
        const char *message;
        const char *options[6];
    } rows[] = {
        { "there are no hosts", { NULL } },
        { "hosts: there is no value; options are names and values in turn", { "hosts", NULL } },
        { "hosts: there are none; write host:port, such as hub1:4141", { "hosts", " , " } },
        { "hosts: ':4141' has no host to connect to; write host:port, such as hub1:4141",
          { "hosts", "hub1:4141,:4141" } },
        { "host: there is no such option; did you mean 'hosts'?", { "host", "hub1:4141" } },
        { "client.type: there is no such option; options are: hosts, client, protocol, batch-size, "
          "connections, in-flight, max-attempts, host-selector, backoff, max-backoff, "
          "connect-timeout, request-timeout, call-timeout, reset-connection-interval",
          { "client.type", "thrift" } },
        { "batch-size: '0' is out of range; write a number from 1 to 1000000",
          { "hosts", "hub1:4141", "batch-size", "0" } },
        { "call-timeout: '5' has no unit; write a number with us, ms, s, m, h or d, such as 10s",
          { "hosts", "hub1:4141", "call-timeout", "5" } },
        { "client: 'org.apache.flume.api.ThriftRpcClient' is none of the choices; choices are: "
          "single, failover, load-balance",
          { "hosts", "hub1:4141", "client", "org.apache.flume.api.ThriftRpcClient" } },
        { "load-balance needs at least two hosts",
          { "hosts", "hub1:4141", "client", "load-balance" } },
        { "a single client has one host; failover and load-balance have more",
          { "hosts", "hub1:4141 hub2:4141", "client", "single" } },
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_refused(rows[i].message, rows[i].options);
    assert_refused("there are no hosts", NULL);
}

static void
test_every_option_is_taken(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LeatClient) client =
        leat_client_new((const char *const[]){ "hosts",
                                               "hub1:4141, [::1]:4141\n1.2.3.4:1",
                                               "client",
                                               "LOAD_BALANCE",
                                               "protocol",
                                               "binary",
                                               "batch-size",
                                               "7",
                                               "connections",
                                               "2",
                                               "in-flight",
                                               "3",
                                               "max-attempts",
                                               "0",
                                               "host-selector",
                                               "random",
                                               "backoff",
                                               "no",
                                               "max-backoff",
                                               "1s",
                                               "connect-timeout",
                                               "1.5s",
                                               "request-timeout",
                                               "2s",
                                               "call-timeout",
                                               "1m",
                                               "reset-connection-interval",
                                               "1h",
                                               NULL },
                        &error);

    g_assert_no_error(error);
    g_assert_cmpuint(leat_client_batch_size(client), ==, 7);
}

static void
test_several_hosts_are_for_failover_unless_told_otherwise(void)
{
    g_autoptr(RpcServer) first = rpc_server_new();
    g_autoptr(RpcServer) second = rpc_server_new();
    g_autofree char *one = endpoint_to_text(rpc_server_endpoint(first));
    g_autofree char *two = endpoint_to_text(rpc_server_endpoint(second));
    g_autofree char *hosts = g_strdup_printf("%s,%s", one, two);
    g_autoptr(LeatClient) client =
        leat_client_new((const char *const[]){ "hosts", hosts, NULL }, NULL);
    LeatEvent event = event_of("x");

    for (guint i = 0; i < 3; i++)
        g_assert_true(leat_client_append(client, &event, NULL));
    g_assert_cmpuint(rpc_server_n_stored(first), ==, 3);
    rpc_server_stop(first);

    g_assert_true(leat_client_append(client, &event, NULL));
    g_assert_cmpuint(rpc_server_n_stored(second), ==, 1);
}

static void
test_hosts_may_be_replaced_by_others_but_not_by_none_or_a_wrong_one(void)
{
    g_auto(Fixture) self;
    g_autoptr(RpcServer) other = rpc_server_new();
    g_autofree char *hosts = endpoint_to_text(rpc_server_endpoint(other));
    LeatEvent event = event_of("x");
    g_autoptr(GError) error = NULL;

    fixture_init(&self, "client", "single");
    g_assert_false(leat_client_set_hosts(self.client, "nowhere", &error));
    g_assert_error(error, LEAT_ERROR, LEAT_ERROR_OPTION);
    g_assert_true(g_str_has_prefix(error->message, "hosts: 'nowhere' "));
    g_assert_false(leat_client_set_hosts(self.client, NULL, NULL));
    g_assert_true(leat_client_append(self.client, &event, NULL));
    g_assert_true(leat_client_set_hosts(self.client, hosts, NULL));
    g_assert_true(leat_client_append(self.client, &event, NULL));

    assert_stored(&self, "x");
    g_assert_cmpuint(rpc_server_n_stored(other), ==, 1);
}

/* ---- events ---- */

static void
test_events_arrive_in_order_one_by_one_and_in_batches(void)
{
    g_auto(Fixture) self;
    LeatEvent events[5];
    g_autoptr(GError) error = NULL;
    size_t acknowledged;

    fixture_init(&self, "batch-size", "2");
    for (guint i = 0; i < 5; i++)
        events[i] = event_of((const char *[]){ "a", "b", "c", "d", "e" }[i]);
    g_assert_true(leat_client_append(self.client, &events[4], &error));
    g_assert_true(leat_client_append_batch(self.client, events, 5, &acknowledged, &error));

    g_assert_no_error(error);
    g_assert_cmpuint(acknowledged, ==, 5);
    assert_stored(&self, "e a b c d e");
    g_assert_cmpuint(rpc_server_n_appends(self.server), ==, 1);
    g_assert_cmpuint(rpc_server_n_calls(self.server), ==, 4);
}

static void
test_no_events_are_no_call(void)
{
    g_auto(Fixture) self;
    size_t acknowledged = 1;

    fixture_init(&self, NULL, NULL);
    g_assert_true(leat_client_append_batch(self.client, NULL, 0, &acknowledged, NULL));

    g_assert_cmpuint(acknowledged, ==, 0);
    g_assert_cmpuint(rpc_server_n_calls(self.server), ==, 0);
}

static void
test_more_than_one_window_arrives_whole(void)
{
    g_auto(Fixture) self;
    gsize length = 10 * 1024 * 1024;
    g_autofree char *body = g_malloc0(length);
    LeatEvent events[8];
    g_autoptr(GError) error = NULL;

    fixture_init(&self, NULL, NULL);
    for (guint i = 0; i < 8; i++)
        events[i] = (LeatEvent){ .body = body, .body_length = length };
    g_assert_true(leat_client_append_batch(self.client, events, 8, NULL, &error));

    g_assert_no_error(error);
    g_assert_cmpuint(rpc_server_n_stored(self.server), ==, 8);
}

static void
test_a_call_tells_how_many_of_the_first_events_are_safe(void)
{
    g_auto(Fixture) self;
    LeatEvent events[5];
    g_autoptr(GError) error = NULL;
    size_t acknowledged = 99;

    fixture_init(&self, "batch-size", "2");
    for (guint i = 0; i < 5; i++)
        events[i] = event_of("x");
    rpc_server_plan(self.server, (const Answer[]){ ANSWER_OK, ANSWER_FAILED }, 2);
    g_assert_false(leat_client_append_batch(self.client, events, 5, &acknowledged, &error));

    g_assert_error(error, LEAT_ERROR, LEAT_ERROR_REFUSED);
    g_assert_cmpuint(acknowledged, ==, 2);
}

static void
test_an_event_that_can_never_be_sent_does_not_keep_back_those_before_it(void)
{
    g_auto(Fixture) self;
    g_autofree char *body = g_malloc0(FRAME_LIMIT);
    LeatEvent events[] = {
        event_of("a"), event_of("b"), { .body = body, .body_length = 1 }, event_of("d")
    };
    const LeatHeader nameless = { .value = "x" };
    const LeatEvent bad[] = {
        { .body = body, .body_length = FRAME_LIMIT + 1 },  /* refused by its length */
        { .body = body, .body_length = FRAME_LIMIT - 20 }, /* too large with what is around it */
        { .body_length = 1 },
        { .body = "x", .body_length = 1, .n_headers = 1 },
        { .body = "x", .body_length = 1, .headers = &nameless, .n_headers = 1 },
    };

    fixture_init(&self, NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GError) alone = NULL;
        size_t acknowledged;

        events[2] = bad[i];
        g_assert_false(leat_client_append_batch(self.client, events, 4, &acknowledged, &error));
        g_assert_error(error, LEAT_ERROR, LEAT_ERROR_EVENT);
        g_assert_cmpuint(acknowledged, ==, 2);
        g_assert_false(leat_client_append(self.client, &bad[i], &alone));
        g_assert_error(alone, LEAT_ERROR, LEAT_ERROR_EVENT);
    }
    g_assert_cmpuint(rpc_server_n_stored(self.server), ==, 2 * G_N_ELEMENTS(bad));
    g_assert_true(leat_client_append(self.client, &events[3], NULL));
}

/* ---- errors ---- */

static void
test_what_a_host_does_becomes_the_error_that_tells_what_to_do(void)
{
    static const struct {
        Answer answer;
        LeatError code;
    } rows[] = {
        { ANSWER_FAILED, LEAT_ERROR_REFUSED },
        { ANSWER_INTERNAL_ERROR, LEAT_ERROR_REFUSED },
        { ANSWER_UNKNOWN_METHOD, LEAT_ERROR_NO_SOURCE },
        { ANSWER_NO_THRIFT, LEAT_ERROR_NO_SOURCE },
        { ANSWER_HANG_UP, LEAT_ERROR_BROKEN },
        { ANSWER_NOTHING, LEAT_ERROR_TIMEOUT },
    };
    g_auto(Fixture) self;
    LeatEvent event = event_of("x");

    fixture_init(&self, "call-timeout", "100ms");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;

        rpc_server_answer(self.server, rows[i].answer);
        g_assert_false(leat_client_append(self.client, &event, &error));
        g_assert_error(error, LEAT_ERROR, (int) rows[i].code);
        g_assert_true(leat_client_is_active(self.client));
    }
}

static void
test_nobody_there_is_unreachable_and_later_all_is_well(void)
{
    g_auto(Fixture) self;
    LeatEvent event = event_of("x");
    g_autoptr(GError) error = NULL;

    fixture_init(&self, NULL, NULL);
    rpc_server_stop(self.server);
    g_assert_false(leat_client_append(self.client, &event, &error));
    g_assert_error(error, LEAT_ERROR, LEAT_ERROR_UNREACHABLE);

    rpc_server_start(self.server);
    g_assert_true(leat_client_append(self.client, &event, NULL));
}

static gpointer
append_one(gpointer client)
{
    LeatEvent event = event_of("x");
    GError *error = NULL;

    g_assert_false(leat_client_append(client, &event, &error));
    return error;
}

static void
test_a_closed_client_sends_everyone_away(void)
{
    g_auto(Fixture) self;
    g_autoptr(GError) in_flight = NULL;
    g_autoptr(GError) none = NULL;
    g_autoptr(GError) later = NULL;
    size_t acknowledged = 1;
    GThread *thread;

    fixture_init(&self, NULL, NULL);
    rpc_server_answer(self.server, ANSWER_NOTHING);
    thread = g_thread_new("append", append_one, self.client);
    g_assert_true(rpc_server_wait_calls(self.server, 1));
    leat_client_close(self.client);
    leat_client_close(self.client);
    in_flight = g_thread_join(thread);

    g_assert_error(in_flight, LEAT_ERROR, LEAT_ERROR_CLOSED);
    g_assert_false(leat_client_is_active(self.client));
    later = append_one(self.client);
    g_assert_error(later, LEAT_ERROR, LEAT_ERROR_CLOSED);
    g_assert_false(leat_client_append_batch(self.client, NULL, 0, &acknowledged, &none));
    g_assert_error(none, LEAT_ERROR, LEAT_ERROR_CLOSED);
    g_assert_cmpuint(acknowledged, ==, 0);
}

static void
test_nothing_may_be_freed(void)
{
    leat_client_free(NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/leat-client/a-wrong-option-is-refused-with-its-name-and-a-remedy",
                    test_a_wrong_option_is_refused_with_its_name_and_a_remedy);
    g_test_add_func("/leat-client/every-option-is-taken", test_every_option_is_taken);
    g_test_add_func("/leat-client/several-hosts-are-for-failover-unless-told-otherwise",
                    test_several_hosts_are_for_failover_unless_told_otherwise);
    g_test_add_func("/leat-client/hosts-may-be-replaced",
                    test_hosts_may_be_replaced_by_others_but_not_by_none_or_a_wrong_one);
    g_test_add_func("/leat-client/events-arrive-in-order-one-by-one-and-in-batches",
                    test_events_arrive_in_order_one_by_one_and_in_batches);
    g_test_add_func("/leat-client/no-events-are-no-call", test_no_events_are_no_call);
    g_test_add_func("/leat-client/more-than-one-window-arrives-whole",
                    test_more_than_one_window_arrives_whole);
    g_test_add_func("/leat-client/a-call-tells-how-many-of-the-first-events-are-safe",
                    test_a_call_tells_how_many_of_the_first_events_are_safe);
    g_test_add_func("/leat-client/an-event-that-can-never-be-sent-does-not-keep-back-those-before",
                    test_an_event_that_can_never_be_sent_does_not_keep_back_those_before_it);
    g_test_add_func("/leat-client/what-a-host-does-becomes-the-error-that-tells-what-to-do",
                    test_what_a_host_does_becomes_the_error_that_tells_what_to_do);
    g_test_add_func("/leat-client/nobody-there-is-unreachable-and-later-all-is-well",
                    test_nobody_there_is_unreachable_and_later_all_is_well);
    g_test_add_func("/leat-client/a-closed-client-sends-everyone-away",
                    test_a_closed_client_sends_everyone_away);
    g_test_add_func("/leat-client/nothing-may-be-freed", test_nothing_may_be_freed);
    return g_test_run();
}
