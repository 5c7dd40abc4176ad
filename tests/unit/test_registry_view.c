/* test_registry_view.c - which hosts count as known, under a clock of the test's own. */
#include "client/discovery/registry_view.h"

#include "base/clock.h"

#define SECOND ((gint64) G_USEC_PER_SEC)
#define NOON (1000 * SECOND)
#define MAX_AGE (300 * SECOND)

/* "a b": hosts of that name, port 1. */
static GPtrArray *
hosts_of(const char *names)
{
    g_auto(GStrv) words = g_strsplit(names, " ", -1);
    GPtrArray *hosts = found_hosts_new();

    for (guint i = 0; words[i] != NULL; i++)
        if (words[i][0] != '\0')
            g_ptr_array_add(hosts, found_host_new(words[i], 1, 1, 0));
    return hosts;
}

static void
answer(RegistryView *view, const char *names, gint64 now_us)
{
    registry_view_update(view, hosts_of(names), now_us);
}

static char *
merge_text(RegistryView *one, RegistryView *other, gint64 now_us)
{
    g_autoptr(GPtrArray) views = g_ptr_array_new();
    g_autoptr(GPtrArray) hosts = NULL;
    g_autoptr(GString) text = g_string_new(NULL);

    g_ptr_array_add(views, one);
    if (other != NULL)
        g_ptr_array_add(views, other);
    hosts = registry_views_merge(views, MAX_AGE, now_us);
    for (guint i = 0; i < hosts->len; i++)
        g_string_append_printf(text, "%s%s", i > 0 ? " " : "",
                               ((const FoundHost *) hosts->pdata[i])->endpoint->host);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
assert_merged(RegistryView *one, RegistryView *other, gint64 now_us, const char *expected)
{
    g_autofree char *merged = merge_text(one, other, now_us);

    g_assert_cmpstr(merged, ==, expected);
}

static gint64
next_change_us(RegistryView *view, gint64 now_us)
{
    g_autoptr(GPtrArray) views = g_ptr_array_new();

    g_ptr_array_add(views, view);
    return registry_views_next_change_us(views, MAX_AGE, now_us);
}

/* ---- one registry ---- */

static void
test_what_is_no_longer_named_has_left(void)
{
    g_autoptr(RegistryView) view = registry_view_new();

    answer(view, "a b", NOON);
    answer(view, "b c", NOON + 1);

    assert_merged(view, NULL, NOON + 1, "b c");
}

static void
test_after_a_break_what_is_not_named_stays_for_its_grace(void)
{
    g_autoptr(RegistryView) view = registry_view_new();

    answer(view, "a b", NOON);
    registry_view_note_break(view);
    answer(view, "b", NOON + 1);

    assert_merged(view, NULL, NOON + REGISTRY_GRACE_US, "a b");
    assert_merged(view, NULL, NOON + 1 + REGISTRY_GRACE_US, "b");
}

static void
test_answers_without_a_break_do_not_cut_a_grace_short(void)
{
    g_autoptr(RegistryView) view = registry_view_new();

    answer(view, "a b c", NOON);
    registry_view_note_break(view);
    answer(view, "a", NOON + SECOND);
    answer(view, "a b", NOON + 2 * SECOND);

    assert_merged(view, NULL, NOON + 2 * SECOND, "a b c");
    assert_merged(view, NULL, NOON + SECOND + REGISTRY_GRACE_US, "a b");
}

static void
test_a_host_that_is_heard_of_again_stays_for_good(void)
{
    g_autoptr(RegistryView) view = registry_view_new();

    answer(view, "a", NOON);
    registry_view_note_break(view);
    answer(view, "", NOON);
    answer(view, "a", NOON + SECOND);

    assert_merged(view, NULL, NOON + 2 * REGISTRY_GRACE_US, "a");
}

static void
test_a_registry_of_which_nothing_was_heard_again_keeps_its_last_view(void)
{
    g_autoptr(RegistryView) view = registry_view_new();

    answer(view, "a b", NOON);
    registry_view_note_break(view);

    assert_merged(view, NULL, NOON + 100 * MAX_AGE, "a b");
}

static void
test_the_next_change_is_the_end_of_a_grace(void)
{
    g_autoptr(RegistryView) view = registry_view_new();

    answer(view, "a", NOON);
    g_assert_cmpint(next_change_us(view, NOON), ==, NOON + MAX_AGE);
    registry_view_note_break(view);
    answer(view, "", NOON);

    g_assert_cmpint(next_change_us(view, NOON), ==, NOON + REGISTRY_GRACE_US);
    g_assert_cmpint(next_change_us(view, NOON + MAX_AGE), ==, CLOCK_NEVER);
}

/* ---- several ---- */

static void
test_what_any_registry_names_counts_once(void)
{
    g_autoptr(RegistryView) one = registry_view_new();
    g_autoptr(RegistryView) other = registry_view_new();

    answer(one, "c a", NOON);
    answer(other, "b c", NOON);

    assert_merged(one, other, NOON, "a b c");
}

static void
test_what_was_said_long_ago_counts_only_while_nobody_says_anything(void)
{
    g_autoptr(RegistryView) dead = registry_view_new();
    g_autoptr(RegistryView) alive = registry_view_new();

    answer(dead, "a", NOON);
    answer(alive, "b", NOON);
    registry_view_note_break(dead);
    assert_merged(dead, alive, NOON + MAX_AGE, "a b"); /* both are old */
    answer(alive, "b", NOON + MAX_AGE - 1);
    assert_merged(dead, alive, NOON + MAX_AGE - 1, "a b");

    assert_merged(dead, alive, NOON + MAX_AGE, "b");
}

static void
test_the_best_that_any_says_of_a_host_counts_and_ranks_come_first(void)
{
    g_autoptr(RegistryView) one = registry_view_new();
    g_autoptr(RegistryView) other = registry_view_new();
    g_autoptr(GPtrArray) views = g_ptr_array_new();
    g_autoptr(GPtrArray) merged = NULL;
    GPtrArray *hosts = found_hosts_new();
    const FoundHost *first;

    g_ptr_array_add(hosts, found_host_new("a", 1, 4, 1));
    g_ptr_array_add(hosts, found_host_new("b", 1, 0, 1));
    registry_view_update(one, hosts, NOON);
    hosts = found_hosts_new();
    g_ptr_array_add(hosts, found_host_new("b", 1, 8, 0));
    registry_view_update(other, hosts, NOON);
    g_ptr_array_add(views, one);
    g_ptr_array_add(views, other);
    merged = registry_views_merge(views, MAX_AGE, NOON);
    first = merged->pdata[0];

    g_assert_cmpuint(merged->len, ==, 2);
    g_assert_cmpstr(first->name, ==, "b:1");
    g_assert_cmpuint(first->weight, ==, 8);
    g_assert_cmpuint(first->rank, ==, 0);
}

/* ---- shares ---- */

static void
assert_shares(const char *weights, const char *expected)
{
    g_auto(GStrv) words = g_strsplit(weights, " ", -1);
    g_autoptr(GPtrArray) hosts = found_hosts_new();
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree guint *shares = NULL;

    for (guint i = 0; words[i] != NULL; i++)
        g_ptr_array_add(hosts,
                        found_host_new("h", 1, (guint) g_ascii_strtoull(words[i], NULL, 10), 0));
    shares = found_hosts_shares(hosts);
    for (guint i = 0; i < hosts->len; i++)
        g_string_append_printf(text, "%s%u", i > 0 ? " " : "", shares[i]);
    g_assert_cmpstr(text->str, ==, expected);
}

static void
test_shares_are_as_weights_but_few(void)
{
    assert_shares("1", "1");
    assert_shares("16", "1");
    assert_shares("4 8 4", "1 2 1");
    assert_shares("3 5", "3 5");
    assert_shares("1 16", "1 8");
    assert_shares("100 7 50", "8 1 4");
    assert_shares("4294967295 1", "8 1");
}

#define ADD(name, function) g_test_add_func("/registry-view/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("no-longer-named", test_what_is_no_longer_named_has_left);
    ADD("grace", test_after_a_break_what_is_not_named_stays_for_its_grace);
    ADD("grace-is-whole", test_answers_without_a_break_do_not_cut_a_grace_short);
    ADD("heard-of-again", test_a_host_that_is_heard_of_again_stays_for_good);
    ADD("last-view", test_a_registry_of_which_nothing_was_heard_again_keeps_its_last_view);
    ADD("next-change", test_the_next_change_is_the_end_of_a_grace);
    ADD("any-registry", test_what_any_registry_names_counts_once);
    ADD("long-ago", test_what_was_said_long_ago_counts_only_while_nobody_says_anything);
    ADD("the-best", test_the_best_that_any_says_of_a_host_counts_and_ranks_come_first);
    ADD("shares", test_shares_are_as_weights_but_few);
    return g_test_run();
}
