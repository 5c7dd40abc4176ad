/* test_nsq_table.c - what nsqlookupd's table pins down of registrations and names. */
#include "tests/support/nsq_fixture.h"

/* ---- registering ---- */

static void
test_registering_a_channel_registers_its_topic_too(NsqFixture *self,
                                                   gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "10.0.0.1:1", "a");

    nsq_table_register(self->table, node, "t", "c");

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
    g_assert_cmpuint(nsq_fixture_producers(self, "t", "c"), ==, 1);
    nsq_fixture_assert_events(self, "joined registered:t/c changed:t registered:t changed:t");
}

static void
test_registering_again_changes_nothing(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "10.0.0.1:1", "a");

    nsq_table_register(self->table, node, "t", "c");
    g_string_truncate(self->events, 0);
    nsq_table_register(self->table, node, "t", "c");

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
    nsq_fixture_assert_events(self, "");
}

static void
test_registrations_come_in_the_order_in_which_they_were_made(NsqFixture *self,
                                                             gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *nodes[3] = { nsq_fixture_join(self, "1", "a"), nsq_fixture_join(self, "2", "b"),
                          nsq_fixture_join(self, "3", "c") };
    const NsqTopic *topic;

    for (int i = 0; i < 3; i++)
        nsq_table_register(self->table, nodes[i], "t", NULL);
    nsq_table_unregister(self->table, nodes[1], "t", NULL);
    nsq_table_register(self->table, nodes[1], "t", NULL);

    topic = nsq_table_find(self->table, "t");
    g_assert_true(topic->own.first->node == nodes[0]);
    g_assert_true(topic->own.first->next->node == nodes[2]);
    g_assert_true(topic->own.last->node == nodes[1]);
}

/* ---- leaving ---- */

static void
test_a_node_that_leaves_takes_its_registrations_and_leaves_the_names(
    NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", "c");
    nsq_table_remove_node(self->table, node, "closed");

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
    g_assert_cmpuint(nsq_fixture_producers(self, "t", "c"), ==, 0);
    g_assert_null(nsq_table_nodes(self->table));
    g_assert_cmpuint(nsq_table_counts(self->table).registrations, ==, 0);
}

static void
test_ephemeral_names_outlive_a_disconnect(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t#ephemeral", "c#ephemeral");
    nsq_table_remove_node(self->table, node, "closed");

    g_assert_nonnull(nsq_table_find(self->table, "t#ephemeral"));
    g_assert_true(nsq_fixture_has_channel(self, "t#ephemeral", "c#ephemeral"));
}

static void
test_a_stale_end_does_not_touch_a_newer_registration(NsqFixture *self,
                                                     gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *old = nsq_fixture_join(self, "10.0.0.1:1", "a");
    NsqNode *fresh = nsq_fixture_join(self, "10.0.0.1:1", "a");

    nsq_table_register(self->table, old, "t", "c");
    nsq_table_register(self->table, fresh, "t", "c");
    g_assert_cmpuint(fresh->generation, >, old->generation);
    nsq_table_unregister(self->table, old, "t", NULL);
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
    nsq_table_remove_node(self->table, old, "closed");

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
    g_assert_cmpuint(nsq_fixture_producers(self, "t", "c"), ==, 1);
}

/* ---- UNREGISTER ---- */

static void
test_unregistering_a_channel_keeps_channel_and_topic(NsqFixture *self,
                                                     gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", "c");
    nsq_table_unregister(self->table, node, "t", "c");

    g_assert_cmpuint(nsq_fixture_producers(self, "t", "c"), ==, 0);
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
}

static void
test_the_last_unregister_drops_an_ephemeral_channel(NsqFixture *self,
                                                    gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *one = nsq_fixture_join(self, "1", "a"), *other = nsq_fixture_join(self, "2", "b");

    nsq_table_register(self->table, one, "t", "c#ephemeral");
    nsq_table_register(self->table, other, "t", "c#ephemeral");
    nsq_table_unregister(self->table, one, "t", "c#ephemeral");
    g_assert_true(nsq_fixture_has_channel(self, "t", "c#ephemeral"));
    nsq_table_unregister(self->table, other, "t", "c#ephemeral");

    g_assert_false(nsq_fixture_has_channel(self, "t", "c#ephemeral"));
    g_assert_nonnull(nsq_table_find(self->table, "t"));
}

static void
test_unregistering_what_one_never_had_drops_an_empty_ephemeral_channel(
    NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *one = nsq_fixture_join(self, "1", "a"), *other = nsq_fixture_join(self, "2", "b");

    nsq_table_register(self->table, one, "t", "c#ephemeral");
    nsq_table_remove_node(self->table, one, "closed");
    nsq_table_unregister(self->table, other, "t", "c#ephemeral");
    nsq_table_unregister(self->table, other, "nowhere", "c");

    g_assert_false(nsq_fixture_has_channel(self, "t", "c#ephemeral"));
}

static void
test_unregistering_a_topic_takes_the_node_from_its_channels_which_stay(
    NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", "c#ephemeral");
    nsq_table_register(self->table, node, "t", "d");
    nsq_table_unregister(self->table, node, "t", NULL);

    g_assert_cmpuint(nsq_fixture_producers(self, "t", "c#ephemeral"), ==, 0);
    g_assert_cmpuint(nsq_fixture_producers(self, "t", "d"), ==, 0);
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
}

static void
test_the_last_unregister_drops_an_ephemeral_topic_and_not_its_channels(
    NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t#ephemeral", "c");
    nsq_table_unregister(self->table, node, "t#ephemeral", NULL);

    g_assert_null(nsq_table_find(self->table, "t#ephemeral"));
    g_assert_true(nsq_fixture_has_channel(self, "t#ephemeral", "c"));
    g_assert_cmpuint(nsq_table_counts(self->table).topics, ==, 0);
    nsq_table_unregister(self->table, node, "t#ephemeral", "c");
    nsq_table_register(self->table, node, "t#ephemeral", NULL);
    g_assert_cmpuint(nsq_fixture_visible(self, "t#ephemeral"), ==, 1);
}

static void
test_topic_and_channel_may_be_unregistered_in_any_order(NsqFixture *self,
                                                        gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t#ephemeral", "c#ephemeral");
    nsq_table_unregister(self->table, node, "t#ephemeral", NULL);
    nsq_table_unregister(self->table, node, "t#ephemeral", "c#ephemeral");

    g_assert_cmpuint(g_hash_table_size(nsq_table_topics(self->table)), ==, 0);
}

/* ---- people ---- */

static void
test_creating_makes_names_without_producers(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    nsq_table_create(self->table, "t", "c");
    nsq_table_create(self->table, "t", "c");
    nsq_table_create(self->table, "u", NULL);

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 0);
    g_assert_cmpuint(nsq_fixture_producers(self, "t", "c"), ==, 0);
    g_assert_cmpuint(nsq_table_counts(self->table).topics, ==, 2);
    nsq_fixture_assert_events(self, "created:t/c changed:t created:t changed:u created:u");
}

static void
test_deleting_a_topic_deletes_its_channels_and_a_new_registration_brings_them_back(
    NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    nsq_table_register(self->table, node, "t", "c");
    g_assert_true(nsq_table_delete_topic(self->table, "t"));
    g_assert_false(nsq_table_delete_topic(self->table, "t"));
    g_assert_null(nsq_table_find(self->table, "t"));
    g_assert_false(nsq_fixture_has_channel(self, "t", "c"));
    nsq_table_register(self->table, node, "t", "c");

    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
}

static void
test_deleting_a_channel_keeps_its_topic(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    nsq_table_register(self->table, nsq_fixture_join(self, "1", "a"), "t", "c");

    g_assert_true(nsq_table_delete_channel(self->table, "t", "c"));
    g_assert_false(nsq_table_delete_channel(self->table, "t", "c"));
    g_assert_false(nsq_table_delete_channel(self->table, "nowhere", "c"));

    g_assert_false(nsq_fixture_has_channel(self, "t", "c"));
    g_assert_cmpuint(nsq_fixture_visible(self, "t"), ==, 1);
}

/* ---- the index ---- */

static void
test_the_index_moves_with_the_producers_of_a_topic_alone(NsqFixture *self,
                                                         gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");
    guint64 index;

    g_assert_cmpuint(nsq_table_index(self->table, "t"), ==, NSQ_FIRST_INDEX);
    nsq_table_register(self->table, node, "t", NULL);
    index = nsq_table_index(self->table, "t");
    g_assert_cmpuint(index, >, NSQ_FIRST_INDEX);
    nsq_table_register(self->table, node, "t", "c");
    nsq_table_register(self->table, node, "u", NULL);
    nsq_table_hear(self->table, node, self->now_us);
    g_assert_cmpuint(nsq_table_index(self->table, "t"), ==, index);

    nsq_table_tombstone(self->table, "t", "a:4151", self->now_us);
    g_assert_cmpuint(nsq_table_index(self->table, "t"), >, index);
    nsq_table_delete_topic(self->table, "t");
    g_assert_cmpuint(nsq_table_index(self->table, "t"), ==, NSQ_FIRST_INDEX);
}

static void
test_it_is_full_some_time_and_goes_on_with_what_is_there(NsqFixture *self,
                                                         gconstpointer user G_GNUC_UNUSED)
{
    NsqNode *node = nsq_fixture_join(self, "1", "a");

    for (int i = 0; i < NSQ_MAX_ENTRIES / 4; i++) {
        g_autofree char *topic = g_strdup_printf("t%d", i);

        g_assert_true(nsq_table_register(self->table, node, topic, "c"));
    }
    g_string_truncate(self->events, 0);
    g_assert_false(nsq_table_register(self->table, node, "more", NULL));
    g_assert_false(nsq_table_create(self->table, "more", NULL));
    g_assert_false(nsq_table_create(self->table, "t0", "more"));
    nsq_fixture_assert_events(self, "");

    g_assert_true(nsq_table_register(self->table, node, "t0", "c"));
    nsq_table_delete_topic(self->table, "t0");
    g_assert_true(nsq_table_create(self->table, "more", "c"));
    g_assert_true(nsq_table_register(self->table, node, "more", "c"));
    g_assert_false(nsq_table_register(self->table, node, "more", "d"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(test) nsq_fixture_add(#test, test_##test)
    ADD(registering_a_channel_registers_its_topic_too);
    ADD(registering_again_changes_nothing);
    ADD(registrations_come_in_the_order_in_which_they_were_made);
    ADD(a_node_that_leaves_takes_its_registrations_and_leaves_the_names);
    ADD(ephemeral_names_outlive_a_disconnect);
    ADD(a_stale_end_does_not_touch_a_newer_registration);
    ADD(unregistering_a_channel_keeps_channel_and_topic);
    ADD(the_last_unregister_drops_an_ephemeral_channel);
    ADD(unregistering_what_one_never_had_drops_an_empty_ephemeral_channel);
    ADD(unregistering_a_topic_takes_the_node_from_its_channels_which_stay);
    ADD(the_last_unregister_drops_an_ephemeral_topic_and_not_its_channels);
    ADD(topic_and_channel_may_be_unregistered_in_any_order);
    ADD(creating_makes_names_without_producers);
    ADD(deleting_a_topic_deletes_its_channels_and_a_new_registration_brings_them_back);
    ADD(deleting_a_channel_keeps_its_topic);
    ADD(the_index_moves_with_the_producers_of_a_topic_alone);
    ADD(it_is_full_some_time_and_goes_on_with_what_is_there);
    return g_test_run();
}
