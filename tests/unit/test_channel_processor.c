/* test_channel_processor.c - a batch goes into all its channels, or the source is told. */
#include "agent/core/channel_processor.h"

#include <glib.h>

#include "agent/builtin.h"
#include "base/clock.h"
#include "tests/support/events.h"
#include "tests/support/fake_channel.h"
#include "tests/support/intercept.h"
#include "tests/support/select.h"
#include "tests/support/test_part.h"

/* ---- a source's processor over such channels ---- */

#define MAX_CHANNELS 4

typedef struct {
    FakeChannel *channels[MAX_CHANNELS];
    guint n_channels;
    Selector *selector;
    GPtrArray *interceptors;
    Component *source;
    MetricSet *metrics; /* the source's */
    ChannelProcessor *processor;
    Put put;
    gint n_ready; /* atomic */
} Fixture;

static void
fixture_ready(Put *put)
{
    Fixture *self = (Fixture *) (gpointer) ((char *) put - G_STRUCT_OFFSET(Fixture, put));

    g_atomic_int_inc(&self->n_ready);
}

/* channels as in "a b | c". */
static void
fixture_open(Fixture *self, const SelectorType *selector, const char *channels, const char *options)
{
    g_autoptr(GPtrArray) array = g_ptr_array_new();

    *self = (Fixture){ .put = { .ready = fixture_ready } };
    self->selector = selector_new(selector, channels, options, NULL);
    self->n_channels = self->selector->n_channels;
    for (guint i = 0; i < self->n_channels; i++) {
        self->channels[i] = fake_channel_new(self->selector->channel_names[i]);
        g_ptr_array_add(array, self->channels[i]);
    }
    self->interceptors = g_ptr_array_new_with_free_func((GDestroyNotify) interceptor_free);
    self->source = test_part_new(&sequence_source.base, COMPONENT_SOURCE, "test", "channels: a");
    self->metrics = self->source->metrics;
    self->processor = channel_processor_new(self->interceptors, self->selector, array,
                                            self->selector->n_required, self->source);
}

static void
fixture_intercept(Fixture *self, const InterceptorType *type, const char *options)
{
    g_autoptr(GPtrArray) array = g_ptr_array_new();

    for (guint i = 0; i < self->n_channels; i++)
        g_ptr_array_add(array, self->channels[i]);
    g_ptr_array_add(self->interceptors, interceptor_new(type, options));
    channel_processor_free(self->processor);
    self->processor = channel_processor_new(self->interceptors, self->selector, array,
                                            self->selector->n_required, self->source);
}

static void
fixture_close(Fixture *self)
{
    channel_processor_free(self->processor);
    for (guint i = 0; i < self->n_channels; i++)
        component_free(&self->channels[i]->base.base);
    selector_free(self->selector);
    g_ptr_array_unref(self->interceptors);
    component_free(self->source);
}

static PutResult
put(Fixture *self, Batch *batch /* (transfer full) */, GError **error)
{
    g_autoptr(Batch) owned = batch;

    return channel_processor_put(self->processor, owned, &self->put, error);
}

static PutResult
put_two(Fixture *self)
{
    g_autoptr(GError) error = NULL;
    PutResult result = put(self, batch_of("x", "y", NULL), &error);

    g_assert_cmpint(error != NULL, ==, result == PUT_FAILED);
    return result;
}

static gboolean
finish(Fixture *self, int code)
{
    g_autoptr(GError) error = NULL;
    gboolean ok = channel_processor_finish(&self->put, &error);

    if (!ok)
        g_assert_error(error, CHANNEL_ERROR, code);
    return ok;
}

/* ---- one channel ---- */

static void
test_one_channel_gets_the_very_batch_and_answers(void)
{
    Fixture f;
    g_autoptr(Batch) batch = batch_of("x", NULL);

    fixture_open(&f, &replicating_selector, "a", "");
    f.channels[0]->answer = PUT_DONE;

    g_assert_cmpint(put(&f, batch_ref(batch), NULL), ==, PUT_DONE);
    g_assert_true(f.channels[0]->batch == batch);
    g_assert_cmpuint(f.put.n_copied, ==, 0);
    f.channels[0]->answer = PUT_FAILED;
    g_assert_cmpint(put_two(&f), ==, PUT_FAILED);
    g_assert_cmpint(f.n_ready, ==, 0);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_CHANNEL_FAILURES), ==, 1);
    fixture_close(&f);
}

static void
test_one_pending_channel_makes_ready_once_it_is_done(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a", "");
    f.channels[0]->answer = PUT_PENDING;
    f.channels[0]->base.put_timeout_us = G_USEC_PER_SEC;

    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);
    g_assert_cmpint(f.put.deadline_us, <=, clock_deadline_us(G_USEC_PER_SEC));
    g_assert_cmpint(f.n_ready, ==, 0);
    fake_channel_complete(f.channels[0], NULL);
    g_assert_cmpint(f.n_ready, ==, 1);
    g_assert_true(finish(&f, 0));
    fixture_close(&f);
}

static void
test_one_pending_channel_may_fail_later(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a", "");
    f.channels[0]->answer = PUT_PENDING;
    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);
    fake_channel_complete(f.channels[0], "disk");

    g_assert_false(finish(&f, CHANNEL_ERROR_IO));
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_CHANNEL_FAILURES), ==, 1);
    fixture_close(&f);
}

static void
test_one_pending_channel_may_expire(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a", "");
    f.channels[0]->answer = PUT_PENDING;
    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);

    g_assert_true(channel_processor_expire(&f.put));
    g_assert_false(finish(&f, CHANNEL_ERROR_TIMEOUT));
    g_assert_cmpint(f.n_ready, ==, 0);
    fixture_close(&f);
}

static void
test_what_cannot_be_cancelled_becomes_ready(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a", "");
    f.channels[0]->answer = PUT_PENDING;
    f.channels[0]->is_late = TRUE;
    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);

    g_assert_false(channel_processor_expire(&f.put));
    fake_channel_complete(f.channels[0], NULL);
    g_assert_cmpint(f.n_ready, ==, 1);
    g_assert_true(finish(&f, 0));
    fixture_close(&f);
}

/* ---- several channels ---- */

static void
test_required_channels_are_put_into_in_parallel(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b c", "");
    f.channels[0]->answer = PUT_PENDING;
    f.channels[1]->answer = PUT_DONE;
    f.channels[2]->answer = PUT_PENDING;

    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);
    g_assert_nonnull(f.channels[0]->waiting);
    g_assert_nonnull(f.channels[2]->waiting);
    g_assert_true(f.channels[0]->batch == f.channels[1]->batch);
    fake_channel_complete(f.channels[2], NULL);
    g_assert_cmpint(f.n_ready, ==, 0);
    fake_channel_complete(f.channels[0], NULL);
    g_assert_cmpint(f.n_ready, ==, 1);
    g_assert_true(finish(&f, 0));
    fixture_close(&f);
}

static void
test_the_earliest_timeout_of_those_that_wait_is_the_deadline(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b c d", "");
    for (guint i = 0; i < 4; i++) {
        f.channels[i]->base.put_timeout_us = (gint64[]){ 60, 1, 30, 45 }[i] * G_USEC_PER_SEC;
        f.channels[i]->answer = i == 1 ? PUT_DONE : PUT_PENDING;
    }
    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);

    g_assert_cmpint(f.put.deadline_us, >, clock_deadline_us(20 * G_USEC_PER_SEC));
    g_assert_cmpint(f.put.deadline_us, <=, clock_deadline_us(30 * G_USEC_PER_SEC));
    g_assert_true(channel_processor_expire(&f.put));
    g_assert_false(finish(&f, CHANNEL_ERROR_TIMEOUT));
    fixture_close(&f);
}

static void
test_all_done_at_once_needs_no_ready(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b", "");
    f.channels[0]->answer = f.channels[1]->answer = PUT_DONE;

    g_assert_cmpint(put_two(&f), ==, PUT_DONE);
    g_assert_cmpint(f.n_ready, ==, 0);
    fixture_close(&f);
}

static void
test_a_refusal_calls_off_what_waits_and_what_is_to_come(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b c", "");
    f.channels[0]->answer = PUT_PENDING;
    f.channels[1]->answer = PUT_FAILED;
    f.channels[2]->answer = PUT_DONE;

    g_assert_cmpint(put_two(&f), ==, PUT_FAILED);
    g_assert_cmpuint(f.channels[0]->n_cancelled, ==, 1);
    g_assert_cmpuint(f.channels[2]->n_puts, ==, 0);
    fixture_close(&f);
}

static void
test_a_refusal_waits_for_what_cannot_be_called_off(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b", "");
    f.channels[0]->answer = PUT_PENDING;
    f.channels[0]->is_late = TRUE;
    f.channels[1]->answer = PUT_FAILED;

    g_assert_cmpint(put(&f, batch_of("x", NULL), NULL), ==, PUT_PENDING);
    fake_channel_complete(f.channels[0], NULL);
    g_assert_cmpint(f.n_ready, ==, 1);
    g_assert_false(finish(&f, CHANNEL_ERROR_IO));
    fixture_close(&f);
}

static void
test_one_late_failure_fails_all(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b", "");
    f.channels[0]->answer = f.channels[1]->answer = PUT_PENDING;
    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);
    fake_channel_complete(f.channels[0], NULL);
    fake_channel_complete(f.channels[1], "disk");

    g_assert_cmpint(f.n_ready, ==, 1);
    g_assert_false(finish(&f, CHANNEL_ERROR_IO));
    fixture_close(&f);
}

static void
test_expiry_cancels_what_waits_and_leaves_the_rest_to_ready(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b", "");
    f.channels[0]->answer = f.channels[1]->answer = PUT_PENDING;
    f.channels[1]->is_late = TRUE;
    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);

    g_assert_false(channel_processor_expire(&f.put));
    g_assert_cmpuint(f.channels[0]->n_cancelled, ==, 1);
    fake_channel_complete(f.channels[1], NULL);
    g_assert_cmpint(f.n_ready, ==, 1);
    g_assert_false(finish(&f, CHANNEL_ERROR_TIMEOUT));
    fixture_close(&f);
}

/* ---- optional channels ---- */

static void
test_optional_channels_come_after_the_required_ones(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a | b", "");
    f.channels[0]->answer = PUT_PENDING;
    f.channels[1]->answer = PUT_DONE;
    g_assert_cmpint(put_two(&f), ==, PUT_PENDING);
    g_assert_cmpuint(f.channels[1]->n_puts, ==, 0);
    fake_channel_complete(f.channels[0], NULL);

    g_assert_true(finish(&f, 0));
    g_assert_cmpuint(f.channels[1]->n_puts, ==, 1);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_OPTIONAL_FAILURES), ==, 0);
    fixture_close(&f);
}

static void
test_optional_channels_get_nothing_that_was_refused(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a | b", "");
    f.channels[0]->answer = PUT_FAILED;

    g_assert_cmpint(put_two(&f), ==, PUT_FAILED);
    g_assert_cmpuint(f.channels[1]->n_puts, ==, 0);
    fixture_close(&f);
}

static void
test_optional_channels_that_fail_or_are_full_are_counted_and_never_waited_for(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a | b c", "");
    f.channels[0]->answer = PUT_DONE;
    f.channels[1]->answer = PUT_FAILED;
    f.channels[2]->answer = PUT_PENDING;

    g_assert_cmpint(put_two(&f), ==, PUT_DONE);
    g_assert_cmpuint(f.channels[2]->n_cancelled, ==, 1);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_OPTIONAL_FAILURES), ==, 4);
    g_assert_cmpuint(metric_get_value(f.source->reports, 0, REPORT_NOT_COPIED), ==, 2);
    fixture_close(&f);
}

static void
test_an_optional_channel_may_complete_after_everything_else_is_over(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a | b", "");
    f.channels[0]->answer = PUT_DONE;
    f.channels[1]->answer = PUT_PENDING;
    f.channels[1]->is_late = TRUE;
    g_assert_cmpint(put_two(&f), ==, PUT_DONE);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_OPTIONAL_FAILURES), ==, 0);

    fake_channel_complete(f.channels[1], "disk");
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_OPTIONAL_FAILURES), ==, 2);
    fixture_close(&f);
}

/* ---- interceptors and selectors ---- */

static void
test_channels_get_what_the_interceptors_leave(void)
{
    Fixture f;
    g_autofree char *text = NULL;

    fixture_open(&f, &replicating_selector, "a b", "");
    fixture_intercept(&f, &regex_filter_interceptor, "regex: keep");
    f.channels[0]->answer = f.channels[1]->answer = PUT_DONE;

    g_assert_cmpint(put(&f, batch_of("keep1", "no", "keep2", NULL), NULL), ==, PUT_DONE);
    text = batch_to_text(f.channels[1]->batch);
    g_assert_cmpstr(text, ==, "keep1 keep2");
    g_assert_cmpuint(f.put.n_copied, ==, f.channels[1]->batch->allocated);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_EVENTS_DROPPED), ==, 1);
    fixture_close(&f);
}

static void
test_a_batch_of_which_nothing_is_left_is_done(void)
{
    Fixture f;

    fixture_open(&f, &replicating_selector, "a b", "");
    fixture_intercept(&f, &regex_filter_interceptor, "regex: nothing");

    g_assert_cmpint(put_two(&f), ==, PUT_DONE);
    g_assert_cmpuint(f.channels[0]->n_puts, ==, 0);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_EVENTS_DROPPED), ==, 2);
    fixture_close(&f);
}

static void
test_each_channel_gets_the_events_that_are_for_it(void)
{
    Fixture f;
    g_autofree char *first = NULL;
    g_autofree char *second = NULL;

    fixture_open(&f, &multiplexing_selector, "a b", "header: k, mapping: {x: a, y: [a, b]}");
    f.channels[0]->answer = f.channels[1]->answer = PUT_DONE;

    g_assert_cmpint(put(&f, batch_of("k=x:1", "k=y:2", "3", NULL), NULL), ==, PUT_DONE);
    first = batch_to_text(f.channels[0]->batch);
    second = batch_to_text(f.channels[1]->batch);
    g_assert_cmpstr(first, ==, "k=x:1 k=y:2");
    g_assert_cmpstr(second, ==, "k=y:2");
    g_assert_cmpuint(f.put.n_copied, ==,
                     f.channels[0]->batch->allocated + f.channels[1]->batch->allocated);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_EVENTS_UNROUTED), ==, 1);
    fixture_close(&f);
}

static void
test_events_that_all_go_nowhere_are_done_and_counted(void)
{
    Fixture f;

    fixture_open(&f, &multiplexing_selector, "a", "header: k, mapping: {x: a}");

    g_assert_cmpint(put_two(&f), ==, PUT_DONE);
    g_assert_cmpuint(metric_get(f.metrics, SOURCE_EVENTS_UNROUTED), ==, 2);
    fixture_close(&f);
}

#define TEST(name)                               \
    {                                            \
        "/channel-processor/" #name, test_##name \
    }

static const struct {
    const char *path;
    void (*run)(void);
} tests[] = {
    TEST(one_channel_gets_the_very_batch_and_answers),
    TEST(one_pending_channel_makes_ready_once_it_is_done),
    TEST(one_pending_channel_may_fail_later),
    TEST(one_pending_channel_may_expire),
    TEST(what_cannot_be_cancelled_becomes_ready),
    TEST(required_channels_are_put_into_in_parallel),
    TEST(the_earliest_timeout_of_those_that_wait_is_the_deadline),
    TEST(all_done_at_once_needs_no_ready),
    TEST(a_refusal_calls_off_what_waits_and_what_is_to_come),
    TEST(a_refusal_waits_for_what_cannot_be_called_off),
    TEST(one_late_failure_fails_all),
    TEST(expiry_cancels_what_waits_and_leaves_the_rest_to_ready),
    TEST(optional_channels_come_after_the_required_ones),
    TEST(optional_channels_get_nothing_that_was_refused),
    TEST(optional_channels_that_fail_or_are_full_are_counted_and_never_waited_for),
    TEST(an_optional_channel_may_complete_after_everything_else_is_over),
    TEST(channels_get_what_the_interceptors_leave),
    TEST(a_batch_of_which_nothing_is_left_is_done),
    TEST(each_channel_gets_the_events_that_are_for_it),
    TEST(events_that_all_go_nowhere_are_done_and_counted),
};

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add_func(tests[i].path, tests[i].run);
    return g_test_run();
}
