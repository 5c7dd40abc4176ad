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

    route_fixture_assert_events(self, "joined:b1@a1 joined:b1@a1"); /* it is no rival of itself */
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
    g_assert_cmpint(
        route_table_register(self->table, self->session, self->told, self->now_us, &self->master),
        ==, ROUTE_NOT_WHOLE);
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

/* Of t1, told with the topics; takes the JSON. */
static void
tell_mapping(RouteFixture *self, const char *topics, char *json)
{
    QueueMapping *mapping = g_new0(QueueMapping, 1);

    mapping->topic = g_strdup("t1");
    mapping->broker = g_strdup("b9");
    mapping->json = json;
    g_ptr_array_add(route_fixture_tell(self, "b1", 0, "a1", topics)->mappings, mapping);
}

static void
assert_mapping(const RouteFixture *self, const char *json)
{
    g_autoptr(TopicRoute) route =
        route_report_topic(self->table, route_table_find(self->table, "t1"), NULL);
    const QueueMapping *mapping;

    g_assert_cmpuint(route->mappings->len, ==, 1);
    mapping = g_ptr_array_index(route->mappings, 0);
    g_assert_cmpstr(mapping->broker, ==, "b9");
    g_assert_cmpstr(mapping->json, ==, json);
}

static void
test_the_mapping_of_a_static_topic_is_kept_with_it(RouteFixture *self, UNUSED)
{
    tell_mapping(self, "t1 t2", g_strdup("{}"));
    route_fixture_register(self, self->session);
    assert_mapping(self, "{}");

    tell_mapping(self, "t1 t2", g_strdup("[]"));
    route_fixture_register(self, self->session);
    assert_mapping(self, "{}"); /* the version is the same */
    self->told->version.counter = 2;
    route_fixture_register(self, self->session);
    assert_mapping(self, "[]");
}

static void
test_with_the_rule_a_registration_with_mappings_is_not_whole(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    tell_mapping(self, "t1", g_strdup("{}"));
    self->told->version.counter = 2;
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t2", "b1:0=a1");
}

static RouteOutcome
register_told(RouteFixture *self)
{
    return route_table_register(self->table, self->session, self->told, self->now_us,
                                &self->master);
}

static RouteOutcome
try(RouteFixture *self, const char *broker, const char *address, const char *topics)
{
    route_fixture_tell(self, broker, 0, address, topics);
    return register_told(self);
}

static void
test_it_is_full_some_time_and_goes_on_with_what_is_there(RouteFixture *self, UNUSED)
{
    g_autoptr(TopicRoute) route = topic_route_new();

    g_assert_cmpint(try(self, "b1", "a1", "t1 t2"), ==, ROUTE_ACCEPTED);
    g_assert_cmpint(try(self, "b2", "a2", "t1 t2"), ==, ROUTE_FULL);
    g_assert_cmpint(try(self, "b1", "a1", "t1 t2 t3 t4"), ==, ROUTE_FULL);
    g_assert_cmpint(try(self, "b1", "a1", "t1 t2 t3"), ==, ROUTE_ACCEPTED);
    g_assert_cmpint(try(self, "b1", "a1", "t1 t2 t3"), ==, ROUTE_ACCEPTED);
    topic_route_add_queue(route, "b1", 4, 4, 6, 0);
    g_assert_false(route_table_register_topic(self->table, "t4", route->queues));

    route_fixture_assert_route(self, "t3", "b1:0=a1");
    g_assert_null(route_table_find_broker(self->table, "b2"));
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    g_assert_cmpint(try(self, "b2", "a2", "t1 t2"), ==, ROUTE_ACCEPTED);
}

/* Registered and gone again, what comes with a node must not be left in the count. */
static void
test_what_comes_with_a_node_takes_room_as_long_as_it_is_there(RouteFixture *self, UNUSED)
{
    for (int i = 0; i < 3; i++) {
        tell_mapping(self, "t1 t2", g_strnfill(1024, 'x')); /* two entries */
        g_assert_cmpint(register_told(self), ==, ROUTE_FULL);
        g_ptr_array_set_size(self->told->mappings, 0);
        self->told->filter_servers = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(self->told->filter_servers, g_strdup("f1"));
        route_fixture_register(self, self->session);
        g_assert_cmpint(try(self, "b1", "a1", "t1 t2 t3"), ==, ROUTE_FULL);
        route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    }
}

static void
test_a_broker_is_not_listed_in_clusters_without_end(RouteFixture *self, UNUSED)
{
    g_assert_cmpint(try(self, "b1", "a1", "t1 t2"), ==, ROUTE_ACCEPTED);
    route_fixture_tell(self, "b1", 1, "a2", "t1 t2");
    g_free(self->told->cluster);
    self->told->cluster = g_strdup("c2");

    g_assert_cmpint(register_told(self), ==, ROUTE_FULL); /* a node, and a further cluster */
}

static void
test_a_broker_has_a_thousand_nodes_at_most(RouteFixture *self, UNUSED)
{
    for (gint64 id = 0; id < 1000; id++) {
        g_autofree char *address = g_strdup_printf("a%" G_GINT64_FORMAT, id);

        route_fixture_join(self, "b1", id, address, "t1 t2");
    }

    route_fixture_tell(self, "b1", 1000, "other", "t1 t2");
    g_assert_cmpint(register_told(self), ==, ROUTE_FULL);
    route_fixture_join(self, "b1", 500, "other", "t1 t2"); /* in the place of another */
    route_fixture_join(self, "b2", 1000, "a999", "t1 t2");
    route_fixture_join(self, "b1", 1000, "a1000", "t1 t2");
}

static void
test_names_have_an_end(RouteFixture *self, UNUSED)
{
    g_autofree char *name = g_strnfill(1025, 'x');
    g_autofree char *topics = g_strconcat("t1 ", name, NULL);

    g_assert_cmpint(try(self, name, "a1", "t1 t2"), ==, ROUTE_TOO_LONG);
    g_assert_cmpint(try(self, "b1", name, "t1 t2"), ==, ROUTE_TOO_LONG);
    g_assert_cmpint(try(self, "b1", "a1", topics), ==, ROUTE_TOO_LONG);
    tell_mapping(self, "t1 t2", g_strnfill(64 * 1024 + 1, 'x'));
    g_assert_cmpint(register_told(self), ==, ROUTE_TOO_LONG);
    route_fixture_tell(self, "b1", 0, "a1", "t1 t2")->filter_servers =
        g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < 65; i++)
        g_ptr_array_add(self->told->filter_servers, g_strdup("f"));
    g_assert_cmpint(register_told(self), ==, ROUTE_TOO_LONG);

    g_assert_cmpuint(route_table_counts(self->table).nodes, ==, 0);
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

int
main(int argc, char **argv)
{
    static const RouteRules dropping = { .drop_topics = TRUE, .max_entries = G_MAXUINT64 };
    static const RouteRules small = { .max_entries = 4 };

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
    ADD(a_broker_has_a_thousand_nodes_at_most);
    ADD(names_have_an_end);
    ADD(who_unregisters_takes_the_topics_that_nobody_else_offers);
    ADD(several_may_unregister_and_nothing_is_left);
    ADD(unregistering_what_is_not_there_is_harmless);
    ADD(a_session_takes_all_its_brokers_and_no_others);
    ADD(a_stale_close_does_not_touch_a_newer_registration);
    ADD(a_stale_unregister_does_not_touch_a_newer_registration);
    ADD(a_registration_that_comes_late_does_not_bind_it_to_an_older_session);
    ADD(a_newer_session_may_unregister_what_an_older_one_registered);
#undef ADD
#define ADD(name) route_fixture_add_ruled("/route-table/" #name, &dropping, test_##name)
    ADD(with_the_rule_a_registration_with_mappings_is_not_whole);
    ADD(with_the_rule_topics_that_are_not_named_go_broker_by_broker);
#undef ADD
#define ADD(name) route_fixture_add_ruled("/route-table/" #name, &small, test_##name)
    ADD(it_is_full_some_time_and_goes_on_with_what_is_there);
    ADD(what_comes_with_a_node_takes_room_as_long_as_it_is_there);
    ADD(a_broker_is_not_listed_in_clusters_without_end);
#undef ADD
    return g_test_run();
}
