/* test_event_window.c - what an application calls an event becomes canonical bytes. */
#include "client/event_window.h"

#include <glib.h>

static void
assert_event(const Batch *batch, guint index, const char *expected)
{
    EventHeaderIter iter;
    EventHeader header;
    EventView view;
    g_autoptr(GString) text = g_string_new(NULL);
    ByteSpan bytes = batch_span(batch, index, 1);

    g_assert_cmpuint(event_bytes_check(bytes.data, bytes.length), ==, bytes.length);
    batch_view(batch, index, &view);
    event_header_iter_init(&iter, &view);
    while (event_header_iter_next(&iter, &header))
        g_string_append_printf(text, "%.*s=%.*s ", (int) header.key.length, header.key.data,
                               (int) header.value.length, header.value.data);
    g_string_append_len(text, (const char *) view.body.data, (gssize) view.body.length);
    g_assert_cmpstr(text->str, ==, expected);
}

static void
test_headers_and_bodies_are_as_they_were(void)
{
    static const LeatHeader headers[] = { { "app", "shop" },
                                          { "", "empty name" },
                                          { "none", NULL } };
    static const LeatEvent events[] = {
        { .body = "one", .body_length = 3, .headers = headers, .n_headers = 3 },
        { .body = NULL },
        { .body = "three", .body_length = 5 },
    };
    g_autoptr(GError) error = NULL;
    g_autoptr(Batch) batch = event_window_encode(events, 3, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(batch->n_events, ==, 3);
    assert_event(batch, 0, "app=shop =empty name none= one");
    assert_event(batch, 1, "");
    assert_event(batch, 2, "three");
}

static void
test_of_several_headers_with_one_name_the_last_one_counts(void)
{
    static const LeatHeader headers[] = {
        { "a", "1" }, { "b", "2" }, { "a", "3" }, { "c", "4" }, { "b", "5" },
    };
    static const LeatEvent events[] = {
        { .body = "x", .body_length = 1, .headers = headers, .n_headers = 5 },
        { .body = "y", .body_length = 1 }
    };
    g_autoptr(Batch) batch = event_window_encode(events, 2, NULL);

    assert_event(batch, 0, "a=3 c=4 b=5 x");
    assert_event(batch, 1, "y");
}

static void
test_a_window_ends_before_it_becomes_too_large(void)
{
    gsize length = 10 * 1024 * 1024;
    g_autofree char *body = g_malloc0(length);
    LeatEvent events[20];
    g_autoptr(Batch) batch = NULL;

    for (guint i = 0; i < 20; i++)
        events[i] = (LeatEvent){ .body = body, .body_length = length };
    batch = event_window_encode(events, 20, NULL);

    g_assert_cmpuint(batch->n_events, ==, 7);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event-window/headers-and-bodies-are-as-they-were",
                    test_headers_and_bodies_are_as_they_were);
    g_test_add_func("/event-window/of-several-headers-with-one-name-the-last-one-counts",
                    test_of_several_headers_with_one_name_the_last_one_counts);
    g_test_add_func("/event-window/a-window-ends-before-it-becomes-too-large",
                    test_a_window_ends_before_it_becomes_too_large);
    return g_test_run();
}
