/* test_intercept_watch.c - interceptors that take too long for an event, for a batch, or for a
 * stop. */
#include <glib.h>
#include <string.h>

#include "agent/builtin.h"
#include "agent/core/interceptor_chain.h"
#include "base/batch_builder.h"
#include "base/clock.h"
#include "tests/support/events.h"
#include "tests/support/intercept.h"

/* Each event takes this pattern several times as long as EVENT_TIME, and stays below the limit at
 * which it gives up by itself. */
#define SLOW_OPTIONS "regex: '(a+)+$', exclude-events: true"
#define SLOW_UNIT "aaaaaaaaaaaaaab"
#define SLOW_BYTES 32768
#define EVENT_TIME_US (20 * 1000)

static Batch *
slow_batch(guint n_events)
{
    g_autoptr(GString) body = g_string_new(NULL);
    g_autoptr(BatchBuilder) builder = batch_builder_new(SLOW_BYTES * n_events, n_events);

    while (body->len < SLOW_BYTES)
        g_string_append(body, SLOW_UNIT);
    for (guint i = 0; i < n_events; i++)
        batch_builder_add_event(builder, NULL, 0, byte_span(body->str, body->len));
    return batch_builder_finish(builder);
}

/* Through one slow filter. */
static Batch *
run(Interceptor *filter, Batch *batch, const InterceptTime *time, GError **error)
{
    g_autoptr(GPtrArray) chain = g_ptr_array_new();
    guint n_dropped;

    g_ptr_array_add(chain, filter);
    return interceptor_chain_run(chain, batch, (BatchLimit){ 0 }, time, &n_dropped, error);
}

static void
test_an_event_that_takes_more_than_half_of_the_time_goes_on_unchanged(void)
{
    const InterceptTime time = { 2 * EVENT_TIME_US, CLOCK_NEVER };
    g_autoptr(Interceptor) filter = interceptor_new(&regex_filter_interceptor, SLOW_OPTIONS);
    g_autoptr(Batch) batch = slow_batch(1);
    g_autoptr(GError) error = NULL;
    g_autoptr(Batch) left = run(filter, batch, &time, &error);

    g_assert_no_error(error);
    g_assert_true(left == batch);
    g_assert_cmpuint(metric_get_value(filter->base.reports, 0, REPORT_MATCH_LIMIT), ==, 1);
}

static void
test_a_batch_that_takes_too_long_is_refused_and_the_interceptor_named(void)
{
    const InterceptTime time = { 2 * EVENT_TIME_US, CLOCK_NEVER };
    g_autoptr(Interceptor) filter = interceptor_new(&regex_filter_interceptor, SLOW_OPTIONS);
    g_autoptr(Batch) batch = slow_batch(1000);
    g_autoptr(GError) error = NULL;
    gint64 begin_us = clock_thread_us();
    g_autoptr(Batch) left = run(filter, batch, &time, &error);

    g_assert_null(left);
    g_assert_error(error, INTERCEPT_ERROR, INTERCEPT_ERROR_TOO_SLOW);
    g_assert_nonnull(strstr(error->message, "intercept-timeout (40 ms)"));
    g_assert_nonnull(strstr(error->message, "'tested' (regex-filter)"));
    g_assert_cmpint(clock_thread_us() - begin_us, <, 5 * G_USEC_PER_SEC);
}

static void
test_a_batch_that_a_stop_does_not_wait_for_is_refused(void)
{
    const InterceptTime time = { CLOCK_NEVER, clock_deadline_us(EVENT_TIME_US) };
    g_autoptr(Interceptor) filter = interceptor_new(&regex_filter_interceptor, SLOW_OPTIONS);
    g_autoptr(Batch) batch = slow_batch(1000);
    g_autoptr(GError) error = NULL;
    gint64 begin_us = clock_thread_us();
    g_autoptr(Batch) left = run(filter, batch, &time, &error);

    g_assert_null(left);
    g_assert_error(error, INTERCEPT_ERROR, INTERCEPT_ERROR_STOPPING);
    g_assert_cmpint(clock_thread_us() - begin_us, <, 5 * G_USEC_PER_SEC);
}

static void
test_what_comes_after_that_is_refused_at_once(void)
{
    const InterceptTime time = { CLOCK_NEVER, clock_now_us() };
    g_autoptr(Interceptor) adds = interceptor_new(&static_interceptor, "key: dc, value: fra");
    g_autoptr(Batch) batch = batch_of("k=v:x", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_null(run(adds, batch, &time, &error));

    g_assert_error(error, INTERCEPT_ERROR, INTERCEPT_ERROR_STOPPING);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/intercept-watch/event",
                    test_an_event_that_takes_more_than_half_of_the_time_goes_on_unchanged);
    g_test_add_func("/intercept-watch/batch",
                    test_a_batch_that_takes_too_long_is_refused_and_the_interceptor_named);
    g_test_add_func("/intercept-watch/stop", test_a_batch_that_a_stop_does_not_wait_for_is_refused);
    g_test_add_func("/intercept-watch/after-the-stop",
                    test_what_comes_after_that_is_refused_at_once);
    return g_test_run();
}
