/* test_event_check.c - checking many events gives what checking each alone gives. */
#include "base/event_bytes.h"

#include <glib.h>
#include <string.h>

#define MANY 10000

static void
add_event(GByteArray *bytes, const EventHeader *headers, guint n_headers, ByteSpan body)
{
    guint before = bytes->len;

    g_byte_array_set_size(bytes, before + (guint) event_bytes_size(headers, n_headers, body));
    event_bytes_write(bytes->data + before, headers, n_headers, body);
}

static const EventHeader headers[] = {
    { { (const guint8 *) "host", 4 }, { (const guint8 *) "web-17", 6 } },
    { { (const guint8 *) "type", 4 }, { (const guint8 *) "access", 6 } },
};

/* So many that another of their shape is expected. */
static GByteArray *
build_alike(guint n_events)
{
    GByteArray *bytes = g_byte_array_new();

    for (guint i = 0; i < n_events; i++)
        add_event(bytes, headers, 2, byte_span_of_text("body"));
    return bytes;
}

/* In memory of its own, so that a sanitizer sees a read past the end. Returns how many. */
static guint
assert_as_each_alone(const guint8 *data, gsize length)
{
    g_autofree guint8 *copy = g_memdup2(data, length);
    g_autofree guint32 *ends = g_new(guint32, MANY);
    guint n_events = event_bytes_check_many(copy, length, MANY, 0, ends);
    gsize at = 0;

    for (guint i = 0; i < n_events; i++) {
        at += event_bytes_check(copy + at, length - at);
        g_assert_cmpuint(ends[i], ==, at);
    }
    g_assert_cmpuint(event_bytes_check(copy + at, length - at), ==, 0);
    return n_events;
}

static void
test_no_more_events_are_checked_than_were_asked_for(void)
{
    g_autoptr(GByteArray) bytes = build_alike(10);
    guint32 ends[] = { 0, 0, 0, 77 };

    g_assert_cmpuint(event_bytes_check_many(bytes->data, bytes->len, 3, 1000, ends), ==, 3);

    g_assert_cmpuint(ends[0], ==, 1000 + bytes->len / 10);
    g_assert_cmpuint(ends[2], ==, 1000 + 3 * bytes->len / 10);
    g_assert_cmpuint(ends[3], ==, 77);
}

static void
test_events_alike_may_have_any_bodies(void)
{
    g_autoptr(GByteArray) bytes = build_alike(8);
    g_autofree char *text = g_strnfill(40000, 'x');
    guint n_events = 8;

    for (gsize length = 0; length <= 40000; length = length * 3 + 1, n_events++)
        add_event(bytes, headers, 2, byte_span(text, length));

    g_assert_cmpuint(assert_as_each_alone(bytes->data, bytes->len), ==, n_events);
}

static void
test_an_event_of_another_shape_is_one_too(void)
{
    g_autoptr(GByteArray) bytes = build_alike(8);
    const EventHeader longer = { byte_span_of_text("host"), byte_span_of_text("a longer value") };

    add_event(bytes, &longer, 1, byte_span_of_text("body"));
    add_event(bytes, NULL, 0, byte_span_of_text("body"));
    add_event(bytes, headers, 2, byte_span_of_text("body"));

    g_assert_cmpuint(assert_as_each_alone(bytes->data, bytes->len), ==, 11);
}

static void
test_events_end_where_the_bytes_are_cut(void)
{
    g_autoptr(GByteArray) bytes = build_alike(10);
    guint size = bytes->len / 10;

    for (guint length = 9 * size; length < 10 * size; length++)
        g_assert_cmpuint(assert_as_each_alone(bytes->data, length), ==, 9);
}

static void
test_a_key_that_comes_twice_is_noticed_in_an_expected_shape(void)
{
    g_autoptr(GByteArray) bytes = build_alike(10);
    guint8 *second_key = bytes->data + 9 * bytes->len / 10 + 3 + 1 + 4 + 1 + 6 + 1;

    g_assert_cmpmem(second_key, 4, "type", 4);
    memcpy(second_key, "host", 4);

    g_assert_cmpuint(assert_as_each_alone(bytes->data, bytes->len), ==, 9);
}

static void
add_random_event(GByteArray *bytes)
{
    char texts[20][8];
    EventHeader some[10];
    guint n_headers = (guint) g_test_rand_int_range(0, 11);

    for (guint i = 0; i < 20; i++)
        g_snprintf(texts[i], sizeof texts[i], "%.*u", (int) g_test_rand_int_range(1, 4), i);
    for (guint i = 0; i < n_headers; i++)
        some[i] =
            (EventHeader){ byte_span_of_text(texts[2 * i]), byte_span_of_text(texts[2 * i + 1]) };
    add_event(bytes, some, n_headers, byte_span_of_text("some body"));
}

/* Several of one shape, damaged somewhere: what is no event any more, or one of another shape. */
static void
test_damage_is_judged_alike(void)
{
    for (guint round = 0; round < 300; round++) {
        g_autoptr(GByteArray) one = g_byte_array_new();
        g_autoptr(GByteArray) bytes = g_byte_array_new();

        add_random_event(one);
        for (guint i = 0; i < 6; i++)
            g_byte_array_append(bytes, one->data, one->len);
        for (guint i = 0; i < 60; i++) {
            guint at = (guint) g_test_rand_int_range(0, (gint32) bytes->len);
            guint8 before = bytes->data[at];

            bytes->data[at] = (guint8) g_test_rand_int_range(0, i % 2 ? 256 : 8);
            assert_as_each_alone(bytes->data, bytes->len);
            bytes->data[at] = before;
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event-check/no-more-events-are-checked-than-were-asked-for",
                    test_no_more_events_are_checked_than_were_asked_for);
    g_test_add_func("/event-check/events-alike-may-have-any-bodies",
                    test_events_alike_may_have_any_bodies);
    g_test_add_func("/event-check/an-event-of-another-shape-is-one-too",
                    test_an_event_of_another_shape_is_one_too);
    g_test_add_func("/event-check/events-end-where-the-bytes-are-cut",
                    test_events_end_where_the_bytes_are_cut);
    g_test_add_func("/event-check/a-key-that-comes-twice-is-noticed-in-an-expected-shape",
                    test_a_key_that_comes_twice_is_noticed_in_an_expected_shape);
    g_test_add_func("/event-check/damage-is-judged-alike", test_damage_is_judged_alike);
    return g_test_run();
}
