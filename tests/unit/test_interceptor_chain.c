/* test_interceptor_chain.c - a batch on its way through interceptors. */
#include "agent/core/interceptor_chain.h"

#include <glib.h>

#include "agent/builtin.h"
#include "agent/core/channel.h"
#include "tests/support/events.h"
#include "tests/support/intercept.h"

/* Interceptors by type and options, up to NULL. */
static GPtrArray *
chain_of(const InterceptorType *type, const char *yaml, ...)
{
    GPtrArray *chain = g_ptr_array_new_with_free_func((GDestroyNotify) interceptor_free);
    va_list rest;

    va_start(rest, yaml);
    while (type != NULL) {
        g_ptr_array_add(chain, interceptor_new(type, yaml));
        type = va_arg(rest, const InterceptorType *);
        if (type != NULL)
            yaml = va_arg(rest, const char *);
    }
    va_end(rest);
    return chain;
}

static Batch *
run(GPtrArray *chain, Batch *batch, guint *ret_n_dropped)
{
    g_autoptr(GError) error = NULL;
    Batch *left =
        interceptor_chain_run(chain, batch, (BatchLimit){ 0 }, NULL, ret_n_dropped, &error);

    g_assert_no_error(error);
    return left;
}

#define assert_batch(batch, text)                       \
    G_STMT_START                                        \
    {                                                   \
        g_autofree char *batch_ = batch_to_text(batch); \
        g_assert_cmpstr(batch_, ==, text);              \
    }                                                   \
    G_STMT_END

static void
test_a_batch_that_nothing_changed_is_the_same_batch(void)
{
    g_autoptr(GPtrArray) chain = chain_of(&static_interceptor, "key: a, value: new",
                                          &regex_filter_interceptor, "regex: ''", NULL);
    g_autoptr(Batch) batch = batch_of("a=1:x", "a=2:y", NULL);
    guint n_dropped = 9;
    g_autoptr(Batch) left = run(chain, batch, &n_dropped);

    g_assert_true(left == batch);
    g_assert_cmpuint(n_dropped, ==, 0);
}

static void
test_changed_and_untouched_events_keep_their_order(void)
{
    g_autoptr(GPtrArray) chain = chain_of(&static_interceptor, "key: a, value: new", NULL);
    g_autoptr(Batch) batch = batch_of("a=1:p", "q", "a=1:r", "a=1:s", "t", NULL);
    guint n_dropped;
    g_autoptr(Batch) left = run(chain, batch, &n_dropped);

    assert_batch(left, "a=1:p a=new:q a=1:r a=1:s a=new:t");
}

static void
test_dropped_events_are_left_out_and_counted(void)
{
    g_autoptr(GPtrArray) chain = chain_of(&regex_filter_interceptor, "regex: keep", NULL);
    g_autoptr(Batch) batch = batch_of("no", "keep1", "keep2", "no", "keep3", NULL);
    guint n_dropped;
    g_autoptr(Batch) left = run(chain, batch, &n_dropped);

    assert_batch(left, "keep1 keep2 keep3");
    g_assert_cmpuint(n_dropped, ==, 2);
}

static void
test_a_batch_of_which_all_is_dropped_is_empty(void)
{
    g_autoptr(GPtrArray) chain =
        chain_of(&regex_filter_interceptor, "regex: '', exclude-events: true", NULL);
    g_autoptr(Batch) batch = batch_of("a", "b", NULL);
    guint n_dropped;
    g_autoptr(Batch) left = run(chain, batch, &n_dropped);

    g_assert_cmpuint(left->n_events, ==, 0);
    g_assert_cmpuint(n_dropped, ==, 2);
}

static void
test_an_interceptor_sees_what_those_before_it_did(void)
{
    g_autoptr(GPtrArray) chain = chain_of(
        &search_replace_interceptor, "search-pattern: raw, replace-string: cooked",
        &regex_filter_interceptor, "regex: cooked", &static_interceptor, "key: k, value: v", NULL);
    g_autoptr(Batch) batch = batch_of("raw", "other", NULL);
    guint n_dropped;
    g_autoptr(Batch) left = run(chain, batch, &n_dropped);

    assert_batch(left, "k=v:cooked");
}

static void
test_the_batch_that_came_in_is_never_changed(void)
{
    g_autoptr(GPtrArray) chain = chain_of(&static_interceptor, "key: k, value: v", NULL);
    g_autoptr(Batch) batch = batch_of("a", "b", NULL);
    guint n_dropped;
    g_autoptr(Batch) left = run(chain, batch, &n_dropped);

    assert_batch(left, "k=v:a k=v:b");
    assert_batch(batch, "a b");
}

/* ---- bounds ---- */

static const BatchLimit ten_kib = { 10 * 1024, ": ask for less" };

static void
assert_refused(GPtrArray *chain, Batch *batch)
{
    g_autoptr(GError) error = NULL;
    guint n_dropped;

    g_assert_null(interceptor_chain_run(chain, batch, ten_kib, NULL, &n_dropped, &error));

    g_assert_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE);
    g_assert_cmpstr(error->message, ==,
                    "the interceptors would make the batch larger than 10 KiB: ask for less");
}

static void
test_events_that_grow_beyond_the_limit_together_are_refused(void)
{
    g_autofree char *value = g_strnfill(5000, 'v');
    g_autofree char *options = g_strdup_printf("key: k, value: %s", value);
    g_autoptr(GPtrArray) chain = chain_of(&static_interceptor, options, NULL);
    g_autoptr(Batch) two = batch_of("a", "b", NULL);
    g_autoptr(Batch) three = batch_of("a", "b", "c", NULL);
    guint n_dropped;
    g_autoptr(Batch) left = interceptor_chain_run(chain, two, ten_kib, NULL, &n_dropped, NULL);

    g_assert_nonnull(left);
    assert_refused(chain, three);
}

static void
test_untouched_events_behind_a_grown_one_count_too(void)
{
    g_autofree char *value = g_strnfill(5000, 'v');
    g_autofree char *options = g_strdup_printf("key: k, value: %s", value);
    g_autofree char *untouched = g_strdup_printf("k=1:%s%s", value, value);
    g_autoptr(GPtrArray) chain = chain_of(&static_interceptor, options, NULL);
    g_autoptr(Batch) batch = batch_of("a", untouched, NULL);

    assert_refused(chain, batch);
}

static void
test_a_body_that_a_replacement_makes_too_large_is_refused(void)
{
    g_autofree char *body = g_strnfill(2000, 'x');
    g_autoptr(GPtrArray) chain =
        chain_of(&search_replace_interceptor, "search-pattern: x, replace-string: 123456", NULL);
    g_autoptr(Batch) batch = batch_of(body, NULL);

    assert_refused(chain, batch);
}

static void
test_a_body_beyond_the_limit_that_is_made_smaller_again_is_refused_too(void)
{
    g_autofree char *body = g_strnfill(2000, 'x');
    g_autoptr(GPtrArray) chain =
        chain_of(&search_replace_interceptor, "search-pattern: x, replace-string: 123456",
                 &search_replace_interceptor, "search-pattern: '.*', replace-string: ''", NULL);
    g_autoptr(Batch) batch = batch_of(body, NULL);

    assert_refused(chain, batch);
}

static void
test_a_batch_that_is_not_changed_has_no_limit(void)
{
    g_autofree char *body = g_strnfill(20000, 'x');
    g_autoptr(GPtrArray) chain = chain_of(&static_interceptor, "key: a, value: b", NULL);
    g_autofree char *event = g_strdup_printf("a=1:%s", body);
    g_autoptr(Batch) batch = batch_of(event, NULL);
    guint n_dropped;
    g_autoptr(Batch) left = interceptor_chain_run(chain, batch, ten_kib, NULL, &n_dropped, NULL);

    g_assert_true(left == batch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/interceptor-chain/unchanged",
                    test_a_batch_that_nothing_changed_is_the_same_batch);
    g_test_add_func("/interceptor-chain/order", test_changed_and_untouched_events_keep_their_order);
    g_test_add_func("/interceptor-chain/dropped", test_dropped_events_are_left_out_and_counted);
    g_test_add_func("/interceptor-chain/all-dropped",
                    test_a_batch_of_which_all_is_dropped_is_empty);
    g_test_add_func("/interceptor-chain/one-after-another",
                    test_an_interceptor_sees_what_those_before_it_did);
    g_test_add_func("/interceptor-chain/immutable", test_the_batch_that_came_in_is_never_changed);
    g_test_add_func("/interceptor-chain/too-large-together",
                    test_events_that_grow_beyond_the_limit_together_are_refused);
    g_test_add_func("/interceptor-chain/too-large-with-untouched-ones",
                    test_untouched_events_behind_a_grown_one_count_too);
    g_test_add_func("/interceptor-chain/too-large-body",
                    test_a_body_that_a_replacement_makes_too_large_is_refused);
    g_test_add_func("/interceptor-chain/too-large-on-the-way",
                    test_a_body_beyond_the_limit_that_is_made_smaller_again_is_refused_too);
    g_test_add_func("/interceptor-chain/not-changed-not-limited",
                    test_a_batch_that_is_not_changed_has_no_limit);
    return g_test_run();
}
