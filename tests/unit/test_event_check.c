/* test_event_check.c - checking events one after another gives what checking each alone gives. */
#include "base/event_bytes.h"

#include <glib.h>
#include <string.h>

/* In memory of its own, so that a sanitizer sees a read past the end. */
static void
assert_same_verdict(EventShape *shape, const guint8 *data, gsize length)
{
    g_autofree guint8 *copy = g_memdup2(data, length);

    g_assert_cmpuint(event_bytes_check_next(shape, copy, length), ==,
                     event_bytes_check(copy, length));
}

static GByteArray *
build(const EventHeader *headers, guint n_headers, ByteSpan body)
{
    GByteArray *bytes = g_byte_array_new();

    g_byte_array_set_size(bytes, (guint) event_bytes_size(headers, n_headers, body));
    event_bytes_write(bytes->data, headers, n_headers, body);
    return bytes;
}

/* A shape that has seen enough of them to expect another. */
static void
learn(EventShape *shape, const GByteArray *event)
{
    for (guint i = 0; i < 8; i++)
        assert_same_verdict(shape, event->data, event->len);
    g_assert_cmpuint(shape->n_headers, >, 0);
}

static const EventHeader headers[] = {
    { { (const guint8 *) "host", 4 }, { (const guint8 *) "web-17", 6 } },
    { { (const guint8 *) "type", 4 }, { (const guint8 *) "access", 6 } },
};

static void
test_an_expected_event_may_have_any_body(void)
{
    g_autoptr(GByteArray) first = build(headers, 2, byte_span_of_text("body"));
    g_autofree char *text = g_strnfill(40000, 'x');
    EventShape shape = { 0 };

    learn(&shape, first);

    for (gsize length = 0; length <= 40000; length = length * 3 + 1) {
        g_autoptr(GByteArray) other = build(headers, 2, byte_span(text, length));

        g_assert_cmpuint(event_bytes_check_next(&shape, other->data, other->len), ==, other->len);
    }
}

static void
test_an_expected_event_that_is_cut_anywhere_is_none(void)
{
    g_autoptr(GByteArray) event = build(headers, 2, byte_span_of_text("body"));
    EventShape shape = { 0 };

    learn(&shape, event);

    for (guint length = 0; length < event->len; length++) {
        g_autofree guint8 *copy = g_memdup2(event->data, length);

        g_assert_cmpuint(event_bytes_check_next(&shape, copy, length), ==, 0);
    }
}

static void
test_a_key_that_comes_twice_is_noticed_in_an_expected_shape(void)
{
    g_autoptr(GByteArray) event = build(headers, 2, byte_span_of_text("body"));
    EventShape shape = { 0 };
    guint8 *second_key = event->data + 3 + 1 + 4 + 1 + 6 + 1;

    learn(&shape, event);
    memcpy(second_key, "host", 4);

    g_assert_cmpuint(event_bytes_check_next(&shape, event->data, event->len), ==, 0);
}

static GByteArray *
random_event(void)
{
    char texts[20][8];
    EventHeader some[10];
    guint n_headers = (guint) g_test_rand_int_range(0, 11);

    for (guint i = 0; i < 20; i++)
        g_snprintf(texts[i], sizeof texts[i], "%.*u", (int) g_test_rand_int_range(1, 4), i);
    for (guint i = 0; i < n_headers; i++)
        some[i] =
            (EventHeader){ byte_span_of_text(texts[2 * i]), byte_span_of_text(texts[2 * i + 1]) };
    return build(some, n_headers, byte_span_of_text("some body"));
}

/* Most of these are no events any more; some are of another shape. */
static void
test_damage_is_judged_alike(void)
{
    EventShape shape = { 0 };

    for (guint round = 0; round < 500; round++) {
        g_autoptr(GByteArray) event = random_event();

        for (guint i = 0; i < 6; i++)
            assert_same_verdict(&shape, event->data, event->len);
        for (guint i = 0; i < 60; i++) {
            guint at = (guint) g_test_rand_int_range(0, (gint32) event->len);
            guint8 before = event->data[at];

            event->data[at] = (guint8) g_test_rand_int_range(0, i % 2 ? 256 : 8);
            assert_same_verdict(&shape, event->data, event->len);
            event->data[at] = before;
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event-check/an-expected-event-may-have-any-body",
                    test_an_expected_event_may_have_any_body);
    g_test_add_func("/event-check/an-expected-event-that-is-cut-anywhere-is-none",
                    test_an_expected_event_that_is_cut_anywhere_is_none);
    g_test_add_func("/event-check/a-key-that-comes-twice-is-noticed-in-an-expected-shape",
                    test_a_key_that_comes_twice_is_noticed_in_an_expected_shape);
    g_test_add_func("/event-check/damage-is-judged-alike", test_damage_is_judged_alike);
    return g_test_run();
}
