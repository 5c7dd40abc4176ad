/* test_route_index.c - what moves the index of a topic, by which look-ups that wait know of news.
 */
#include "tests/support/route_fixture.h"

#define UNUSED gconstpointer user G_GNUC_UNUSED

/* Whether it is another one than when it was last asked for. */
static gboolean
has_moved(const RouteFixture *self, const char *topic, guint64 *seen)
{
    guint64 before = *seen;

    *seen = route_table_index(self->table, topic);
    return *seen != before;
}

static void
test_a_node_that_comes_or_goes_moves_the_topics_of_its_broker_alone(RouteFixture *self, UNUSED)
{
    guint64 seen = 0, elsewhere = 0;

    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b2", 0, "a9", "t3 t4");
    has_moved(self, "t1", &seen);
    has_moved(self, "t3", &elsewhere);

    route_fixture_join(self, "b1", 1, "a1", "t1 t2");
    g_assert_true(has_moved(self, "t1", &seen));
    route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    g_assert_true(has_moved(self, "t1", &seen));
    g_assert_false(has_moved(self, "t3", &elsewhere));
}

static void
test_a_broker_that_goes_moves_the_topics_that_others_offer_too(RouteFixture *self, UNUSED)
{
    guint64 seen = 0;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_join(self, "b2", 0, "a2", "t1 t2");
    has_moved(self, "t1", &seen);

    route_table_unregister(self->table, self->session, "c1", "b1", "a1");
    g_assert_true(has_moved(self, "t1", &seen));
    g_assert_cmpuint(seen, !=, ROUTE_FIRST_INDEX);
}

static void
test_permissions_move_it_when_they_are_others(RouteFixture *self, UNUSED)
{
    guint64 seen = 0;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    has_moved(self, "t1", &seen);

    route_table_wipe_write(self->table, "b1");
    g_assert_true(has_moved(self, "t1", &seen));
    route_table_wipe_write(self->table, "b1");
    g_assert_false(has_moved(self, "t1", &seen));
    route_table_restore_write(self->table, "b1");
    g_assert_true(has_moved(self, "t1", &seen));
}

static void
test_queues_move_it_when_they_are_others(RouteFixture *self, UNUSED)
{
    BrokerRegistration *told;
    guint64 seen = 0;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    has_moved(self, "t1", &seen);

    told = route_fixture_tell(self, "b1", 0, "a1", "t1 t2");
    told->version.counter = 2;
    route_fixture_register(self, self->session);
    g_assert_false(has_moved(self, "t1", &seen));
    told->version.counter = 3;
    ((BrokerTopic *) g_ptr_array_index(told->topics, 0))->write_queues = 2;
    route_fixture_register(self, self->session);
    g_assert_true(has_moved(self, "t1", &seen));
}

static void
test_what_a_broker_says_of_its_group_moves_it_once(RouteFixture *self, UNUSED)
{
    guint64 seen = 0;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    has_moved(self, "t1", &seen);

    self->told->zone = g_strdup("east");
    route_fixture_register(self, self->session);
    g_assert_true(has_moved(self, "t1", &seen));
    self->told->knows_acting_master = self->told->enable_acting_master = TRUE;
    route_fixture_register(self, self->session);
    g_assert_true(has_moved(self, "t1", &seen));
    route_fixture_register(self, self->session);
    g_assert_false(has_moved(self, "t1", &seen));
}

static void
test_what_is_told_with_a_route_moves_it_by_hand(RouteFixture *self, UNUSED)
{
    guint64 seen = 0;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    has_moved(self, "t1", &seen);
    route_table_touch(self->table, "t1");
    route_table_touch(self->table, "nowhere");

    g_assert_true(has_moved(self, "t1", &seen));
    g_assert_cmpuint(route_table_index(self->table, "nowhere"), ==, ROUTE_FIRST_INDEX);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name) route_fixture_add("/route-index/" #name, test_##name)
    ADD(a_node_that_comes_or_goes_moves_the_topics_of_its_broker_alone);
    ADD(a_broker_that_goes_moves_the_topics_that_others_offer_too);
    ADD(permissions_move_it_when_they_are_others);
    ADD(queues_move_it_when_they_are_others);
    ADD(what_a_broker_says_of_its_group_moves_it_once);
    ADD(what_is_told_with_a_route_moves_it_by_hand);
#undef ADD
    return g_test_run();
}
