/* test_batch.c - batches and the builder: what they hold and what they are charged. */
#include "base/batch.h"

#include <glib.h>
#include <string.h>

#include "base/batch_builder.h"

#define TEXT(t) byte_span_of_text(t)

/* n events whose bodies are "0", "1", ... behind two bytes of something else, as in a frame. */
static guint8 *
write_events(guint8 *out, guint n_events, guint32 *ret_offsets)
{
    guint8 *at = out + 2;

    for (guint i = 0; i < n_events; i++) {
        char body[16];

        ret_offsets[i] = (guint32) (at - out);
        g_snprintf(body, sizeof body, "%u", i);
        at = event_bytes_write(at, NULL, 0, TEXT(body));
    }
    ret_offsets[n_events] = (guint32) (at - out);
    return at;
}

static void
assert_bodies(const Batch *batch, guint n_events)
{
    g_assert_cmpuint(batch->n_events, ==, n_events);
    for (guint i = 0; i < n_events; i++) {
        EventView view;
        char body[16];

        g_snprintf(body, sizeof body, "%u", i);
        batch_view(batch, i, &view);
        g_assert_true(byte_span_equal(view.body, TEXT(body)));
    }
}

static void
test_a_frame_that_is_filled_is_kept_and_not_copied(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    Buffer *buffer = buffer_pool_get(pool, 256);
    guint32 offsets[31];
    g_autoptr(Batch) batch = NULL;

    write_events(buffer->data, 30, offsets);
    batch = batch_new_from_buffer(buffer, offsets, 30);

    g_assert_true(batch->buffer == buffer);
    g_assert_true(batch->bytes == buffer->data);
    g_assert_cmpuint(batch->allocated, >=, buffer->capacity + sizeof(Batch) + sizeof offsets);
    assert_bodies(batch, 30);
}

static void
test_a_frame_filled_less_than_half_is_copied_and_its_buffer_goes_back(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    Buffer *buffer = buffer_pool_get(pool, 1024);
    guint32 offsets[31];
    g_autoptr(Batch) batch = NULL;

    write_events(buffer->data, 30, offsets);
    batch = batch_new_from_buffer(buffer, offsets, 30);

    g_assert_null(batch->buffer);
    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 1024);
    g_assert_cmpuint(batch->allocated, <, 512);
    g_assert_cmpuint(batch->offsets[0], ==, 0);
    assert_bodies(batch, 30);
}

/* One event of exactly so many bytes, in a buffer of 512. */
static Batch *
batch_in_512(BufferPool *pool, gsize n_bytes)
{
    Buffer *buffer = buffer_pool_get(pool, 512);
    g_autofree guint8 *body = g_malloc0(n_bytes - 6);
    guint32 offsets[] = { 0, (guint32) n_bytes };

    g_assert_true(event_bytes_write(buffer->data, NULL, 0, byte_span(body, n_bytes - 6)) ==
                  buffer->data + n_bytes);
    return batch_new_from_buffer(buffer, offsets, 1);
}

static void
test_half_filled_is_filled_enough(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    g_autoptr(Batch) half = batch_in_512(pool, 256);
    g_autoptr(Batch) less = batch_in_512(pool, 255);

    g_assert_nonnull(half->buffer);
    g_assert_null(less->buffer);
}

static void
test_a_batch_gives_its_buffer_back_with_the_last_reference(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    Buffer *buffer = buffer_pool_get(pool, 256);
    guint32 offsets[31];
    Batch *batch;

    write_events(buffer->data, 30, offsets);
    batch = batch_new_from_buffer(buffer, offsets, 30);
    batch_ref(batch);

    batch_unref(batch);
    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 0);
    batch_unref(batch);
    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 256);
}

static void
test_a_batch_of_no_events_holds_nothing(void)
{
    const guint32 offsets[] = { 7 };
    guint8 frame[16] = { 0 };
    g_autoptr(Batch) batch = batch_new_copy(frame, offsets, 0);
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    g_autoptr(Batch) built = batch_builder_finish(builder);

    g_assert_cmpuint(batch->n_events, ==, 0);
    g_assert_cmpuint(batch_span(batch, 0, 0).length, ==, 0);
    g_assert_cmpuint(built->n_events, ==, 0);
}

static void
test_a_single_event_is_a_batch_of_one(void)
{
    const EventHeader header = { TEXT("k"), TEXT("v") };
    g_autoptr(Batch) batch = batch_new_single(&header, 1, TEXT("body"));
    EventView view;
    ByteSpan value;

    batch_view(batch, 0, &view);

    g_assert_cmpuint(batch->n_events, ==, 1);
    g_assert_true(byte_span_equal(view.body, TEXT("body")));
    g_assert_true(event_view_find_header(&view, TEXT("k"), &value));
    g_assert_true(byte_span_equal(value, TEXT("v")));
}

static void
test_a_builder_joins_slices_and_events_in_order(void)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    guint8 frame[512];
    guint32 offsets[11];
    g_autoptr(Batch) source = NULL;
    g_autoptr(Batch) joined = NULL;

    write_events(frame, 10, offsets);
    source = batch_new_copy(frame, offsets, 10);
    batch_builder_add_event(builder, NULL, 0, TEXT("0"));
    batch_builder_add_slice(builder, source, 1, 4);
    batch_builder_add_slice(builder, source, 5, 0);
    batch_builder_add_slice(builder, source, 5, 5);
    joined = batch_builder_finish(builder);

    assert_bodies(joined, 10);
}

static void
test_a_builder_begins_anew_after_each_batch(void)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(64, 1);
    g_autofree guint8 *large = g_malloc0(100000);
    g_autoptr(Batch) first = NULL;
    g_autoptr(Batch) second = NULL;

    batch_builder_add_event(builder, NULL, 0, byte_span(large, 100000));
    first = batch_builder_finish(builder);
    g_assert_cmpuint(batch_builder_n_events(builder), ==, 0);
    g_assert_cmpuint(batch_builder_n_bytes(builder), ==, 0);
    batch_builder_add_event(builder, NULL, 0, TEXT("0"));
    second = batch_builder_finish(builder);

    g_assert_cmpuint(first->n_events, ==, 1);
    assert_bodies(second, 1);
}

static void
test_a_builder_never_promises_less_than_the_batch_is_charged(void)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    g_autofree guint8 *body = g_malloc0(70000);

    for (gsize length = 0; length < 70000; length += 997) {
        g_autoptr(Batch) batch = NULL;
        gsize foretold = batch_builder_allocated_with(
            builder, 2, 2 * event_bytes_size(NULL, 0, byte_span(body, length)));
        gsize promised;

        batch_builder_add_event(builder, NULL, 0, byte_span(body, length));
        batch_builder_add_event(builder, NULL, 0, byte_span(body, length));
        promised = batch_builder_allocated(builder);
        batch = batch_builder_finish(builder);

        g_assert_cmpuint(foretold, ==, promised);
        g_assert_cmpuint(batch->allocated, <=, promised);
        g_assert_cmpuint(batch->allocated, >, 2 * length);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/batch/a-frame-that-is-filled-is-kept-and-not-copied",
                    test_a_frame_that_is_filled_is_kept_and_not_copied);
    g_test_add_func("/batch/a-frame-filled-less-than-half-is-copied",
                    test_a_frame_filled_less_than_half_is_copied_and_its_buffer_goes_back);
    g_test_add_func("/batch/half-filled-is-filled-enough", test_half_filled_is_filled_enough);
    g_test_add_func("/batch/a-batch-gives-its-buffer-back-with-the-last-reference",
                    test_a_batch_gives_its_buffer_back_with_the_last_reference);
    g_test_add_func("/batch/a-batch-of-no-events-holds-nothing",
                    test_a_batch_of_no_events_holds_nothing);
    g_test_add_func("/batch/a-single-event-is-a-batch-of-one",
                    test_a_single_event_is_a_batch_of_one);
    g_test_add_func("/batch/a-builder-joins-slices-and-events-in-order",
                    test_a_builder_joins_slices_and_events_in_order);
    g_test_add_func("/batch/a-builder-begins-anew-after-each-batch",
                    test_a_builder_begins_anew_after_each_batch);
    g_test_add_func("/batch/a-builder-never-promises-less-than-the-batch-is-charged",
                    test_a_builder_never_promises_less_than_the_batch_is_charged);
    return g_test_run();
}
