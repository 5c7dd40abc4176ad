/* test_nsq_answer.c - what is read out of answers of an nsqlookupd, and what is not. */
#include "registry/wire/nsq_answer.h"

#include <gio/gio.h>

/* "address:port address:port"; "!" with an error. (transfer full) */
static char *
nodes_of(const char *body)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) nodes = nsq_answer_decode_nodes(byte_span_of_text(body), &error);
    g_autoptr(GString) text = g_string_new(nodes == NULL ? "!" : "");

    g_assert_true((nodes == NULL) == g_error_matches(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA));
    for (guint i = 0; nodes != NULL && i < nodes->len; i++) {
        const NsqListedNode *node = nodes->pdata[i];

        g_string_append_printf(text, "%s%s:%u", i > 0 ? " " : "", node->broadcast_address,
                               node->tcp_port);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
assert_nodes(const char *body, const char *expected)
{
    g_autofree char *nodes = nodes_of(body);

    g_assert_cmpstr(nodes, ==, expected);
}

static void
test_a_look_up_lists_nodes(void)
{
    assert_nodes(
        "{\"channels\":[\"c\"],\"producers\":["
        "{\"remote_address\":\"10.0.0.1:5\",\"hostname\":\"h\",\"broadcast_address\":\"a\","
        "\"tcp_port\":4150,\"http_port\":4151,\"version\":\"1.3.0\"},"
        "{\"broadcast_address\":\"::1\",\"tcp_port\":1}]}",
        "a:4150 ::1:1");
}

static void
test_the_wrapped_form_of_old_registries_is_read(void)
{
    assert_nodes("{\"status_code\":200,\"status_txt\":\"OK\",\"data\":{\"producers\":["
                 "{\"broadcast_address\":\"a\",\"tcp_port\":4150}]}}",
                 "a:4150");
}

static void
test_a_node_that_cannot_be_connected_to_is_left_out(void)
{
    assert_nodes("{\"producers\":[{\"broadcast_address\":\"\",\"tcp_port\":1},"
                 "{\"broadcast_address\":\"a\"},{\"broadcast_address\":\"a\",\"tcp_port\":0},"
                 "{\"broadcast_address\":\"a\",\"tcp_port\":65536},"
                 "{\"broadcast_address\":\"a\",\"tcp_port\":\"1\"},"
                 "{\"broadcast_address\":\"a\\u0000b\",\"tcp_port\":1},"
                 "{\"broadcast_address\":7,\"tcp_port\":1},3,null,"
                 "{\"broadcast_address\":\"b\",\"tcp_port\":65535}]}",
                 "b:65535");
}

static void
test_what_is_no_answer_is_an_error(void)
{
    assert_nodes("", "!");
    assert_nodes("<html>", "!");
    assert_nodes("[]", "!");
    assert_nodes("{}", "!");
    assert_nodes("{\"producers\":null}", "!");
    assert_nodes("{\"producers\":{}}", "!");
}

static void
test_nodes_have_topics_with_their_tombstones(void)
{
    g_autoptr(GPtrArray) nodes = nsq_answer_decode_nodes(
        byte_span_of_text("{\"producers\":[{\"broadcast_address\":\"a\",\"tcp_port\":1,"
                          "\"tombstones\":[false,true],\"topics\":[\"t\",\"u\",\"v\"]}]}"),
        NULL);
    const NsqListedNode *node = nodes->pdata[0];

    g_assert_cmpuint(node->topics->len, ==, 3);
    g_assert_cmpuint(node->tombstones->len, ==, 3);
    g_assert_cmpstr(node->topics->pdata[1], ==, "u");
    g_assert_false(g_array_index(node->tombstones, gboolean, 0));
    g_assert_true(g_array_index(node->tombstones, gboolean, 1));
    g_assert_false(g_array_index(node->tombstones, gboolean, 2));
}

static void
test_names_are_listed(void)
{
    g_autoptr(GPtrArray) topics =
        nsq_answer_decode_names(byte_span_of_text("{\"topics\":[\"t\",7,\"u\"]}"), "topics", NULL);

    g_assert_cmpuint(topics->len, ==, 2);
    g_assert_cmpstr(topics->pdata[1], ==, "u");
    g_assert_null(nsq_answer_decode_names(byte_span_of_text("{}"), "topics", NULL));
}

#define ADD(name, function) g_test_add_func("/nsq-answer/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("look-up", test_a_look_up_lists_nodes);
    ADD("wrapped", test_the_wrapped_form_of_old_registries_is_read);
    ADD("left-out", test_a_node_that_cannot_be_connected_to_is_left_out);
    ADD("no-answer", test_what_is_no_answer_is_an_error);
    ADD("topics", test_nodes_have_topics_with_their_tombstones);
    ADD("names", test_names_are_listed);
    return g_test_run();
}
