/* test_remoting.c - frames of RocketMQ's remoting protocol, as 5.3.3 writes and reads them. */
#include <gio/gio.h>
#include <string.h>

#include "registry/wire/namesrv_codes.h"
#include "registry/wire/remoting_command.h"

/* Length and mark of a frame. (transfer full) */
static GByteArray *
frame_of(guint8 kind, const char *header, gsize header_length, const char *body)
{
    GByteArray *frame = g_byte_array_new();
    guint32 length = GUINT32_TO_BE((guint32) (4 + header_length + strlen(body)));
    guint32 mark = GUINT32_TO_BE((guint32) kind << 24 | (guint32) header_length);

    g_byte_array_append(frame, (const guint8 *) &length, 4);
    g_byte_array_append(frame, (const guint8 *) &mark, 4);
    g_byte_array_append(frame, (const guint8 *) header, (guint) header_length);
    g_byte_array_append(frame, (const guint8 *) body, (guint) strlen(body));
    return frame;
}

/* Everything but the fields. (transfer full) */
static char *
describe(const RemotingCommand *command)
{
    return g_strdup_printf("%d v%d #%d%s%s [%s] [%.*s]", command->code, command->version,
                           command->opaque, command->is_answer ? " answer" : "",
                           command->is_one_way ? " one-way" : "",
                           command->remark == NULL ? "-" : command->remark,
                           (int) command->body.length, (const char *) command->body.data);
}

/* Its description and fields, or the error. (transfer full) */
static char *
decode_span(ByteSpan frame)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(RemotingCommand) command = remoting_command_decode(frame, &error);
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree char *description = NULL;

    g_assert_true((command == NULL) == (error != NULL));
    if (command == NULL)
        return g_strdup(error->message);
    description = describe(command);
    g_string_append(out, description);
    for (guint i = 0; i < command->fields->len; i++) {
        const RemotingField *field = &g_array_index(command->fields, RemotingField, i);

        g_string_append_printf(out, " %s=%s", field->name, field->value);
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static char *
decode(const GByteArray *frame)
{
    return decode_span(byte_span(frame->data, frame->len));
}

static char *
decode_json(const char *header)
{
    g_autoptr(GByteArray) frame = frame_of(0, header, strlen(header), "");

    return decode(frame);
}

/* ---- where a frame ends ---- */

#define NEEDS(bytes, max) needs(byte_span(bytes, sizeof(bytes) - 1), max)

/* How many bytes, or why not. (transfer full) */
static char *
needs(ByteSpan received, gsize max)
{
    g_autoptr(GError) error = NULL;
    gsize needed;

    return remoting_frame_needs(received, max, &needed, &error)
               ? g_strdup_printf("%" G_GSIZE_FORMAT, needed)
               : g_strdup(error->message);
}

#define DECODE(bytes) decode_span(byte_span(bytes, sizeof(bytes) - 1))

/* Frees made. */
static void
assert_text(char *made, const char *expected)
{
    g_assert_cmpstr(made, ==, expected);
    g_free(made);
}

static void
test_frame_tells_how_long_it_is(void)
{
    assert_text(NEEDS("", 100), "4");
    assert_text(NEEDS("\0\0\0", 100), "4");
    assert_text(NEEDS("\0\0\0\x0a", 100), "14");
    assert_text(NEEDS("\0\0\0\x0a\0\0\0\x06", 100), "14");
    assert_text(NEEDS("\0\0\0\x0a\1\0\0\x06", 100), "14");
    assert_text(NEEDS("\0\0\0\x60", 100), "100");
    assert_text(NEEDS("\0\0\0\4\0\0\0\0", 100), "8");
}

static void
test_what_is_no_frame_says_why(void)
{
    assert_text(NEEDS("\0\0\0\x61", 100), "a frame of 97 bytes is too long; it may have 96");
    assert_text(NEEDS("\0\0\0\3", 100), "a frame has a length that none can have");
    assert_text(NEEDS("\xff\xff\xff\xff", 100), "a frame has a length that none can have");
    assert_text(NEEDS("\0\0\0\x0a\2\0\0\1", 100), "a header is neither JSON nor packed");
    assert_text(NEEDS("\0\0\0\x0a\0\0\0\x07", 100), "a header is longer than its frame");
    assert_text(NEEDS("\x16\x03\x01\x02", REMOTING_MAX_FRAME),
                "it speaks TLS, and only plain connections are taken here");
    assert_text(NEEDS("GET /", REMOTING_MAX_FRAME),
                "it speaks HTTP; this is the port of RocketMQ's remoting protocol");
    assert_text(NEEDS("PROXY TCP4", REMOTING_MAX_FRAME),
                "it begins with a PROXY preamble, which is not read here");
}

static void
test_decoding_trusts_no_length(void)
{
    assert_text(DECODE(""), "a frame has another length than it says");
    assert_text(DECODE("\0\0\0\2{}"), "a frame has a length that none can have");
    assert_text(DECODE("\0\0\0\4\0\0\0"), "a frame has another length than it says");
    assert_text(DECODE("\0\0\0\6\0\xff\xff\xff{}"), "a header is longer than its frame");
    assert_text(DECODE("\0\0\0\6\2\0\0\2{}"), "a header is neither JSON nor packed");
    assert_text(DECODE("\0\0\0\6\0\0\0\2{}x"), "a frame has another length than it says");
}

static void
test_limit_is_the_originals(void)
{
    assert_text(NEEDS("\0\xff\xff\xfc", REMOTING_MAX_FRAME), "16777216");
    assert_text(NEEDS("\0\xff\xff\xfd", REMOTING_MAX_FRAME),
                "a frame of 16777213 bytes is too long; it may have 16777212");
}

/* ---- headers ---- */

static void
test_json_header(void)
{
    assert_text(
        decode_json("{\"code\":105,\"extFields\":{\"topic\":\"T\\u00fc/\"},\"flag\":2,\"language\":"
                    "\"JAVA\",\"opaque\":-7,\"remark\":\"r\",\"serializeTypeCurrentRPC\":\"JSON\","
                    "\"version\":479}"),
        "105 v479 #-7 one-way [r] [] topic=Tü/");
    assert_text(decode_json("{\"flag\":3,\"later\":[{\"x\":1}],\"extFields\":null}"),
                "0 v0 #0 answer one-way [-] []");
}

static void
test_fields_need_no_quotes(void)
{
    assert_text(
        decode_json("{\"code\":\"310\",\"extFields\":{\"a\":0,\"b\":-1.5e3,\"c\":true,\"d\":"
                    "null,\"e\":{\"f\":[1]},\"a\":2,\"\":\"\"}}"),
        "310 v0 #0 [-] [] a=2 b=-1.5e3 c=true e={\"f\":[1]} =");
}

static void
test_json_header_that_cannot_be_read(void)
{
    static const char *const rows[][2] = {
        { "", "a header cannot be read: an object is missing, at byte 0" },
        { "[]", "a header cannot be read: an object is missing, at byte 0" },
        { "null", "a header cannot be read: an object is missing, at byte 0" },
        { "{}x", "a header cannot be read: something follows the value, at byte 2" },
        { "{\"code\":2147483648}",
          "a header cannot be read: a value is no whole number, or one that does not fit, at byte "
          "18" },
        { "{\"code\":1.5}",
          "a header cannot be read: a value is no whole number, or one that does not fit, at byte "
          "11" },
        { "{\"extFields\":[]}", "a header cannot be read: an object is missing, at byte 13" },
        { "{\"extFields\":{\"a\":\"\\u0000\"}}",
          "a header cannot be read: a text holds a NUL, at byte 26" },
        { "{\"extFields\":{\"\\u0000\":1}}",
          "a header cannot be read: a key holds a NUL, at byte 23" },
        { "{\"remark\":\"a", "a header cannot be read: a string has no end, at byte 12" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_text(decode_json(rows[i][0]), rows[i][1]);
}

/* As RocketMQ 5.3.3 packs a REGISTER_BROKER with two fields and a remark. */
static const char packed[] = "\0\x67\0\0\0\0\0\0\5\0\0\0\0\0\0\0\1r\0\0\0\x0f"
                             "\0\1k\0\0\0\1v\0\1n\0\0\0\0";

static void
test_packed_header(void)
{
    g_autoptr(GByteArray) frame = frame_of(1, packed, sizeof packed - 1, "body");

    assert_text(decode(frame), "103 v0 #5 [r] [body] k=v n=");
}

static void
test_packed_header_that_was_cut(void)
{
    for (gsize length = 0; length < sizeof packed - 1; length++) {
        g_autoptr(GByteArray) frame = frame_of(1, packed, length, "");
        g_autofree char *text = decode(frame);

        g_assert_true(g_str_has_prefix(text, "a header cannot be read: "));
    }
}

static void
test_packed_lengths_that_lie(void)
{
    /* The places of the length of the remark, of all fields, of a name and of a value. */
    static const gsize places[] = { 13, 18, 22, 25 };

    for (gsize i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *header = g_memdup2(packed, sizeof packed - 1);
        g_autoptr(GByteArray) frame = NULL;
        g_autofree char *text = NULL;

        header[places[i]] = '\xff';
        frame = frame_of(1, header, sizeof packed - 1, "");
        text = decode(frame);

        g_assert_true(g_str_has_prefix(text, "a header cannot be read: "));
    }
}

static void
test_too_many_fields(void)
{
    g_autoptr(GString) header = g_string_new("{\"extFields\":{\"f\":1");
    g_autofree char *text = NULL;

    for (guint i = 0; i < REMOTING_MAX_FIELDS; i++)
        g_string_append_printf(header, ",\"f%u\":1", i);
    g_string_append(header, "}}");
    text = decode_json(header->str);

    g_assert_nonnull(strstr(text, "it has too many fields"));
}

/* ---- out ---- */

static void
test_answer_is_written_as_the_original_writes_it(void)
{
    static const char header[] =
        "{\"code\":17,\"extFields\":{\"a\":\"2\",\"b\":\"1\"},\"flag\":1,\"language\":\"JAVA\","
        "\"opaque\":7,\"remark\":\"No \\\"x\\\" / \xc3\xbc\\nSee\","
        "\"serializeTypeCurrentRPC\":\"JSON\",\"version\":479}";
    g_autoptr(GByteArray) expected = frame_of(0, header, sizeof header - 1, "xy");
    g_autoptr(RemotingCommand) request = remoting_command_new(NAMESRV_GET_ROUTE, 7);
    g_autoptr(RemotingCommand) answer =
        remoting_command_new_answer(request, REMOTING_TOPIC_NOT_EXIST, "No \"x\" / \xc3\xbc\nSee");
    g_autoptr(GByteArray) frame = g_byte_array_new();

    remoting_command_set(answer, "a", "1");
    remoting_command_set(answer, "b", "1");
    remoting_command_set(answer, "a", "2");
    remoting_command_set(answer, "c", NULL);
    remoting_command_set_body(answer, g_string_new("xy"));
    remoting_command_encode(answer, frame);

    g_assert_cmpmem(frame->data, frame->len, expected->data, expected->len);
}

static void
test_request_without_anything(void)
{
    static const char header[] = "{\"code\":106,\"flag\":0,\"language\":\"OTHER\",\"opaque\":1,"
                                 "\"serializeTypeCurrentRPC\":\"JSON\",\"version\":479}\r\n\r\n";
    g_autoptr(GByteArray) expected = frame_of(0, header, sizeof header - 1, "");
    g_autoptr(RemotingCommand) request = remoting_command_new(NAMESRV_GET_CLUSTER_INFO, 1);
    g_autoptr(GByteArray) frame = g_byte_array_new();

    remoting_command_encode(request, frame);

    g_assert_cmpmem(frame->data, frame->len, expected->data, expected->len);
}

static void
test_a_remark_in_an_error_is_one_short_line(void)
{
    g_autoptr(RemotingCommand) command = remoting_command_new(1, 0);
    g_autofree char *nothing = remoting_command_remark(command);
    g_autofree char *end = g_strnfill(500, 'y');
    g_autofree char *shown = NULL;

    g_assert_cmpstr(nothing, ==, "");
    command->remark = g_strconcat("\xc3\xbc\n\x1b[2J", end, NULL);
    shown = remoting_command_remark(command);

    g_assert_true(g_str_has_prefix(shown, "\xc3\xbc  [2Jyyy"));
    g_assert_true(g_str_has_suffix(shown, "yyy..."));
    g_assert_cmpint(g_utf8_strlen(shown, -1), ==, 203);
}

static void
test_field_values(void)
{
    g_autoptr(RemotingCommand) command = remoting_command_new(1, 1);
    g_autoptr(GError) error = NULL;
    gint64 number = 5;

    remoting_command_set_int(command, "id", -1);
    remoting_command_set_bool(command, "yes", TRUE);
    remoting_command_set(command, "YES", "True");
    remoting_command_set(command, "word", "1");

    g_assert_true(remoting_command_get_int(command, "none", 0, 9, &number, NULL));
    g_assert_cmpint(number, ==, 5);
    g_assert_true(remoting_command_get_int(command, "id", -1, 9, &number, NULL));
    g_assert_cmpint(number, ==, -1);
    g_assert_false(remoting_command_get_int(command, "id", 0, 9, &number, &error));
    g_assert_cmpstr(error->message, ==, "id is no number that it can be: -1");
    g_assert_true(remoting_command_get_bool(command, "yes"));
    g_assert_true(remoting_command_get_bool(command, "YES"));
    g_assert_false(remoting_command_get_bool(command, "word"));
    g_assert_false(remoting_command_get_bool(command, "none"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/remoting/length", test_frame_tells_how_long_it_is);
    g_test_add_func("/remoting/no-frame", test_what_is_no_frame_says_why);
    g_test_add_func("/remoting/decode-lengths", test_decoding_trusts_no_length);
    g_test_add_func("/remoting/limit", test_limit_is_the_originals);
    g_test_add_func("/remoting/json-header", test_json_header);
    g_test_add_func("/remoting/fields-without-quotes", test_fields_need_no_quotes);
    g_test_add_func("/remoting/json-header-refused", test_json_header_that_cannot_be_read);
    g_test_add_func("/remoting/packed-header", test_packed_header);
    g_test_add_func("/remoting/packed-header-cut", test_packed_header_that_was_cut);
    g_test_add_func("/remoting/packed-lengths", test_packed_lengths_that_lie);
    g_test_add_func("/remoting/too-many-fields", test_too_many_fields);
    g_test_add_func("/remoting/answer", test_answer_is_written_as_the_original_writes_it);
    g_test_add_func("/remoting/request", test_request_without_anything);
    g_test_add_func("/remoting/a-remark-in-an-error-is-one-short-line",
                    test_a_remark_in_an_error_is_one_short_line);
    g_test_add_func("/remoting/field-values", test_field_values);
    return g_test_run();
}
