/* test_selectors.c - replicating, multiplexing, load-balance, and the routes they make. */
#include <glib.h>

#include "agent/builtin.h"
#include "agent/core/route.h"
#include "tests/support/events.h"
#include "tests/support/select.h"

#define assert_chooses(selector, event, text)                        \
    G_STMT_START                                                     \
    {                                                                \
        g_autofree char *chosen_ = selector_choose(selector, event); \
        g_assert_cmpstr(chosen_, ==, text);                          \
    }                                                                \
    G_STMT_END

#define assert_routes(selector, batch, text)                       \
    G_STMT_START                                                   \
    {                                                              \
        g_autofree char *route_ = selector_route(selector, batch); \
        g_assert_cmpstr(route_, ==, text);                         \
    }                                                              \
    G_STMT_END

/* ---- replicating ---- */

static void
test_replicating_puts_the_same_batch_into_every_channel(void)
{
    g_autoptr(Selector) selector = selector_new(&replicating_selector, "a b | c", "", NULL);
    g_autoptr(Batch) batch = batch_of("x", "y", NULL);
    g_auto(Route) route = { 0 };

    g_assert_true(route_init(&route, selector, batch));

    g_assert_cmpuint(route.targets->len, ==, 3);
    g_assert_cmpuint(route.n_required, ==, 2);
    for (guint i = 0; i < 3; i++)
        g_assert_true(route_target(&route, i)->batch == batch);
}

/* ---- multiplexing ---- */

#define MAPPING "header: kind, mapping: {web: [a], db: [a, b]}"

static void
test_multiplexing_goes_by_the_value_of_the_header(void)
{
    g_autoptr(Selector) selector =
        selector_new(&multiplexing_selector, "a b c", MAPPING ", default: c", NULL);

    assert_chooses(selector, "kind=web:x", "a");
    assert_chooses(selector, "kind=db:x", "a b");
}

static void
test_multiplexing_sends_everything_else_to_the_default(void)
{
    g_autoptr(Selector) selector =
        selector_new(&multiplexing_selector, "a b c", MAPPING ", default: c", NULL);

    assert_chooses(selector, "x", "c");
    assert_chooses(selector, "kind=:x", "c");
    assert_chooses(selector, "kind=  :x", "c");
    assert_chooses(selector, "kind=other:x", "c");
    assert_chooses(selector, "kind=we:x", "c");
    assert_chooses(selector, "kind=webb:x", "c");
}

static void
test_multiplexing_without_a_default_routes_nowhere(void)
{
    g_autoptr(Selector) selector = selector_new(&multiplexing_selector, "a b", MAPPING, NULL);

    assert_chooses(selector, "kind=other:x", "");
    assert_chooses(selector, "x", "");
}

static void
test_multiplexing_adds_the_optional_channels_of_a_value(void)
{
    g_autoptr(Selector) selector =
        selector_new(&multiplexing_selector, "a b c",
                     MAPPING ", default: c, optional: {web: [b, a], other: [a, c], db: []}", NULL);

    assert_chooses(selector, "kind=web:x", "a | b"); /* a is required already */
    assert_chooses(selector, "kind=db:x", "a b");
    assert_chooses(selector, "kind=other:x", "c | a"); /* the default, and its optional ones */
    assert_chooses(selector, "x", "c");
}

static void
test_multiplexing_may_have_optional_channels_only(void)
{
    g_autoptr(Selector) selector =
        selector_new(&multiplexing_selector, "a", "header: kind, optional: {web: a}", NULL);

    assert_chooses(selector, "kind=web:x", "| a");
    assert_chooses(selector, "kind=db:x", "");
}

static void
test_optional_channels_of_the_source_get_everything_unless_named(void)
{
    g_autoptr(Selector) selector = selector_new(&multiplexing_selector, "a b | audit trail",
                                                MAPPING ", optional: {web: [trail]}", NULL);

    assert_chooses(selector, "kind=web:x", "a | audit trail");
    assert_chooses(selector, "kind=db:x", "a b | audit");
    assert_chooses(selector, "x", "| audit");
}

static void
test_multiplexing_reads_the_header_of_flume_by_default(void)
{
    g_autoptr(Selector) selector =
        selector_new(&multiplexing_selector, "a", "mapping: {x: [a]}", NULL);

    assert_chooses(selector, "flume.selector.header=x:body", "a");
}

static void
test_multiplexing_refuses_what_cannot_work(void)
{
    static const struct {
        const char *channels;
        const char *options;
        const char *problem;
    } cases[] = {
        { "alpha beta", "mapping: {x: [alpa], y: [beta]}", "did you mean 'alpha'?" },
        { "a", "mapping: {x: []}", "'x' has no channels" },
        { "a", "mapping: {' ': [a]}", "a blank value" },
        { "a b", "mapping: {x: [a]}", "channel 'b' would get no event" },
        { "a | b", "mapping: {x: [a, b]}", "optional-channels" },
        { "a | b", "mapping: {x: [a]}, default: [b]", "optional-channels" },
        { "a", "mapping: {x: [a]}, optional: {x: [z]}", "no channel 'z'" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *problems = NULL;
        g_autoptr(Selector) selector G_GNUC_UNUSED =
            selector_new(&multiplexing_selector, cases[i].channels, cases[i].options, &problems);

        g_assert_nonnull(strstr(problems, cases[i].problem));
    }
}

/* ---- load-balance ---- */

static void
test_load_balance_takes_turns_from_the_first_on(void)
{
    g_autoptr(Selector) selector = selector_new(&load_balance_selector, "a b c", "", NULL);
    g_autoptr(Batch) batch = batch_of_numbers(0, 7);

    assert_routes(selector, batch, "a: 0 3 6 | b: 1 4 | c: 2 5");
    assert_chooses(selector, "x", "b");
}

static void
test_load_balance_at_random_uses_every_channel_about_as_often(void)
{
    g_autoptr(Selector) selector =
        selector_new(&load_balance_selector, "a b c", "policy: RANDOM", NULL);
    g_autoptr(Batch) batch = batch_of_numbers(0, 3000);
    g_auto(Route) route = { 0 };
    guint n_events = 0;

    g_assert_true(route_init(&route, selector, batch));

    g_assert_cmpuint(route.n_required, ==, 3);
    for (guint i = 0; i < 3; i++) {
        n_events += route_target(&route, i)->batch->n_events;
        g_assert_cmpuint(route_target(&route, i)->batch->n_events, >, 800);
    }
    g_assert_cmpuint(n_events, ==, 3000);
}

static void
test_load_balance_gives_optional_channels_everything(void)
{
    g_autoptr(Selector) selector = selector_new(&load_balance_selector, "a b | c", "", NULL);
    g_autoptr(Batch) batch = batch_of_numbers(0, 3);

    assert_routes(selector, batch, "a: 0 2 | b: 1 | c: 0 1 2");
}

/* ---- routes ---- */

static void
test_a_channel_that_gets_the_whole_batch_gets_the_batch_itself(void)
{
    g_autoptr(Selector) selector = selector_new(&multiplexing_selector, "a b",
                                                "header: k, mapping: {x: [a, b], y: [a]}", NULL);
    g_autoptr(Batch) batch = batch_of("k=x:1", "k=y:2", "k=x:3", NULL);
    g_auto(Route) route = { 0 };

    g_assert_true(route_init(&route, selector, batch));

    g_assert_true(route_target(&route, 0)->batch == batch);
    assert_routes(selector, batch, "a: k=x:1 k=y:2 k=x:3 | b: k=x:1 k=x:3");
}

static void
test_events_that_go_nowhere_are_counted(void)
{
    g_autoptr(Selector) selector =
        selector_new(&multiplexing_selector, "a", "header: k, mapping: {x: [a]}", NULL);
    g_autoptr(Batch) batch = batch_of("1", "k=x:2", "3", NULL);
    g_auto(Route) route = { 0 };

    g_assert_true(route_init(&route, selector, batch));

    g_assert_cmpuint(route.n_unrouted, ==, 2);
    assert_routes(selector, batch, "a: k=x:2");
}

static void
test_a_source_may_have_as_many_channels_as_a_set_holds(void)
{
    g_autoptr(Selector) selector = selector_new(&replicating_selector, "a", "", NULL);
    g_autoptr(Batch) batch = batch_of("x", NULL);
    g_auto(Route) route = { 0 };

    selector->required = ~(ChannelSet) 0;
    g_assert_true(route_init(&route, selector, batch));

    g_assert_cmpuint(route.n_required, ==, SELECTOR_MAX_CHANNELS);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/replicating/every-channel",
                    test_replicating_puts_the_same_batch_into_every_channel);
    g_test_add_func("/multiplexing/value", test_multiplexing_goes_by_the_value_of_the_header);
    g_test_add_func("/multiplexing/default",
                    test_multiplexing_sends_everything_else_to_the_default);
    g_test_add_func("/multiplexing/nowhere", test_multiplexing_without_a_default_routes_nowhere);
    g_test_add_func("/multiplexing/optional",
                    test_multiplexing_adds_the_optional_channels_of_a_value);
    g_test_add_func("/multiplexing/optional-only",
                    test_multiplexing_may_have_optional_channels_only);
    g_test_add_func("/multiplexing/optional-of-the-source",
                    test_optional_channels_of_the_source_get_everything_unless_named);
    g_test_add_func("/multiplexing/header-of-flume",
                    test_multiplexing_reads_the_header_of_flume_by_default);
    g_test_add_func("/multiplexing/problems", test_multiplexing_refuses_what_cannot_work);
    g_test_add_func("/load-balance/in-turn", test_load_balance_takes_turns_from_the_first_on);
    g_test_add_func("/load-balance/random",
                    test_load_balance_at_random_uses_every_channel_about_as_often);
    g_test_add_func("/load-balance/optional", test_load_balance_gives_optional_channels_everything);
    g_test_add_func("/route/whole", test_a_channel_that_gets_the_whole_batch_gets_the_batch_itself);
    g_test_add_func("/route/nowhere", test_events_that_go_nowhere_are_counted);
    g_test_add_func("/route/many-channels", test_a_source_may_have_as_many_channels_as_a_set_holds);
    return g_test_run();
}
