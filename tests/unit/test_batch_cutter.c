/* test_batch_cutter.c - calls are as large as they may be, and no larger. */
#include "client/batch_cutter.h"

#include <glib.h>

#include "tests/support/events.h"
#include "thrift/wire/call.h"
#include "thrift/wire/connection.h"

/* "3 3 1 end": events of each call. (transfer full) */
static char *
cut(const BatchSlice *slices, guint n_slices, WireProtocol protocol, guint max_events)
{
    g_autoptr(GArray) call = g_array_new(FALSE, FALSE, sizeof(BatchSlice));
    g_autoptr(GString) text = g_string_new(NULL);
    BatchCutter cutter;
    guint n_events;
    Cut outcome;

    batch_cutter_init(&cutter, slices, n_slices, protocol, max_events);
    while ((outcome = batch_cutter_next(&cutter, call, &n_events)) == CUT_CALL) {
        const BatchSlice *parts = (const BatchSlice *) (gpointer) call->data;

        g_assert_cmpuint(wire_frame_size(protocol, parts, call->len), <=, WIRE_MAX_FRAME);
        g_string_append_printf(text, "%u ", n_events);
    }
    g_string_append(text, outcome == CUT_END ? "end" : "too large");
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
assert_cut(const Batch *batch, WireProtocol protocol, guint max_events, const char *expected)
{
    BatchSlice slice = { .batch = (Batch *) batch, .count = batch->n_events };
    g_autofree char *calls = cut(&slice, 1, protocol, max_events);

    g_assert_cmpstr(calls, ==, expected);
}

static void
test_by_count(void)
{
    g_autoptr(Batch) batch = batch_of_numbers(0, 7);

    assert_cut(batch, WIRE_COMPACT, 3, "3 3 1 end");
    assert_cut(batch, WIRE_COMPACT, 7, "7 end");
    assert_cut(batch, WIRE_COMPACT, 100, "7 end");
    assert_cut(batch, WIRE_BINARY, 1, "1 1 1 1 1 1 1 end");
}

static void
test_a_call_may_have_parts_of_many_slices_in_order(void)
{
    g_autoptr(GArray) call = g_array_new(FALSE, FALSE, sizeof(BatchSlice));
    g_autoptr(Batch) batch = batch_of_numbers(0, 10);
    const BatchSlice slices[] = { { batch, 0, 2 }, { batch, 5, 0 }, { batch, 4, 4 } };
    const char *expected[] = { "0 1 4", "5 6 7" };
    BatchCutter cutter;
    guint n_events;

    batch_cutter_init(&cutter, slices, G_N_ELEMENTS(slices), WIRE_COMPACT, 3);
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_autofree char *text = NULL;

        g_assert_cmpint(batch_cutter_next(&cutter, call, &n_events), ==, CUT_CALL);
        text = slices_to_text((const BatchSlice *) (gpointer) call->data, call->len);
        g_assert_cmpstr(text, ==, expected[i]);
    }
    g_assert_cmpint(batch_cutter_next(&cutter, call, &n_events), ==, CUT_END);
}

static void
test_by_bytes_below_the_frame_limit(void)
{
    g_autoptr(Batch) thirds = batch_of_size(7, WIRE_MAX_FRAME / 3 - 100);
    g_autoptr(Batch) halves = batch_of_size(3, WIRE_MAX_FRAME / 2);

    assert_cut(thirds, WIRE_COMPACT, 100, "3 3 1 end");
    assert_cut(thirds, WIRE_BINARY, 100, "3 3 1 end");
    assert_cut(thirds, WIRE_COMPACT, 2, "2 2 2 1 end");
    assert_cut(halves, WIRE_COMPACT, 100, "1 1 1 end");
}

static gsize
overhead(WireProtocol protocol)
{
    g_autoptr(Batch) batch = batch_of_size(1, WIRE_MAX_FRAME);
    BatchSlice slice = { .batch = batch, .count = 1 };

    return wire_frame_size(protocol, &slice, 1) - WIRE_MAX_FRAME;
}

static void
test_the_largest_event_that_fits_goes_and_one_byte_more_does_not(WireProtocol protocol)
{
    gsize largest = WIRE_MAX_FRAME - overhead(protocol);
    g_autoptr(Batch) fits = batch_of_size(1, largest);
    g_autoptr(Batch) too_large = batch_of_size(1, largest + 1);

    assert_cut(fits, protocol, 10, "1 end");
    assert_cut(too_large, protocol, 10, "too large");
}

static void
test_the_largest_event(void)
{
    test_the_largest_event_that_fits_goes_and_one_byte_more_does_not(WIRE_COMPACT);
    test_the_largest_event_that_fits_goes_and_one_byte_more_does_not(WIRE_BINARY);
}

static void
test_what_stands_before_a_too_large_event_is_still_cut(void)
{
    g_autoptr(Batch) small = batch_of_numbers(0, 5);
    g_autoptr(Batch) large = batch_of_size(1, WIRE_MAX_FRAME);
    const BatchSlice slices[] = { { small, 0, 5 }, { large, 0, 1 }, { small, 0, 1 } };
    g_autofree char *calls = cut(slices, G_N_ELEMENTS(slices), WIRE_COMPACT, 3);

    g_assert_cmpstr(calls, ==, "3 2 too large");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/batch-cutter/by-count", test_by_count);
    g_test_add_func("/batch-cutter/a-call-may-have-parts-of-many-slices-in-order",
                    test_a_call_may_have_parts_of_many_slices_in_order);
    g_test_add_func("/batch-cutter/by-bytes-below-the-frame-limit",
                    test_by_bytes_below_the_frame_limit);
    g_test_add_func("/batch-cutter/the-largest-event-that-fits-goes-and-one-byte-more-does-not",
                    test_the_largest_event);
    g_test_add_func("/batch-cutter/what-stands-before-a-too-large-event-is-still-cut",
                    test_what_stands_before_a_too_large_event_is_still_cut);
    return g_test_run();
}
