/* test_nsq_table_time.c - what nsqlookupd's table pins down of silence and tombstones. */
#include "base/clock.h"
#include "tests/support/nsq_fixture.h"

/* ---- tombstones ---- */

static void
test_a_tombstone_hides_a_node_for_one_topic_until_it_lapses(NsqFixture *self,
                                                            gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", NULL);
    nsq_table_register(self->table, node, "other", NULL);
    g_assert_cmpuint(nsq_table_tombstone(self->table, "t", "a:4151", self->now_us), ==, 1);

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
    g_assert_cmpuint(nsq_fixture_visible(self, "other"), ==, 1);
    self->now_us += 45 * SECOND_US - 1;
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
    self->now_us += 1;
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
}

static void
test_a_tombstone_is_for_the_node_that_it_names(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    nsq_table_register(self->table, nsq_fixture_join(self, "1", "a"), "t", NULL);
    nsq_table_register(self->table, nsq_fixture_join(self, "2", "b"), "t", NULL);

    g_assert_cmpuint(nsq_table_tombstone(self->table, "t", "b:4151", self->now_us), ==, 1);
    g_assert_cmpuint(nsq_table_tombstone(self->table, "t", "b:4150", self->now_us), ==, 0);
    g_assert_cmpuint(nsq_table_tombstone(self->table, "nowhere", "b:4151", self->now_us), ==, 0);

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
}

static void
test_registering_again_does_not_clear_a_tombstone(NsqFixture *self,
                                                  gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", NULL);
    nsq_table_tombstone(self->table, "t", "a:4151", self->now_us);
    nsq_table_register(self->table, node, "t", NULL);

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
}

static void
test_unregistering_and_registering_clears_a_tombstone(NsqFixture *self,
                                                      gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", NULL);
    nsq_table_tombstone(self->table, "t", "a:4151", self->now_us);
    nsq_table_unregister(self->table, node, "t", NULL);
    nsq_table_register(self->table, node, "t", NULL);

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
    g_assert_cmpuint(nsq_table_counts(self->table).tombstones, ==, 0);
}

static void
test_a_tombstoned_node_that_unregistered_does_not_come_back(NsqFixture *self,
                                                            gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", NULL);
    nsq_table_tombstone(self->table, "t", "a:4151", self->now_us);
    nsq_table_unregister(self->table, node, "t", NULL);
    self->now_us += 46 * SECOND_US;
    nsq_table_advance(self->table, self->now_us);

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
}

static void
test_a_second_tombstone_lasts_from_its_own_time(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    nsq_table_register(self->table, nsq_fixture_join(self, "1", "a"), "t", NULL);
    nsq_table_register(self->table, nsq_fixture_join(self, "2", "b"), "t", NULL);
    nsq_table_tombstone(self->table, "t", "a:4151", self->now_us);
    nsq_table_tombstone(self->table, "t", "b:4151", self->now_us + 1);
    nsq_table_tombstone(self->table, "t", "a:4151", self->now_us + 30 * SECOND_US);
    g_string_truncate(self->events, 0);

    self->now_us += 45 * SECOND_US + 1;
    nsq_table_advance(self->table, self->now_us);
    nsq_fixture_assert_events(self, "lapsed:t changed:t");
    g_assert_cmpint(nsq_table_next_us(self->table), ==, NSQ_START_US + 75 * SECOND_US);
}

static void
test_a_topic_deleted_under_a_tombstone_leaves_nothing(NsqFixture *self,
                                                      gconstpointer user G_GNUC_UNUSED)
{
    nsq_table_register(self->table, nsq_fixture_join(self, "1", "a"), "t", "c");
    nsq_table_tombstone(self->table, "t", "a:4151", self->now_us);

    g_assert_true(nsq_table_delete_topic(self->table, "t"));

    g_assert_cmpuint(nsq_table_counts(self->table).tombstones, ==, 0);
    nsq_table_advance(self->table, self->now_us + 46 * SECOND_US);
}

/* ---- silence ---- */

static void
test_a_node_is_active_up_to_the_very_end_of_its_time(NsqFixture *self,
                                                     gconstpointer user G_GNUC_UNUSED)
{
    nsq_table_register(self->table, nsq_fixture_join(self, "1", "a"), "t", NULL);

    self->now_us += 300 * SECOND_US;
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
    self->now_us += 1;
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
    g_assert_nonnull(nsq_table_nodes(self->table));
}

static void
test_registering_is_no_sign_of_life(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    self->now_us += 301 * SECOND_US;
    nsq_table_register(self->table, node, "t", NULL);

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
}

static void
test_a_late_sign_of_life_brings_a_node_back(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", "c");
    self->now_us += 301 * SECOND_US;
    g_string_truncate(self->events, 0);
    nsq_table_advance(self->table, self->now_us);
    nsq_fixture_assert_events(self, "silent changed:t");
    nsq_table_advance(self->table, self->now_us);
    nsq_table_hear(self->table, node, self->now_us);

    nsq_fixture_assert_events(self, "heard changed:t");
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
}

static void
test_one_sign_of_life_is_good_for_all_registrations(NsqFixture *self,
                                                    gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", "c");
    nsq_table_register(self->table, node, "u", NULL);
    self->now_us += 200 * SECOND_US;
    nsq_table_hear(self->table, node, self->now_us);
    self->now_us += 200 * SECOND_US;

    g_assert_cmpuint(nsq_fixture_visible(self, "t") + nsq_fixture_visible(self, "u"), ==, 2);
}

static void
test_nodes_fall_silent_in_the_order_in_which_they_were_heard(NsqFixture *self,
                                                             gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *one = nsq_fixture_join(self, "1", "a");
    NsqNode *other;

    self->now_us += 10 * SECOND_US;
    other = nsq_fixture_join(self, "2", "b");
    self->now_us += 10 * SECOND_US;
    nsq_table_hear(self->table, one, self->now_us);

    g_assert_cmpint(nsq_table_next_us(self->table), ==, NSQ_START_US + 310 * SECOND_US + 1);
    nsq_table_advance(self->table, nsq_table_next_us(self->table));
    g_assert_true(other->is_silent);
    g_assert_false(one->is_silent);
    nsq_table_remove_node(self->table, one, "closed");
    nsq_table_remove_node(self->table, other, "closed");
    g_assert_cmpint(nsq_table_next_us(self->table), ==, CLOCK_NEVER);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(test) nsq_fixture_add(#test, test_##test)
    ADD(a_tombstone_hides_a_node_for_one_topic_until_it_lapses);
    ADD(a_tombstone_is_for_the_node_that_it_names);
    ADD(registering_again_does_not_clear_a_tombstone);
    ADD(unregistering_and_registering_clears_a_tombstone);
    ADD(a_tombstoned_node_that_unregistered_does_not_come_back);
    ADD(a_second_tombstone_lasts_from_its_own_time);
    ADD(a_topic_deleted_under_a_tombstone_leaves_nothing);
    ADD(a_node_is_active_up_to_the_very_end_of_its_time);
    ADD(registering_is_no_sign_of_life);
    ADD(a_late_sign_of_life_brings_a_node_back);
    ADD(one_sign_of_life_is_good_for_all_registrations);
    ADD(nodes_fall_silent_in_the_order_in_which_they_were_heard);
    return g_test_run();
}
