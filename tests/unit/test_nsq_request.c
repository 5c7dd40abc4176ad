/* test_nsq_request.c - what a node says to an nsqlookupd, byte for byte, and how it reads answers.
 */
#include "registry/wire/nsq_request.h"

#include <gio/gio.h>

#include "registry/wire/topic_namespace.h"

static void
assert_bytes(GByteArray *bytes, const char *expected, gsize length)
{
    g_assert_cmpmem(bytes->data, bytes->len, expected, length);
}

/* ---- requests ---- */

static void
test_a_node_begins_with_the_magic_and_its_identity(void)
{
    const NsqIntroduction node = { .broadcast_address = "10.0.0.7",
                                   .hostname = "edge<1>",
                                   .tcp_port = 4141,
                                   .http_port = 41414,
                                   .version = "0.9" };
    static const char expected[] =
        "  V1IDENTIFY\n\0\0\0\x71"
        "{\"broadcast_address\":\"10.0.0.7\",\"hostname\":\"edge\\u003c1\\u003e\","
        "\"http_port\":41414,\"tcp_port\":4141,\"version\":\"0.9\"}";
    g_autoptr(GByteArray) out = g_byte_array_new();

    nsq_request_append_identify(out, &node);

    assert_bytes(out, expected, sizeof expected - 1);
}

static void
test_the_other_requests_are_a_line_each(void)
{
    static const char expected[] = "REGISTER qa.logs\nPING\nUNREGISTER t#ephemeral\n";
    g_autoptr(GByteArray) out = g_byte_array_new();

    nsq_request_append_register(out, "qa.logs");
    nsq_request_append_ping(out);
    nsq_request_append_unregister(out, "t#ephemeral");

    assert_bytes(out, expected, sizeof expected - 1);
}

/* ---- answers ---- */

static void
test_answers_are_taken_one_by_one_and_only_whole(void)
{
    static const char bytes[] = "\0\0\0\2OK\0\0\0\3{1}\0\0";
    ByteSpan input = byte_span(bytes, sizeof bytes - 1);
    g_autoptr(GError) error = NULL;
    ByteSpan payload;

    for (gsize cut = 0; cut < 6; cut++) {
        ByteSpan part = byte_span(bytes, cut);

        g_assert_false(nsq_answer_take(&part, &payload, &error));
        g_assert_no_error(error);
    }
    g_assert_true(nsq_answer_take(&input, &payload, &error));
    g_assert_cmpmem(payload.data, payload.length, "OK", 2);
    g_assert_true(nsq_answer_take(&input, &payload, &error));
    g_assert_cmpmem(payload.data, payload.length, "{1}", 3);
    g_assert_false(nsq_answer_take(&input, &payload, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(input.length, ==, 2);
}

static void
test_a_length_that_no_answer_has_is_refused_before_it_is_waited_for(void)
{
    static const char bytes[] = "\0\1\0\1";
    ByteSpan input = byte_span(bytes, sizeof bytes - 1);
    g_autoptr(GError) error = NULL;
    ByteSpan payload;

    g_assert_false(nsq_answer_take(&input, &payload, &error));

    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
}

static void
test_the_http_port_is_told_from_the_tcp_port(void)
{
    ByteSpan input = byte_span_of_text("HTTP/1.1 400 Bad Request\r\n");
    g_autoptr(GError) error = NULL;
    ByteSpan payload;

    g_assert_false(nsq_answer_take(&input, &payload, &error));

    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    g_assert_nonnull(strstr(error->message, "4160"));
}

static void
test_only_the_answer_of_the_protocol_is_taken_for_yes(void)
{
    static const struct {
        NsqVerb request;
        const char *payload;
        gboolean yes;
    } rows[] = {
        { NSQ_IDENTIFY, "{\"version\":\"1.3.0\"}", TRUE },
        { NSQ_IDENTIFY, "OK", FALSE },
        { NSQ_IDENTIFY, "", FALSE },
        { NSQ_REGISTER, "OK", TRUE },
        { NSQ_REGISTER, "OKAY", FALSE },
        { NSQ_PING, "E_INVALID", FALSE },
        { NSQ_UNREGISTER, "{}", FALSE },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        ByteSpan payload = byte_span_of_text(rows[i].payload);

        g_assert_true(nsq_answer_check(rows[i].request, payload, &error) == rows[i].yes);
        g_assert_true((error == NULL) == rows[i].yes);
    }
}

static void
test_a_refusal_is_told_in_the_registry_s_words(void)
{
    ByteSpan payload = byte_span_of_text("E_BAD_TOPIC REGISTER topic name '\xff' is not valid");
    g_autoptr(GError) error = NULL;

    g_assert_false(nsq_answer_check(NSQ_REGISTER, payload, &error));

    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_FAILED);
    g_assert_nonnull(strstr(error->message, "E_BAD_TOPIC"));
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
}

/* ---- namespaces ---- */

static void
test_namespaces(void)
{
    static const struct {
        char *(*join)(const char *name_space, const char *topic);
        const char *name_space, *topic, *expected;
    } rows[] = {
        { nsq_topic_in_namespace, "qa", "logs", "qa.logs" },
        { nsq_topic_in_namespace, "qa", "qa.logs", "qa.logs" },
        { nsq_topic_in_namespace, "qa", "qalogs", "qa.qalogs" },
        { nsq_topic_in_namespace, NULL, "logs", "logs" },
        { nsq_topic_in_namespace, "", "logs", "logs" },
        { broker_topic_in_namespace, "qa", "logs", "qa%logs" },
        { broker_topic_in_namespace, "qa", "qa%logs", "qa%logs" },
        { broker_topic_in_namespace, "qa", "%RETRY%g", "%RETRY%qa%g" },
        { broker_topic_in_namespace, "qa", "%DLQ%qa%g", "%DLQ%qa%g" },
        { broker_topic_in_namespace, "qa", "TBW102", "TBW102" },
        { broker_topic_in_namespace, "qa", "rmq_sys_x", "rmq_sys_x" },
        { broker_topic_in_namespace, NULL, "logs", "logs" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = rows[i].join(rows[i].name_space, rows[i].topic);

        g_assert_cmpstr(name, ==, rows[i].expected);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nsq_request/a_node_begins_with_the_magic_and_its_identity",
                    test_a_node_begins_with_the_magic_and_its_identity);
    g_test_add_func("/nsq_request/the_other_requests_are_a_line_each",
                    test_the_other_requests_are_a_line_each);
    g_test_add_func("/nsq_request/answers_are_taken_one_by_one_and_only_whole",
                    test_answers_are_taken_one_by_one_and_only_whole);
    g_test_add_func("/nsq_request/a_length_that_no_answer_has_is_refused_before_it_is_waited_for",
                    test_a_length_that_no_answer_has_is_refused_before_it_is_waited_for);
    g_test_add_func("/nsq_request/the_http_port_is_told_from_the_tcp_port",
                    test_the_http_port_is_told_from_the_tcp_port);
    g_test_add_func("/nsq_request/only_the_answer_of_the_protocol_is_taken_for_yes",
                    test_only_the_answer_of_the_protocol_is_taken_for_yes);
    g_test_add_func("/nsq_request/a_refusal_is_told_in_the_registry_s_words",
                    test_a_refusal_is_told_in_the_registry_s_words);
    g_test_add_func("/nsq_request/namespaces", test_namespaces);
    return g_test_run();
}
