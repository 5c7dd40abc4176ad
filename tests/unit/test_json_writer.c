/* test_json_writer.c - commas, escapes, and bytes that are no text. */
#include "base/json_writer.h"

#include <gio/gio.h>
#include <glib.h>
#include <string.h>

static void
test_commas_stand_between_values_and_nowhere_else(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    JsonWriter writer;

    json_writer_init(&writer, out);
    json_open(&writer, NULL, '{');
    json_text(&writer, "text", "a");
    json_text(&writer, "nothing", NULL);
    json_open(&writer, "list", '[');
    json_int(&writer, NULL, G_MININT64);
    json_bool(&writer, NULL, TRUE);
    json_open(&writer, NULL, '{');
    json_close(&writer, '}');
    json_close(&writer, ']');
    json_bool(&writer, "last", FALSE);
    json_close(&writer, '}');

    g_assert_cmpstr(out->str, ==,
                    "{\"text\":\"a\",\"nothing\":null,\"list\":[-9223372036854775808,true,{}],"
                    "\"last\":false}");
}

static void
assert_quoted(const void *bytes, gsize length, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);

    json_append_quoted(out, byte_span(bytes, length));
    g_assert_cmpstr(out->str, ==, expected);
}

static void
test_what_json_does_not_allow_in_a_string_is_escaped(void)
{
    assert_quoted("", 0, "\"\"");
    assert_quoted(NULL, 0, "\"\"");
    assert_quoted("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    assert_quoted("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
    assert_quoted("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\x7f\"");
    assert_quoted("grüße €", strlen("grüße €"), "\"grüße €\"");
}

static void
test_each_byte_that_is_not_utf8_becomes_one_replacement_character(void)
{
    assert_quoted("\xff\xfe", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_quoted("a\xe2\x82", 3, "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_quoted("\xc0\x80z", 3, "\"\xef\xbf\xbd\xef\xbf\xbdz\"");
    assert_quoted("\xed\xa0\x80\n", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\n\"");
}

static void
test_keys_and_values_may_be_any_bytes(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    JsonWriter writer;

    json_writer_init(&writer, out);
    json_open(&writer, NULL, '{');
    json_bytes(&writer, byte_span("k\0", 2), byte_span("\xff", 1));
    json_bytes(&writer, byte_span("", 0), byte_span("", 0));
    json_close(&writer, '}');

    g_assert_cmpstr(out->str, ==, "{\"k\\u0000\":\"\xef\xbf\xbd\",\"\":\"\"}");
}

static void
test_another_json_reader_sees_every_character_that_was_written(void)
{
    static const char check[] = "import json, sys\n"
                                "seen = json.loads(sys.stdin.buffer.read().decode())\n"
                                "assert seen == [chr(c) for c in range(0xd800)] + ['\\U0010ffff']";
    g_autofree char *python = g_find_program_in_path("python3");
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GSubprocess) process = NULL;
    g_autoptr(GBytes) input = NULL;
    g_autoptr(GError) error = NULL;
    JsonWriter writer;

    if (python == NULL) {
        g_test_skip("there is no python3");
        return;
    }
    json_writer_init(&writer, out);
    json_open(&writer, NULL, '[');
    for (gunichar c = 0; c <= 0xd800; c++) {
        char text[6];
        gsize length = (gsize) g_unichar_to_utf8(c == 0xd800 ? 0x10ffff : c, text);

        json_bytes(&writer, byte_span(NULL, 0), byte_span(text, length));
    }
    json_close(&writer, ']');
    input = g_bytes_new(out->str, out->len);

    process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDIN_PIPE, &error, python, "-c", check, NULL);
    g_assert_no_error(error);
    g_subprocess_communicate(process, input, NULL, NULL, NULL, &error);
    g_assert_no_error(error);

    g_assert_true(g_subprocess_get_successful(process));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json-writer/commas-stand-between-values",
                    test_commas_stand_between_values_and_nowhere_else);
    g_test_add_func("/json-writer/what-json-does-not-allow-is-escaped",
                    test_what_json_does_not_allow_in_a_string_is_escaped);
    g_test_add_func("/json-writer/each-byte-that-is-not-utf8-becomes-one-replacement",
                    test_each_byte_that_is_not_utf8_becomes_one_replacement_character);
    g_test_add_func("/json-writer/keys-and-values-may-be-any-bytes",
                    test_keys_and_values_may_be_any_bytes);
    g_test_add_func("/json-writer/another-reader-sees-every-character",
                    test_another_json_reader_sees_every_character_that_was_written);
    return g_test_run();
}
