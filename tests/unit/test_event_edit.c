/* test_event_edit.c - one event while interceptors look at it. */
#include "agent/core/event_edit.h"

#include <glib.h>

#include "base/batch_builder.h"
#include "tests/support/events.h"

#define MAX_BYTES ((gsize) 200000)

typedef struct {
    Batch *batch;
    EventEdit *edit;
} Fixture;

static void
fixture_open(Fixture *self, const char *event)
{
    EventView view;

    self->batch = batch_of(event, NULL);
    self->edit = event_edit_new();
    batch_view(self->batch, 0, &view);
    event_edit_open(self->edit, &view, MAX_BYTES);
}

static void
fixture_close(Fixture *self)
{
    event_edit_free(self->edit);
    batch_unref(self->batch);
}

static void
set(Fixture *self, const char *key, const char *value)
{
    event_edit_set_header(self->edit, byte_span_of_text(key), byte_span_of_text(value));
}

static void
set_body(Fixture *self, ByteSpan body)
{
    event_edit_begin_body(self->edit);
    event_edit_append_body(self->edit, body);
    event_edit_end_body(self->edit);
}

static guint
n_headers_of(Fixture *self)
{
    guint n_headers;

    event_edit_headers(self->edit, &n_headers);
    return n_headers;
}

/* The event as it would be written anew. */
static char *
written(Fixture *self)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(64, 1);
    g_autoptr(Batch) batch = NULL;
    guint n_headers;
    const EventHeader *headers = event_edit_headers(self->edit, &n_headers);

    batch_builder_add_event(builder, headers, n_headers, event_edit_body(self->edit));
    batch = batch_builder_finish(builder);
    return batch_to_text(batch);
}

#define assert_written(fixture, text)                 \
    G_STMT_START                                      \
    {                                                 \
        g_autofree char *written_ = written(fixture); \
        g_assert_cmpstr(written_, ==, text);          \
    }                                                 \
    G_STMT_END

static void
test_an_event_that_is_only_read_is_not_changed(void)
{
    Fixture f;
    ByteSpan value;

    fixture_open(&f, "a=1,b=2:body");

    g_assert_true(event_edit_find_header(f.edit, byte_span_of_text("b"), &value));
    g_assert_true(byte_span_equal(value, byte_span_of_text("2")));
    g_assert_false(event_edit_find_header(f.edit, byte_span_of_text("c"), &value));
    g_assert_cmpuint(n_headers_of(&f), ==, 2);
    g_assert_false(event_edit_is_changed(f.edit));
    fixture_close(&f);
}

static void
test_a_new_header_comes_last_and_an_existing_one_keeps_its_place(void)
{
    Fixture f;

    fixture_open(&f, "a=1,b=2,c=3:body");
    set(&f, "b", "two");
    set(&f, "d", "4");

    assert_written(&f, "a=1,b=two,c=3,d=4:body");
    g_assert_true(event_edit_is_changed(f.edit));
    fixture_close(&f);
}

static void
test_removing_a_header_keeps_the_order_of_the_others(void)
{
    Fixture f;

    fixture_open(&f, "a=1,b=2,c=3:body");
    event_edit_remove_header(f.edit, byte_span_of_text("b"));

    assert_written(&f, "a=1,c=3:body");
    g_assert_cmpuint(n_headers_of(&f), ==, 2);
    fixture_close(&f);
}

static gboolean
is_unwanted(const EventHeader *header, gconstpointer user)
{
    return byte_span_equal(header->value, byte_span_of_text(user));
}

static void
test_removing_many_headers_keeps_the_order_of_the_others(void)
{
    Fixture f;

    fixture_open(&f, "a=1,b=2,c=1,d=3,e=1:body");
    event_edit_remove_headers(f.edit, is_unwanted, "1");

    assert_written(&f, "b=2,d=3:body");
    g_assert_true(event_edit_is_changed(f.edit));
    fixture_close(&f);
}

static void
test_a_change_that_changes_nothing_is_none(void)
{
    Fixture f;

    fixture_open(&f, "a=1:body");
    set(&f, "a", "1");
    event_edit_remove_header(f.edit, byte_span_of_text("b"));
    event_edit_remove_headers(f.edit, is_unwanted, "2");
    set_body(&f, byte_span_of_text("body"));

    g_assert_false(event_edit_is_changed(f.edit));
    fixture_close(&f);
}

static void
test_a_body_may_become_empty_or_hold_nul(void)
{
    Fixture f;

    fixture_open(&f, "body");
    set_body(&f, byte_span("x\0y", 3));
    assert_written(&f, "x\\0y");
    set_body(&f, byte_span(NULL, 0));
    assert_written(&f, "");
    fixture_close(&f);
}

static void
test_a_body_is_written_in_pieces_beside_the_old_one(void)
{
    Fixture f;
    ByteSpan old;

    fixture_open(&f, "body");
    set_body(&f, byte_span_of_text("second"));
    old = event_edit_body(f.edit);
    event_edit_begin_body(f.edit);
    for (guint i = 0; i < 100; i++)
        g_assert_true(event_edit_append_body(f.edit, byte_span(old.data, 3)));
    g_assert_true(byte_span_equal(event_edit_body(f.edit), byte_span_of_text("second")));
    event_edit_end_body(f.edit);

    g_assert_cmpuint(event_edit_body(f.edit).length, ==, 300);
    g_assert_cmpmem(event_edit_body(f.edit).data + 297, 3, "sec", 3);
    fixture_close(&f);
}

static void
test_a_body_that_is_begun_and_not_ended_changes_nothing(void)
{
    Fixture f;

    fixture_open(&f, "body");
    event_edit_begin_body(f.edit);
    g_assert_true(event_edit_append_body(f.edit, byte_span_of_text("other")));

    g_assert_false(event_edit_is_changed(f.edit));
    assert_written(&f, "body");
    fixture_close(&f);
}

static void
test_a_body_beyond_the_bound_makes_the_event_fail(void)
{
    Fixture f;
    g_autofree char *half = g_strnfill(MAX_BYTES / 2, 'h');

    fixture_open(&f, "body");
    event_edit_begin_body(f.edit);
    g_assert_true(event_edit_append_body(f.edit, byte_span(half, MAX_BYTES / 2)));
    g_assert_true(event_edit_append_body(f.edit, byte_span(half, MAX_BYTES / 2)));
    g_assert_cmpint(event_edit_outcome(f.edit), ==, EVENT_EDIT_GOOD);
    g_assert_false(event_edit_append_body(f.edit, byte_span(half, 1)));
    event_edit_end_body(f.edit);

    g_assert_cmpint(event_edit_outcome(f.edit), ==, EVENT_EDIT_TOO_LARGE);
    g_assert_cmpuint(event_edit_body(f.edit).length, ==, 4);
    fixture_close(&f);
}

static void
test_headers_beyond_the_bound_make_the_event_fail(void)
{
    Fixture f;
    g_autofree char *half = g_strnfill(MAX_BYTES / 2, 'h');

    fixture_open(&f, "body");
    set(&f, "a", half);
    set(&f, "b", half);
    g_assert_cmpint(event_edit_outcome(f.edit), ==, EVENT_EDIT_GOOD);
    set(&f, "c", half);

    g_assert_cmpint(event_edit_outcome(f.edit), ==, EVENT_EDIT_TOO_LARGE);
    g_assert_cmpuint(n_headers_of(&f), ==, 2);
    fixture_close(&f);
}

static void
test_keys_and_values_are_copied(void)
{
    Fixture f;
    char key[] = "key";
    char value[] = "value";

    fixture_open(&f, "body");
    set(&f, key, value);
    key[0] = value[0] = '?';

    assert_written(&f, "key=value:body");
    fixture_close(&f);
}

static void
test_values_of_any_size_stay_valid_until_the_next_event(void)
{
    Fixture f;
    g_autofree char *large = g_strnfill(100000, 'v');
    ByteSpan first;
    ByteSpan last;

    fixture_open(&f, "body");
    set(&f, "first", "1");
    event_edit_find_header(f.edit, byte_span_of_text("first"), &first);
    for (guint i = 0; i < 2000; i++) {
        g_autofree char *key = g_strdup_printf("key%u", i);

        set(&f, key, "some value");
    }
    set(&f, "large", large);
    event_edit_find_header(f.edit, byte_span_of_text("large"), &last);

    g_assert_true(byte_span_equal(first, byte_span_of_text("1")));
    g_assert_true(byte_span_equal(last, byte_span_of_text(large)));
    g_assert_cmpuint(n_headers_of(&f), ==, 2002);
    fixture_close(&f);
}

static void
test_opening_the_next_event_forgets_the_one_before(void)
{
    Fixture f;
    g_autoptr(Batch) next = batch_of("z=26:next", NULL);
    EventView view;

    fixture_open(&f, "a=1:body");
    set(&f, "b", "2");
    event_edit_drop(f.edit);
    g_assert_true(event_edit_is_dropped(f.edit));
    batch_view(next, 0, &view);
    event_edit_open(f.edit, &view, MAX_BYTES);

    assert_written(&f, "z=26:next");
    g_assert_false(event_edit_is_changed(f.edit));
    g_assert_false(event_edit_is_dropped(f.edit));
    fixture_close(&f);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event-edit/reading-changes-nothing",
                    test_an_event_that_is_only_read_is_not_changed);
    g_test_add_func("/event-edit/headers-keep-their-places",
                    test_a_new_header_comes_last_and_an_existing_one_keeps_its_place);
    g_test_add_func("/event-edit/removing-keeps-the-order",
                    test_removing_a_header_keeps_the_order_of_the_others);
    g_test_add_func("/event-edit/removing-many",
                    test_removing_many_headers_keeps_the_order_of_the_others);
    g_test_add_func("/event-edit/a-change-that-is-none",
                    test_a_change_that_changes_nothing_is_none);
    g_test_add_func("/event-edit/any-body", test_a_body_may_become_empty_or_hold_nul);
    g_test_add_func("/event-edit/body-in-pieces",
                    test_a_body_is_written_in_pieces_beside_the_old_one);
    g_test_add_func("/event-edit/body-not-ended",
                    test_a_body_that_is_begun_and_not_ended_changes_nothing);
    g_test_add_func("/event-edit/body-too-large",
                    test_a_body_beyond_the_bound_makes_the_event_fail);
    g_test_add_func("/event-edit/headers-too-large",
                    test_headers_beyond_the_bound_make_the_event_fail);
    g_test_add_func("/event-edit/copies", test_keys_and_values_are_copied);
    g_test_add_func("/event-edit/any-size",
                    test_values_of_any_size_stay_valid_until_the_next_event);
    g_test_add_func("/event-edit/the-next-event",
                    test_opening_the_next_event_forgets_the_one_before);
    return g_test_run();
}
