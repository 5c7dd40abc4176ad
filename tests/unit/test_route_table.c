/* test_route_table.c - what RocketMQ's route table pins down of brokers, topics and people. */
#include "tests/support/route_fixture.h"

#include "registry/route_report.h"

#define UNUSED gconstpointer user G_GNUC_UNUSED

/* ---- registering ---- */

static void
test_a_registered_broker_offers_its_topics(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 1234, "a1", "t1 t2");
    route_fixture_assert_route(self, "t1", ""); /* only a master's topics are taken from 4.9 */
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");

    route_fixture_assert_route(self, "t1", "b1:0=a0,1234=a1");
    route_fixture_assert_route(self, "t3", "");
    route_fixture_assert_events(self, "joined:b1@a1 joined:b1@a0");
}

static void
test_one_address_in_two_clusters_has_two_versions(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_tell(self, "b1", 0, "a1", "t1 t2");
    g_free(self->told->cluster);
    self->told->cluster = g_strdup("c2");
    self->told->version.counter = 7;
    route_fixture_register(self, self->session);

    g_assert_cmpint(route_table_hear(self->table, "c1", "a1", self->now_us)->counter, ==, 1);
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    g_assert_null(route_table_hear(self->table, "c1", "a1", self->now_us));
    g_assert_cmpint(route_table_hear(self->table, "c2", "a1", self->now_us)->counter, ==, 7);
    route_fixture_assert_route(self, "t1", "b1:0=a1");
}

static void
test_a_single_topic_is_no_first_registration(RouteFixture *self, UNUSED)
{
    route_fixture_tell(self, "b1", 0, "a1", "t1");
    g_assert_false(
        route_table_register(self->table, self->session, self->told, self->now_us, &self->master));
    route_fixture_assert_events(self, "");
    g_assert_null(route_table_find_broker(self->table, "b1"));

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_join(self, "b1", 0, "a1", "t3");
    route_fixture_assert_route(self, "t1", "b1:0=a1");
    route_fixture_assert_route(self, "t3", "b1:0=a1");
    route_fixture_assert_events(self, "joined:b1@a1 offered:t3:b1");
}

static void
test_a_heartbeat_that_says_the_same_changes_nothing(RouteFixture *self, UNUSED)
{
    guint64 index;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    index = route_table_index(self->table, "t1");
    route_fixture_assert_events(self, "joined:b1@a1");
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");

    route_fixture_assert_events(self, "");
    g_assert_cmpuint(route_table_index(self->table, "t1"), ==, index);
    g_assert_cmpuint(index, >, ROUTE_FIRST_INDEX);
    g_assert_cmpuint(route_table_index(self->table, "nowhere"), ==, ROUTE_FIRST_INDEX);
}

static void
test_a_topic_of_the_same_version_is_taken_if_it_is_not_there(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_join(self, "b1", 0, "a1", "t3 t4"); /* the second part of a split one */

    route_fixture_assert_route(self, "t1", "b1:0=a1");
    route_fixture_assert_route(self, "t4", "b1:0=a1");
}

static void
test_a_topic_is_changed_by_another_version_alone(RouteFixture *self, UNUSED)
{
    BrokerRegistration *told;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    told = route_fixture_tell(self, "b1", 0, "a1", "t1 t2");
    ((BrokerTopic *) g_ptr_array_index(told->topics, 0))->perm = QUEUE_PERM_READ;
    route_fixture_register(self, self->session);
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
    told->version.timestamp_ms = 5;
    route_fixture_register(self, self->session);

    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 4);
    route_fixture_assert_events(self, "joined:b1@a1 resized:t1:b1");
}

static void
test_topics_that_a_registration_does_not_name_stay(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_tell(self, "b1", 0, "a1", "t2 t3")->version.counter = 2;
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t1", "b1:0=a1");
}

static void
test_with_the_rule_topics_that_are_not_named_go_broker_by_broker(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_join(self, "b2", 0, "a2", "t1 t2");
    route_fixture_tell(self, "b1", 0, "a1", "t2")->version.counter = 2;
    route_fixture_register(self, self->session);
    route_fixture_assert_route(self, "t1", "b2:0=a2");
    route_fixture_tell(self, "b2", 0, "a2", "t2")->version.counter = 2;
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t1", "");
    route_fixture_assert_route(self, "t2", "b1:0=a1 b2:0=a2");
}

static void
test_an_address_that_has_another_name_is_not_listed_twice(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "old", 0, "a1", "t1 t2");
    route_fixture_join(self, "new", 0, "a1", "t1 t2");

    route_fixture_assert_route(self, "t1", "new:0=a1");
    g_assert_null(route_table_find_broker(self->table, "old"));
}

static void
test_filter_servers_stay_unless_they_are_told_anew(RouteFixture *self, UNUSED)
{
    const RouteNode *node;

    route_fixture_tell(self, "b1", 0, "a1", "t1 t2");
    self->told->filter_servers = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(self->told->filter_servers, g_strdup("f1"));
    route_fixture_register(self, self->session);
    route_fixture_join(self, "b1", 0, "a1", "t1 t2"); /* which says nothing of them */
    node = route_broker_node(route_table_find_broker(self->table, "b1"), 0);
    g_assert_cmpuint(node->filter_servers->len, ==, 1);
    self->told->filter_servers = g_ptr_array_new();
    route_fixture_register(self, self->session);

    g_assert_null(node->filter_servers);
}

static void
test_the_mapping_of_a_static_topic_is_kept_with_it(RouteFixture *self, UNUSED)
{
    QueueMapping *mapping = g_new0(QueueMapping, 1);
    g_autoptr(TopicRoute) route = NULL;

    mapping->topic = g_strdup("t1");
    mapping->broker = g_strdup("b9");
    mapping->json = g_strdup("{}");
    g_ptr_array_add(route_fixture_tell(self, "b1", 0, "a1", "t1 t2")->mappings, mapping);
    route_fixture_register(self, self->session);

    route = route_report_topic(self->table, route_table_find(self->table, "t1"), NULL);
    g_assert_cmpuint(route->mappings->len, ==, 1);
    g_assert_cmpstr(((QueueMapping *) g_ptr_array_index(route->mappings, 0))->broker, ==, "b9");
}

/* ---- leaving ---- */

static void
test_who_unregisters_takes_the_topics_that_nobody_else_offers(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_join(self, "b2", 0, "a2", "t2 t3");
    g_string_truncate(self->events, 0);
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");

    route_fixture_assert_route(self, "t1", "");
    route_fixture_assert_route(self, "t2", "b2:0=a2");
    route_fixture_assert_events(self, "left:b1@a1");
}

static void
test_several_may_unregister_and_nothing_is_left(RouteFixture *self, UNUSED)
{
    for (int i = 0; i < 3; i++) {
        g_autofree char *name = g_strdup_printf("b%d", i);
        g_autofree char *address = g_strdup_printf("a%d", i);

        route_fixture_join(self, name, 0, address, "t1 t2");
    }
    route_table_unregister(self->table, self->session, "c1", "b0", "a0");
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    route_table_unregister(self->table, self->session, "c1", "b2", "a2");

    g_assert_cmpuint(route_table_counts(self->table).topics, ==, 0);
    g_assert_cmpuint(route_table_counts(self->table).clusters, ==, 0);
}

static void
test_unregistering_what_is_not_there_is_harmless(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_assert_events(self, "joined:b1@a1");
    route_table_unregister(self->table, self->session, "c1", "b1", "a9");
    route_table_unregister(self->table, self->session, "c9", "b1", "a1");
    route_table_unregister(self->table, self->session, "c1", "b9", "a1");

    route_fixture_assert_events(self, "");
    route_fixture_assert_route(self, "t1", "b1:0=a1");
}

static void
test_a_session_takes_all_its_brokers_and_no_others(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_join(self, "b2", 0, "a2", "t1 t2");
    route_fixture_tell(self, "b3", 0, "a3", "t1 t2");
    route_fixture_register(self, self->other);
    route_table_close_session(self->table, g_steal_pointer(&self->session), "closed");

    route_fixture_assert_route(self, "t1", "b3:0=a3");
    route_table_close_session(self->table, g_steal_pointer(&self->other), "closed");
    route_fixture_assert_route(self, "t1", "");
}

static void
test_a_stale_close_does_not_touch_a_newer_registration(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_register(self, self->other);
    route_table_close_session(self->table, g_steal_pointer(&self->session), "closed");

    route_fixture_assert_route(self, "t1", "b1:0=a1");
}

static void
test_a_stale_unregister_does_not_touch_a_newer_registration(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_register(self, self->other);
    g_string_truncate(self->events, 0);
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");

    route_fixture_assert_route(self, "t1", "b1:0=a1");
    route_fixture_assert_events(self, "stale:b1@a1");
}

static void
test_a_registration_that_comes_late_does_not_bind_it_to_an_older_session(RouteFixture *self, UNUSED)
{
    route_fixture_tell(self, "b1", 0, "a1", "t1 t2");
    route_fixture_register(self, self->other);
    route_fixture_register(self, self->session);
    route_table_close_session(self->table, g_steal_pointer(&self->session), "closed");

    route_fixture_assert_route(self, "t1", "b1:0=a1");
}

static void
test_a_newer_session_may_unregister_what_an_older_one_registered(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_table_unregister(self->table, self->other, "c1", "b1", "a1");

    route_fixture_assert_route(self, "t1", "");
}

/* ---- people ---- */

static void
test_wiping_the_write_permission_counts_every_topic_of_the_broker(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_join(self, "b2", 0, "a2", "t1 t2");

    g_assert_cmpuint(route_table_wipe_write(self->table, "b1"), ==, 2);
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 4);
    g_assert_cmpint(route_fixture_perm(self, "t1", "b2"), ==, 6);
    g_assert_cmpuint(route_table_wipe_write(self->table, "b1"), ==, 2);
    g_assert_cmpuint(route_table_wipe_write(self->table, "b9"), ==, 0);
}

static void
test_restoring_the_write_permission_sets_it_to_6(RouteFixture *self, UNUSED)
{
    BrokerRegistration *told = route_fixture_tell(self, "b1", 0, "a1", "t1 t2");

    ((BrokerTopic *) g_ptr_array_index(told->topics, 0))->perm = 7;
    route_fixture_register(self, self->session);
    route_table_wipe_write(self->table, "b1");
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 5);

    g_assert_cmpuint(route_table_restore_write(self->table, "b1"), ==, 2);
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
}

static void
test_a_wiped_permission_survives_heartbeats_until_the_version_changes(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_table_wipe_write(self->table, "b1");
    route_fixture_register(self, self->session);
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 4);
    self->told->version.counter++;
    route_fixture_register(self, self->session);

    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
}

static void
test_a_deleted_topic_is_gone_until_its_broker_names_it_again(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_table_delete_topic(self->table, "t1", NULL);
    route_table_delete_topic(self->table, "nowhere", NULL);
    route_fixture_assert_route(self, "t1", "");
    route_fixture_assert_events(self, "joined:b1@a1 deleted:t1");
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t1", "b1:0=a1");
}

static void
test_a_topic_deleted_in_a_cluster_stays_in_the_others(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_tell(self, "b2", 0, "a2", "t1 t2");
    g_free(self->told->cluster);
    self->told->cluster = g_strdup("c2");
    route_fixture_register(self, self->session);
    route_table_delete_topic(self->table, "t1", "c9");
    route_fixture_assert_route(self, "t1", "b1:0=a1 b2:0=a2");
    route_table_delete_topic(self->table, "t1", "c1");

    route_fixture_assert_route(self, "t1", "b2:0=a2");
}

static void
register_topic(RouteFixture *self, const char *topic, const char *broker, const char *other)
{
    g_autoptr(TopicRoute) route = topic_route_new();

    topic_route_add_queue(route, broker, 4, 4, 6, 0);
    if (other != NULL)
        topic_route_add_queue(route, other, 4, 4, 6, 0);
    route_table_register_topic(self->table, topic, route->queues);
}

static void
test_a_topic_by_itself_needs_brokers_that_are_there(RouteFixture *self, UNUSED)
{
    register_topic(self, "t3", "b1", NULL);
    route_fixture_assert_route(self, "t3", "");
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    register_topic(self, "t3", "b1", "nobody");
    route_fixture_assert_route(self, "t3", ""); /* a new one: all or none */
    register_topic(self, "t3", "b1", NULL);
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t3", "b1:0=a1");
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    route_fixture_assert_route(self, "t3", "");
}

static void
test_with_the_rule_a_topic_by_itself_goes_with_the_next_whole_registration(RouteFixture *self,
                                                                           UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    register_topic(self, "t3", "b1", NULL);
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t3", "");
}

static void
test_a_template_that_may_be_written_is_told_once(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 " ROUTE_TEMPLATE_TOPIC);
    route_fixture_join(self, "b2", 0, "a2", "t1 " ROUTE_TEMPLATE_TOPIC);
    route_fixture_register(self, self->session);

    route_fixture_assert_events(self, "creates-itself:TBW102:b1 joined:b1@a1 joined:b2@a2");
    g_assert_true(route_table_creates_topics(self->table));
    route_table_wipe_write(self->table, "b1");
    route_table_wipe_write(self->table, "b2");
    g_assert_false(route_table_creates_topics(self->table));
}

/* ---- lists ---- */

static void
test_three_brokers_of_three_nodes_are_listed_whole(RouteFixture *self, UNUSED)
{
    g_autoptr(GPtrArray) system = NULL;
    g_autoptr(GPtrArray) of_cluster = NULL;

    for (int broker = 0; broker < 3; broker++)
        for (int id = 0; id < 3; id++) {
            g_autofree char *name = g_strdup_printf("b%d", broker);
            g_autofree char *address = g_strdup_printf("a%d%d", broker, id);

            route_fixture_join(self, name, id, address, "t0 t1 t2 t3 t4 t5 t6 t7 t8 t9");
        }

    g_assert_cmpuint(route_table_counts(self->table).topics, ==, 10);
    system = route_report_system_topics(self->table);
    g_assert_cmpuint(system->len, ==, 4);
    of_cluster = route_report_topics_of_cluster(self->table, "c1");
    g_assert_cmpuint(of_cluster->len, ==, 10);
    route_fixture_assert_route(self, "t9",
                               "b0:0=a00,1=a01,2=a02 b1:0=a10,1=a11,2=a12 b2:0=a20,1=a21,2=a22");
    route_table_delete_topic(self->table, "t9", NULL);
    route_fixture_assert_route(self, "t9", "");
}

static void
join_zone(RouteFixture *self, const char *broker, gint64 id, const char *address, const char *zone)
{
    route_fixture_tell(self, broker, id, address, "t1 t2");
    self->told->zone = g_strdup(zone);
    self->told->knows_acting_master = TRUE;
    route_fixture_register(self, self->session);
}

static void
test_a_zone_sees_its_own_brokers_and_those_without_a_master(RouteFixture *self, UNUSED)
{
    g_autoptr(TopicRoute) route = NULL;

    join_zone(self, "b1", 0, "a1", "East");
    join_zone(self, "b2", 0, "a2", "west");
    join_zone(self, "b3", 1, "a3", "west");
    join_zone(self, "b4", 0, "a4", NULL);
    route = route_report_topic(self->table, route_table_find(self->table, "t1"), "east");

    g_assert_cmpuint(route->brokers->len, ==, 2);
    g_assert_cmpstr(((BrokerGroup *) route->brokers->pdata[0])->broker, ==, "b1");
    g_assert_cmpstr(((BrokerGroup *) route->brokers->pdata[1])->broker, ==, "b3");
    g_assert_cmpuint(route->queues->len, ==, 2);
}

int
main(int argc, char **argv)
{
    static const RouteRules dropping = { .drop_topics = TRUE };

    g_test_init(&argc, &argv, NULL);
#define ADD(name) route_fixture_add("/route-table/" #name, test_##name)
    ADD(a_registered_broker_offers_its_topics);
    ADD(one_address_in_two_clusters_has_two_versions);
    ADD(a_single_topic_is_no_first_registration);
    ADD(a_heartbeat_that_says_the_same_changes_nothing);
    ADD(a_topic_of_the_same_version_is_taken_if_it_is_not_there);
    ADD(a_topic_is_changed_by_another_version_alone);
    ADD(topics_that_a_registration_does_not_name_stay);
    ADD(an_address_that_has_another_name_is_not_listed_twice);
    ADD(filter_servers_stay_unless_they_are_told_anew);
    ADD(the_mapping_of_a_static_topic_is_kept_with_it);
    ADD(who_unregisters_takes_the_topics_that_nobody_else_offers);
    ADD(several_may_unregister_and_nothing_is_left);
    ADD(unregistering_what_is_not_there_is_harmless);
    ADD(a_session_takes_all_its_brokers_and_no_others);
    ADD(a_stale_close_does_not_touch_a_newer_registration);
    ADD(a_stale_unregister_does_not_touch_a_newer_registration);
    ADD(a_registration_that_comes_late_does_not_bind_it_to_an_older_session);
    ADD(a_newer_session_may_unregister_what_an_older_one_registered);
    ADD(wiping_the_write_permission_counts_every_topic_of_the_broker);
    ADD(restoring_the_write_permission_sets_it_to_6);
    ADD(a_wiped_permission_survives_heartbeats_until_the_version_changes);
    ADD(a_deleted_topic_is_gone_until_its_broker_names_it_again);
    ADD(a_topic_deleted_in_a_cluster_stays_in_the_others);
    ADD(a_topic_by_itself_needs_brokers_that_are_there);
    ADD(a_template_that_may_be_written_is_told_once);
    ADD(three_brokers_of_three_nodes_are_listed_whole);
    ADD(a_zone_sees_its_own_brokers_and_those_without_a_master);
#undef ADD
#define ADD(name) route_fixture_add_ruled("/route-table/" #name, &dropping, test_##name)
    ADD(with_the_rule_topics_that_are_not_named_go_broker_by_broker);
    ADD(with_the_rule_a_topic_by_itself_goes_with_the_next_whole_registration);
#undef ADD
    return g_test_run();
}
