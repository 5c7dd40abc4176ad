/* test_event_format.c - records as text, with headers, and as JSON that loses nothing. */
#include "base/event_format.h"

#include <glib.h>
#include <string.h>

#include "tests/support/event_maker.h"

static void
assert_record(EventFormat format, MadeEvent *event, const char *expected)
{
    g_autoptr(GString) record = g_string_new(NULL);

    event_format_append(format, &event->view, record);
    g_assert_cmpmem(record->str, record->len, expected, strlen(expected));
}

static void
test_text_is_the_body_and_a_newline(void)
{
    g_autoptr(MadeEvent) plain = MADE_EVENT("a line", "k=v");
    g_autoptr(MadeEvent) two = MADE_EVENT("two\nlines\n");
    g_autoptr(MadeEvent) empty = MADE_EVENT("");

    assert_record(EVENT_FORMAT_TEXT, plain, "a line\n");
    assert_record(EVENT_FORMAT_TEXT, two, "two\nlines\n\n");
    assert_record(EVENT_FORMAT_TEXT, empty, "\n");
}

static void
test_headers_stand_before_the_body_as_flume_prints_them(void)
{
    g_autoptr(MadeEvent) event = MADE_EVENT("body", "k=v", "k2=v2");
    g_autoptr(MadeEvent) bare = MADE_EVENT("body");

    assert_record(EVENT_FORMAT_HEADERS_AND_TEXT, event, "{k=v, k2=v2} body\n");
    assert_record(EVENT_FORMAT_HEADERS_AND_TEXT, bare, "{} body\n");
}

static void
test_json_is_one_object_a_line(void)
{
    g_autoptr(MadeEvent) event = MADE_EVENT("two\n\"lines\" \xc3\xa9", "k=v", "k2=\\");
    g_autoptr(MadeEvent) bare = MADE_EVENT("");

    assert_record(EVENT_FORMAT_JSON, event,
                  "{\"headers\":{\"k\":\"v\",\"k2\":\"\\\\\"},"
                  "\"body\":\"two\\n\\\"lines\\\" \xc3\xa9\"}\n");
    assert_record(EVENT_FORMAT_JSON, bare, "{\"headers\":{},\"body\":\"\"}\n");
}

static void
test_json_keeps_nul_as_an_escape(void)
{
    g_autoptr(MadeEvent) event = made_event_new_bytes(NULL, 0, byte_span("a\0b\0", 4));

    assert_record(EVENT_FORMAT_JSON, event, "{\"headers\":{},\"body\":\"a\\u0000b\\u0000\"}\n");
}

static void
test_json_gives_bytes_that_are_not_utf8_in_base64(void)
{
    g_autoptr(MadeEvent) body = MADE_EVENT("\xff\xfe");
    g_autoptr(MadeEvent) header = MADE_EVENT("b", "k=v", "\xff=v", "k2=\xe9");
    g_autoptr(MadeEvent) nul = made_event_new_bytes(NULL, 0, byte_span("\0\xff", 2));

    assert_record(EVENT_FORMAT_JSON, body, "{\"headers\":{},\"body_base64\":\"//4=\"}\n");
    assert_record(EVENT_FORMAT_JSON, nul, "{\"headers\":{},\"body_base64\":\"AP8=\"}\n");
    assert_record(EVENT_FORMAT_JSON, header,
                  "{\"headers\":{\"k\":\"v\"},\"headers_base64\":{\"/w==\":\"dg==\","
                  "\"azI=\":\"6Q==\"},\"body\":\"b\"}\n");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event-format/text", test_text_is_the_body_and_a_newline);
    g_test_add_func("/event-format/headers-and-text",
                    test_headers_stand_before_the_body_as_flume_prints_them);
    g_test_add_func("/event-format/json", test_json_is_one_object_a_line);
    g_test_add_func("/event-format/nul", test_json_keeps_nul_as_an_escape);
    g_test_add_func("/event-format/base64", test_json_gives_bytes_that_are_not_utf8_in_base64);
    return g_test_run();
}
