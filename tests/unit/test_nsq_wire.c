/* test_nsq_wire.c - names, commands, identities and JSON as NSQ's own programs read and write them.
 */
#include <string.h>

#include "registry/wire/json_value.h"
#include "registry/wire/nsq_command.h"
#include "registry/wire/nsq_identity.h"
#include "registry/wire/nsq_json.h"
#include "registry/wire/nsq_name.h"

/* ---- names ---- */

static void
test_names(void)
{
    static const char *const good[] = { "a", "A.b_c-9", "t#ephemeral" };
    static const char *const bad[] = {
        "", "#ephemeral", "a b", "a#", "a#ephemeral#ephemeral", "a#Ephemeral", "$", "ä"
    };
    g_autofree char *longest = g_strnfill(64, 'x');
    g_autofree char *too_long = g_strnfill(65, 'x');
    g_autofree char *suffixed = g_strnfill(54, 'x');
    g_autofree char *full = g_strconcat(suffixed, "#ephemeral", NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(good); i++)
        g_assert_true(nsq_name_is_valid(byte_span_of_text(good[i])));
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(nsq_name_is_valid(byte_span_of_text(bad[i])));
    g_assert_true(nsq_name_is_valid(byte_span_of_text(longest)));
    g_assert_false(nsq_name_is_valid(byte_span_of_text(too_long)));
    g_assert_true(nsq_name_is_valid(byte_span_of_text(full)));
    g_assert_false(nsq_name_is_valid(byte_span("a\0b", 3)));
}

/* ---- commands ---- */

static char *
describe(const char *line)
{
    NsqCommand command = nsq_command_parse(byte_span_of_text(line));
    g_autoptr(GString) answer = g_string_new("");

    if (command.verb == NSQ_UNKNOWN)
        return g_strdup_printf("unknown [%.*s]", (int) command.word.length, command.word.data);
    if (command.verb >= NSQ_REGISTER && !nsq_command_check_names(&command, answer))
        return g_string_free(g_steal_pointer(&answer), FALSE);
    return g_strdup_printf("%u [%.*s] [%.*s]", command.verb, (int) command.topic.length,
                           command.topic.length > 0 ? (const char *) command.topic.data : "",
                           (int) command.channel.length,
                           command.channel.length > 0 ? (const char *) command.channel.data : "");
}

static void
test_commands(void)
{
    static const char *const rows[][2] = {
        { "PING", "0 [] []" },
        { "  PING\r", "0 [] []" },
        { "PING a b c", "0 [a] [b]" },
        { "IDENTIFY", "1 [] []" },
        { "REGISTER t", "2 [t] []" },
        { "REGISTER t c d", "2 [t] [c]" },
        { "REGISTER t  c", "2 [t] []" },
        { "UNREGISTER t c\t\v", "3 [t] [c]" },
        { "REGISTER", "E_INVALID REGISTER insufficient number of params" },
        { "UNREGISTER ", "E_INVALID UNREGISTER insufficient number of params" },
        { "REGISTER  t", "E_BAD_TOPIC REGISTER topic name '' is not valid" },
        { "REGISTER $ $", "E_BAD_TOPIC REGISTER topic name '$' is not valid" },
        { "UNREGISTER t $", "E_BAD_CHANNEL UNREGISTER channel name '$' is not valid" },
        { "", "unknown []" },
        { "ping", "unknown [ping]" },
        { "PINGS", "unknown [PINGS]" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *seen = describe(rows[i][0]);

        g_assert_cmpstr(seen, ==, rows[i][1]);
    }
}

/* ---- identities ---- */

#define PORTS "\"tcp_port\":4150,\"http_port\":4151"
#define DECODE "E_BAD_BODY IDENTIFY failed to decode JSON body"
#define MISSING "E_BAD_BODY IDENTIFY missing fields"

/* The JSON of the identity, or the answer to the client. (transfer full) */
static char *
identify(const char *body)
{
    const char *answer;
    g_autoptr(GError) error = NULL;
    g_autoptr(NsqIdentity) identity =
        nsq_identity_parse((const guint8 *) body, strlen(body), "1.2.3.4:5", &answer, &error);

    g_assert_true((identity == NULL) == (error != NULL));
    return g_strdup(identity != NULL ? identity->json : answer);
}

static void
test_identities(void)
{
    static const char *const rows[][2] = {
        { "{\"broadcast_address\":\"a\"," PORTS ",\"version\":\"v\"}",
          "{\"remote_address\":\"1.2.3.4:5\",\"hostname\":\"\",\"broadcast_address\":\"a\"," PORTS
          ",\"version\":\"v\"" },
        { " {\"BROADCAST_address\":\"a\"," PORTS ",\"version\":\"v\",\"x\":[{\"y\":1.5e3}],"
          "\"hostname\":\"h<&>\",\"remote_address\":\"lies\",\"broadcast_address\":\"b\"}\n",
          "{\"remote_address\":\"1.2.3.4:5\",\"hostname\":\"h\\u003c\\u0026\\u003e\","
          "\"broadcast_address\":\"b\"," PORTS ",\"version\":\"v\"" },
        { "{\"broadcast_address\":\"a\"," PORTS ",\"version\":\"v\",\"topology_zone\":\"z\"}",
          "{\"remote_address\":\"1.2.3.4:5\",\"hostname\":\"\",\"broadcast_address\":\"a\"," PORTS
          ",\"version\":\"v\",\"topology_zone\":\"z\",\"topology_region\":\"\"" },
        { "null", MISSING },
        { "{}", MISSING },
        { "{\"broadcast_address\":\"\"," PORTS ",\"version\":\"v\"}", MISSING },
        { "{\"broadcast_address\":\"a\",\"tcp_port\":4150,\"http_port\":0,\"version\":\"v\"}",
          MISSING },
        { "{\"broadcast_address\":\"a\"," PORTS ",\"version\":null}", MISSING },
        { "", DECODE },
        { "[]", DECODE },
        { "\"text\"", DECODE },
        { "{\"tcp_port\":\"4150\"}", DECODE },
        { "{\"tcp_port\":4150.5}", DECODE },
        { "{\"tcp_port\":4150.0}", DECODE },
        { "{\"tcp_port\":99999999999999999999}", DECODE },
        { "{\"version\":1}", DECODE },
        { "{\"remote_address\":1}", DECODE },
        { "{\"version\":\"a\\u0000b\"}", DECODE },
        { "{} x", DECODE },
        { "{\"a\":1,}", DECODE },
        { "{'a':1}", DECODE },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *seen = identify(rows[i][0]);

        g_assert_cmpstr(seen, ==, rows[i][1]);
    }
}

static void
test_what_is_missing_is_told_to_the_log(void)
{
    const char *answer;
    g_autoptr(GError) error = NULL;

    g_assert_null(nsq_identity_parse((const guint8 *) "{\"version\":\"v\",\"tcp_port\":1}", 28,
                                     "1.2.3.4:5", &answer, &error));

    g_assert_cmpstr(error->message, ==, "it lacks broadcast_address, http_port");
}

static void
test_the_registry_tells_about_itself_in_the_order_of_keys(void)
{
    const NsqSelf self = {
        .broadcast_address = "b", .hostname = "h", .tcp_port = 4160, .http_port = 4161
    };
    g_autofree char *json = nsq_self_to_json(&self);

    g_assert_cmpstr(json, ==,
                    "{\"broadcast_address\":\"b\",\"hostname\":\"h\",\"http_port\":4161,"
                    "\"tcp_port\":4160,\"version\":\"1.3.0\"}");
}

/* ---- JSON ---- */

static void
test_json_that_is_none_is_refused(void)
{
    static const char *const rows[] = {
        "",
        " ",
        "{",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "0x10",
        "+1",
        "nul",
        "truely",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "'a'",
        "NaN",
        "1 1",
        "//\n1",
        "[1]]",
        "\"a\\",
        "\"\\u12",
        "{\"a\":1,\"b\"",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_null(json_value_parse((const guint8 *) rows[i], strlen(rows[i]), NULL));
}

static void
test_json_strings_are_decoded(void)
{
    static const char *const rows[][2] = {
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
        { "\"\\u00e4\\ud83d\\ude00\"", "ä😀" },
        { "\"\\ud83dx\\ude00\\ud83d\\u0041\"", "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd"
                                               "A" },
        { "\"a\xff\"", "a\xef\xbf\xbd" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(JsonValue) value =
            json_value_parse((const guint8 *) rows[i][0], strlen(rows[i][0]), NULL);

        g_assert_nonnull(value);
        g_assert_cmpstr(value->text->str, ==, rows[i][1]);
    }
}

static void
test_json_nests_so_deep_and_no_deeper(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(JsonValue) value = NULL;

    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        g_string_append_c(text, '[');
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        g_string_append_c(text, ']');
    value = json_value_parse((const guint8 *) text->str, text->len, NULL);
    g_assert_nonnull(value);
    g_string_prepend_c(text, '[');
    g_string_append_c(text, ']');

    g_assert_null(json_value_parse((const guint8 *) text->str, text->len, NULL));
}

static void
test_json_texts_are_escaped_as_the_original_does(void)
{
    g_autoptr(GString) out = g_string_new(NULL);

    nsq_json_append_text(out, "a\"\\\n\r\t\x01<>&\x7fä\xe2\x80\xa8");

    g_assert_cmpstr(out->str, ==, "\"a\\\"\\\\\\n\\r\\t\\u0001\\u003c\\u003e\\u0026\x7fä\\u2028\"");
}

static void
test_a_frame_is_a_length_and_a_payload(void)
{
    g_autoptr(GByteArray) out = g_byte_array_new();

    nsq_frame_append(out, "OK", 2);

    g_assert_cmpmem(out->data, out->len, "\0\0\0\2OK", 6);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nsq-wire/names", test_names);
    g_test_add_func("/nsq-wire/commands", test_commands);
    g_test_add_func("/nsq-wire/identities", test_identities);
    g_test_add_func("/nsq-wire/missing-is-told", test_what_is_missing_is_told_to_the_log);
    g_test_add_func("/nsq-wire/self", test_the_registry_tells_about_itself_in_the_order_of_keys);
    g_test_add_func("/nsq-wire/json-refused", test_json_that_is_none_is_refused);
    g_test_add_func("/nsq-wire/json-strings", test_json_strings_are_decoded);
    g_test_add_func("/nsq-wire/json-depth", test_json_nests_so_deep_and_no_deeper);
    g_test_add_func("/nsq-wire/json-escapes", test_json_texts_are_escaped_as_the_original_does);
    g_test_add_func("/nsq-wire/frame", test_a_frame_is_a_length_and_a_payload);
    return g_test_run();
}
