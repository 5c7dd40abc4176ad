/* route_fixture.c - the routes with a clock that the test turns, and what observers were told. */
#include "tests/support/route_fixture.h"

#include <string.h>

#include "registry/route_report.h"
#include "registry/route_table_private.h"

static const char *const words[] = {
    [ROUTE_JOINED] = "joined",
    [ROUTE_LEFT] = "left",
    [ROUTE_EXPIRED] = "expired",
    [ROUTE_TAKEN_OVER] = "taken-over",
    [ROUTE_TAKEN_OVER_BACK] = "taken-over-back",
    [ROUTE_REFUSED] = "refused",
    [ROUTE_STALE] = "stale",
    [ROUTE_MOVED] = "moved",
    [ROUTE_OFFERED] = "offered",
    [ROUTE_RESIZED] = "resized",
    [ROUTE_WITHDRAWN] = "withdrawn",
    [ROUTE_CREATES_ITSELF] = "creates-itself",
    [ROUTE_WIPED] = "wiped",
    [ROUTE_RESTORED] = "restored",
    [ROUTE_DELETED] = "deleted",
    [ROUTE_CHANGED] = NULL,
    [ROUTE_DUE_EARLIER] = NULL,
};

static void
note_event(const RouteEvent *event, gpointer user)
{
    GString *events = user;

    if (words[event->kind] == NULL || event->is_part)
        return;
    g_string_append_printf(events, "%s%s", events->len > 0 ? " " : "", words[event->kind]);
    if (event->topic != NULL)
        g_string_append_printf(events, ":%s", event->topic);
    if (event->broker != NULL)
        g_string_append_printf(events, ":%s", event->broker);
    if (event->node != NULL)
        g_string_append_printf(events, "@%s", event->node->address);
    if (event->other != NULL)
        g_string_append_printf(events, "<%s", event->other->address);
}

static void
set_up(RouteFixture *self, gconstpointer user)
{
    const RouteRules none = { .max_entries = G_MAXUINT64 };

    self->table = route_table_new(user != NULL ? user : &none, ROUTE_FIRST_INDEX);
    self->events = g_string_new(NULL);
    self->now_us = 500 * SECOND_US;
    route_table_observe(self->table, note_event, self->events);
    self->session = route_table_open_session(self->table, "peer1", NULL);
    self->other = route_table_open_session(self->table, "peer2", NULL);
}

static void
tear_down(RouteFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    route_table_observe(self->table, NULL, NULL);
    if (self->session != NULL)
        route_table_close_session(self->table, self->session, "");
    if (self->other != NULL)
        route_table_close_session(self->table, self->other, "");
    g_assert_cmpuint(g_hash_table_size(route_table_topics(self->table)), ==, 0);
    g_assert_cmpuint(g_hash_table_size(route_table_clusters(self->table)), ==, 0);
    g_assert_cmpuint(self->table->n_extra, ==, 0);
    route_table_free(self->table);
    if (self->told != NULL)
        broker_registration_free(self->told);
    g_string_free(self->events, TRUE);
}

void
route_fixture_add_ruled(const char *path, const RouteRules *rules,
                        void (*test)(RouteFixture *self, gconstpointer user))
{
    g_test_add(path, RouteFixture, rules, set_up, test, tear_down);
}

void
route_fixture_add(const char *path, void (*test)(RouteFixture *self, gconstpointer user))
{
    route_fixture_add_ruled(path, NULL, test);
}

/* ---- registering ---- */

BrokerRegistration *
route_fixture_tell(RouteFixture *self, const char *broker, gint64 id, const char *address,
                   const char *topics)
{
    g_auto(GStrv) names = g_strsplit(topics, " ", -1);

    if (self->told != NULL)
        broker_registration_free(self->told);
    self->told = broker_registration_new();
    self->told->cluster = g_strdup("c1");
    self->told->broker = g_strdup(broker);
    self->told->address = g_strdup(address);
    self->told->id = id;
    self->told->version.counter = 1;
    for (int i = 0; names[i] != NULL; i++)
        if (*names[i] != '\0')
            broker_registration_add_topic(self->told, names[i], 8, 8,
                                          QUEUE_PERM_READ | QUEUE_PERM_WRITE);
    return self->told;
}

void
route_fixture_register(RouteFixture *self, RouteSession *session)
{
    g_assert_cmpint(
        route_table_register(self->table, session, self->told, self->now_us, &self->master), ==,
        ROUTE_ACCEPTED);
}

void
route_fixture_join(RouteFixture *self, const char *broker, gint64 id, const char *address,
                   const char *topics)
{
    route_fixture_tell(self, broker, id, address, topics);
    route_fixture_register(self, self->session);
}

/* ---- looking ---- */

static int
compare_groups(gconstpointer a, gconstpointer b)
{
    return strcmp((*(BrokerGroup *const *) a)->broker, (*(BrokerGroup *const *) b)->broker);
}

static void
append_group(GString *out, const BrokerGroup *group)
{
    g_string_append_printf(out, "%s%s:", out->len > 0 ? " " : "", group->broker);
    for (guint i = 0; i < group->addresses->len; i++) {
        const BrokerAddress *address = &g_array_index(group->addresses, BrokerAddress, i);

        g_string_append_printf(out, "%s%" G_GINT64_FORMAT "=%s", i > 0 ? "," : "", address->id,
                               address->address);
    }
}

void
route_fixture_assert_route(const RouteFixture *self, const char *name, const char *expected)
{
    const RouteTopic *topic = route_table_find(self->table, name);
    g_autoptr(TopicRoute) route =
        topic != NULL ? route_report_topic(self->table, topic, NULL) : topic_route_new();
    g_autoptr(GString) out = g_string_new(NULL);

    g_ptr_array_sort(route->brokers, compare_groups);
    for (guint i = 0; i < route->brokers->len; i++)
        append_group(out, g_ptr_array_index(route->brokers, i));
    g_assert_cmpstr(out->str, ==, expected);
}

gint32
route_fixture_perm(const RouteFixture *self, const char *name, const char *broker)
{
    const RouteTopic *topic = route_table_find(self->table, name);

    g_assert_nonnull(topic);
    for (const RouteOffer *offer = topic->first; offer != NULL; offer = offer->next)
        if (g_str_equal(offer->broker->name, broker))
            return offer->perm;
    g_assert_not_reached();
}

void
route_fixture_assert_events(RouteFixture *self, const char *expected)
{
    g_assert_cmpstr(self->events->str, ==, expected);
    g_string_truncate(self->events, 0);
}
