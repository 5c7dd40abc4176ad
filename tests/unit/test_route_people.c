/* test_route_people.c - what people do to routes, and which lists of topics there are. */
#include "registry/route_report.h"
#include "tests/support/route_fixture.h"

#define UNUSED gconstpointer user G_GNUC_UNUSED

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
    route_fixture_assert_events(self, "wiped:b1 wiped:b2");
    route_table_restore_write(self->table, "b2"); /* and again when it may be written again */
    route_fixture_assert_events(self, "creates-itself:TBW102:b2 restored:b2");
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
    static const RouteRules dropping = { .drop_topics = TRUE, .max_entries = G_MAXUINT64 };

    g_test_init(&argc, &argv, NULL);
#define ADD(name) route_fixture_add("/route-people/" #name, test_##name)
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
#define ADD(name) route_fixture_add_ruled("/route-people/" #name, &dropping, test_##name)
    ADD(with_the_rule_a_topic_by_itself_goes_with_the_next_whole_registration);
#undef ADD
    return g_test_run();
}
