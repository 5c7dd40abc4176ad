/* test_route_roles.c - masters and slaves: who has an id, who acts for whom, and what time does. */
#include "base/clock.h"
#include "registry/route_report.h"
#include "tests/support/route_fixture.h"

#define UNUSED gconstpointer user G_GNUC_UNUSED

/* A node of 5.x in a group whose lowest slave is to act as master. */
static void
join_acting(RouteFixture *self, gint64 id, const char *address)
{
    route_fixture_tell(self, "b1", id, address, "t1 t2");
    self->told->knows_acting_master = self->told->enable_acting_master = TRUE;
    route_fixture_register(self, self->session);
}

/* ---- masters and slaves ---- */

static void
test_a_slave_is_told_its_master_and_a_master_nothing(RouteFixture *self, UNUSED)
{
    route_fixture_tell(self, "b1", 0, "a0", "t1 t2");
    self->told->ha_address = g_strdup("h0");
    route_fixture_register(self, self->session);
    g_assert_null(self->master.address);
    route_fixture_join(self, "b1", 1, "a1", "t1 t2");

    g_assert_cmpstr(self->master.address, ==, "a0");
    g_assert_cmpstr(self->master.ha_address, ==, "h0");
}

static void
test_topics_that_a_master_adds_show_its_slave_too(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 1, "a1", "t1 t2");
    route_fixture_tell(self, "b1", 0, "a0", "t3")->version.counter = 2;
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t3", "b1:0=a0,1=a1");
}

static void
test_roles_are_switched_when_the_master_has_unregistered(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 1, "a1", "t1 t2");
    route_table_unregister(self->table, self->session, "c1", "b1", "a0");
    route_fixture_assert_route(self, "t1", "b1:1=a1");
    route_fixture_tell(self, "b1", 0, "a1", "t1 t2")->version.state_version = 2;
    route_fixture_register(self, self->session);
    route_fixture_assert_route(self, "t1", "b1:0=a1");
    route_fixture_join(self, "b1", 1, "a0", "t1 t2");

    route_fixture_assert_route(self, "t1", "b1:0=a1,1=a0");
}

static void
test_roles_are_switched_when_the_master_was_cut_off(RouteFixture *self, UNUSED)
{
    route_fixture_tell(self, "b1", 0, "a0", "t1 t2");
    route_fixture_register(self, self->other);
    route_fixture_join(self, "b1", 1, "a1", "t1 t2");
    route_table_close_session(self->table, g_steal_pointer(&self->other), "cut");
    route_fixture_assert_route(self, "t1", "b1:1=a1");
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");

    route_fixture_assert_route(self, "t1", "b1:0=a1");
    route_fixture_assert_events(self, "joined:b1@a0 joined:b1@a1 left:b1@a0 moved:b1@a1");
}

static void
test_a_slave_that_unregisters_leaves_master_and_topics(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 2, "a2", "t1 t2");
    route_table_unregister(self->table, self->session, "c1", "b1", "a2");

    route_fixture_assert_route(self, "t1", "b1:0=a0");
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
}

/* ---- an id that is held ---- */

static void
test_an_id_that_is_taken_over_is_told_once_with_both_addresses(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 0, "a9", "t1 t2");
    route_fixture_assert_route(self, "t1", "b1:0=a9");
    route_fixture_assert_events(self, "joined:b1@a0 taken-over:b1@a9<a0 joined:b1@a9");
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 0, "a9", "t1 t2");

    route_fixture_assert_events(self, "taken-over-back:b1@a0<a9 taken-over-back:b1@a9<a0");
}

static void
test_who_lost_its_id_may_leave_without_harm(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 0, "a9", "t1 t2");
    g_assert_cmpuint(route_table_counts(self->table).nodes, ==, 2);
    route_table_unregister(self->table, self->session, "c1", "b1", "a0");

    route_fixture_assert_route(self, "t1", "b1:0=a9");
    g_assert_cmpuint(route_table_counts(self->table).nodes, ==, 1);
}

static void
test_a_slave_that_becomes_master_takes_the_id_over(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 1, "a1", "t1 t2");
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");

    route_fixture_assert_route(self, "t1", "b1:0=a1");
    route_fixture_assert_events(self, "joined:b1@a0 joined:b1@a1 taken-over:b1@a1<a0 moved:b1@a1");
}

static void
test_an_id_is_not_given_up_to_an_older_state(RouteFixture *self, UNUSED)
{
    route_fixture_tell(self, "b1", 0, "a0", "t1 t2")->version.state_version = 5;
    route_fixture_register(self, self->session);
    route_fixture_tell(self, "b1", 0, "a9", "t1 t2")->version.state_version = 4;
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "t1", "b1:0=a0");
    g_assert_cmpuint(route_table_counts(self->table).nodes, ==, 1);
    route_fixture_assert_events(self, "joined:b1@a0 refused:b1@a9<a0");
}

static void
test_who_may_not_have_an_id_leaves_the_one_that_it_had(RouteFixture *self, UNUSED)
{
    route_fixture_tell(self, "b1", 0, "a0", "t1 t2")->version.state_version = 5;
    route_fixture_register(self, self->session);
    route_fixture_join(self, "b1", 1, "a1", "t1 t2");
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");

    route_fixture_assert_route(self, "t1", "b1:0=a0");
    route_fixture_assert_events(self, "joined:b1@a0 joined:b1@a1 refused:b1@a1<a0 left:b1@a1");
}

/* ---- acting masters ---- */

static void
test_the_lowest_slave_acts_while_the_master_is_away(RouteFixture *self, UNUSED)
{
    join_acting(self, 0, "a0");
    join_acting(self, 1, "a1");
    join_acting(self, 2, "a2");
    route_table_unregister(self->table, self->session, "c1", "b1", "a0");
    route_fixture_assert_route(self, "t1", "b1:0=a1,2=a2");
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 4);
    join_acting(self, 0, "a0");

    route_fixture_assert_route(self, "t1", "b1:0=a0,1=a1,2=a2");
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
}

static void
test_only_groups_that_ask_for_it_have_an_acting_master(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_join(self, "b1", 1, "a1", "t1 t2");
    route_table_unregister(self->table, self->session, "c1", "b1", "a0");

    route_fixture_assert_route(self, "t1", "b1:1=a1");
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
}

static void
test_only_a_registry_that_is_told_to_shows_an_acting_master(RouteFixture *self, UNUSED)
{
    join_acting(self, 0, "a0");
    join_acting(self, 1, "a1");
    route_table_unregister(self->table, self->session, "c1", "b1", "a0");

    route_fixture_assert_route(self, "t1", "b1:1=a1");
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 4);
}

static void
test_topics_of_a_slave_that_is_alone_are_not_written(RouteFixture *self, UNUSED)
{
    join_acting(self, 1, "a1");
    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 4);
    route_fixture_assert_route(self, "t1", "b1:0=a1");
    join_acting(self, 0, "a0");

    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
}

static void
test_groups_have_acting_masters_each_for_itself(RouteFixture *self, UNUSED)
{
    join_acting(self, 0, "a0");
    join_acting(self, 1, "a1");
    route_fixture_join(self, "b2", 0, "a20", "t1 t2");
    route_fixture_join(self, "b2", 1, "a21", "t1 t2");
    route_table_unregister(self->table, self->session, "c1", "b1", "a0");
    route_table_unregister(self->table, self->session, "c1", "b2", "a20");

    route_fixture_assert_route(self, "t1", "b1:0=a1 b2:1=a21");
}

static void
test_who_looks_for_members_sees_them_as_they_are(RouteFixture *self, UNUSED)
{
    route_fixture_tell(self, "b1", 1, "a1", "t1 rmq_sys_SYNC_BROKER_MEMBER_b1");
    self->told->knows_acting_master = self->told->enable_acting_master = TRUE;
    route_fixture_register(self, self->session);

    route_fixture_assert_route(self, "rmq_sys_SYNC_BROKER_MEMBER_b1", "b1:1=a1");
}

static void
test_a_candidate_keeps_the_write_permission_where_nobody_acts(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    route_fixture_tell(self, "b1", -1, "a1", "t1 t2");
    self->told->knows_acting_master = TRUE;
    route_fixture_register(self, self->session);

    g_assert_cmpint(route_fixture_perm(self, "t1", "b1"), ==, 6);
}

/* ---- time ---- */

static GPtrArray *
advance(RouteFixture *self, gint64 delay_us)
{
    self->now_us += delay_us;
    return route_table_advance(self->table, self->now_us);
}

static void
test_a_broker_is_listed_up_to_the_very_end_of_its_time(RouteFixture *self, UNUSED)
{
    g_autoptr(GPtrArray) expired = NULL;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    g_assert_cmpint(route_table_next_us(self->table), ==, self->now_us + 120 * SECOND_US + 1);
    g_assert_null(advance(self, 120 * SECOND_US));
    route_fixture_assert_route(self, "t1", "b1:0=a1");
    expired = advance(self, 1);

    g_assert_cmpuint(expired->len, ==, 1);
    g_assert_true(expired->pdata[0] == self->session);
    route_fixture_assert_route(self, "t1", "");
    route_fixture_assert_events(self, "joined:b1@a1 expired:b1@a1");
    g_assert_cmpint(route_table_next_us(self->table), ==, CLOCK_NEVER);
}

static void
test_a_broker_may_have_a_patience_of_its_own(RouteFixture *self, UNUSED)
{
    g_autoptr(GPtrArray) expired = NULL;

    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    route_fixture_tell(self, "b2", 0, "a2", "t1 t2")->heartbeat_timeout_ms = 30 * 1000;
    route_fixture_register(self, self->session);
    g_assert_cmpint(route_table_next_us(self->table), ==, self->now_us + 30 * SECOND_US + 1);
    expired = advance(self, 31 * SECOND_US);

    route_fixture_assert_route(self, "t1", "b1:0=a1");
    g_assert_null(expired); /* the session has another broker */
}

static void
test_whoever_is_heard_does_not_expire(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a1", "t1 t2");
    g_assert_null(advance(self, 100 * SECOND_US));
    g_assert_nonnull(route_table_hear(self->table, "c1", "a1", self->now_us));
    g_assert_null(route_table_hear(self->table, "c1", "nobody", self->now_us));
    g_assert_null(advance(self, 100 * SECOND_US));

    route_fixture_assert_route(self, "t1", "b1:0=a1");
    g_assert_cmpint(route_table_next_us(self->table), ==, self->now_us + 20 * SECOND_US + 1);
}

static void
test_who_lost_its_id_expires_too(RouteFixture *self, UNUSED)
{
    route_fixture_join(self, "b1", 0, "a0", "t1 t2");
    advance(self, 60 * SECOND_US);
    route_fixture_join(self, "b1", 0, "a9", "t1 t2");
    advance(self, 61 * SECOND_US);

    g_assert_cmpuint(route_table_counts(self->table).nodes, ==, 1);
    route_fixture_assert_route(self, "t1", "b1:0=a9");
}

int
main(int argc, char **argv)
{
    static const RouteRules acting = { .acting_master = TRUE, .max_entries = G_MAXUINT64 };

    g_test_init(&argc, &argv, NULL);
#define ADD(name) route_fixture_add("/route-roles/" #name, test_##name)
    ADD(a_slave_is_told_its_master_and_a_master_nothing);
    ADD(topics_that_a_master_adds_show_its_slave_too);
    ADD(roles_are_switched_when_the_master_has_unregistered);
    ADD(roles_are_switched_when_the_master_was_cut_off);
    ADD(a_slave_that_unregisters_leaves_master_and_topics);
    ADD(an_id_that_is_taken_over_is_told_once_with_both_addresses);
    ADD(who_lost_its_id_may_leave_without_harm);
    ADD(a_slave_that_becomes_master_takes_the_id_over);
    ADD(an_id_is_not_given_up_to_an_older_state);
    ADD(who_may_not_have_an_id_leaves_the_one_that_it_had);
    ADD(only_a_registry_that_is_told_to_shows_an_acting_master);
    ADD(a_candidate_keeps_the_write_permission_where_nobody_acts);
    ADD(a_broker_is_listed_up_to_the_very_end_of_its_time);
    ADD(a_broker_may_have_a_patience_of_its_own);
    ADD(whoever_is_heard_does_not_expire);
    ADD(who_lost_its_id_expires_too);
#undef ADD
#define ADD(name) route_fixture_add_ruled("/route-roles/" #name, &acting, test_##name)
    ADD(the_lowest_slave_acts_while_the_master_is_away);
    ADD(only_groups_that_ask_for_it_have_an_acting_master);
    ADD(topics_of_a_slave_that_is_alone_are_not_written);
    ADD(groups_have_acting_masters_each_for_itself);
    ADD(who_looks_for_members_sees_them_as_they_are);
#undef ADD
    return g_test_run();
}
