/* route_fixture.h - the routes with a clock that the test turns, and what observers were told. */
#pragma once

#include <glib.h>

#include "registry/route_table.h"

#define ROUTE_FIRST_INDEX 1000
#define SECOND_US G_USEC_PER_SEC

/* Two sessions, of which the second is newer; observers are told of what is no part of something.
 */
typedef struct {
    RouteTable *table;
    RouteSession *session, *other;
    BrokerRegistration *told; /* for the next registration, see route_fixture_tell */
    RouteMaster master;       /* what the last registration was told */
    GString *events;          /* one word each: "joined:b1@a1", "registered:t1@b1" */
    gint64 now_us;
} RouteFixture;

void route_fixture_add(const char *path, void (*test)(RouteFixture *self, gconstpointer user));
/* With rules. */
void route_fixture_add_ruled(const char *path, const RouteRules *rules,
                             void (*test)(RouteFixture *self, gconstpointer user));

/* What self->told is: a broker "c1", of 4.9, of the version 1, with these topics (separated by
 * spaces), each with 8 queues and the permission 6. */
BrokerRegistration *route_fixture_tell(RouteFixture *self, const char *broker, gint64 id,
                                       const char *address, const char *topics);
/* Registers that, and must succeed. */
void route_fixture_register(RouteFixture *self, RouteSession *session);
/* Both, over the first session. */
void route_fixture_join(RouteFixture *self, const char *broker, gint64 id, const char *address,
                        const char *topics);

/* "b1:0=a1,1=a2 b2:0=a3" of a topic, by name; "" if there is no route. */
void route_fixture_assert_route(const RouteFixture *self, const char *topic, const char *expected);
/* The permission of a topic at a broker, which must offer it. */
gint32 route_fixture_perm(const RouteFixture *self, const char *topic, const char *broker);
/* Since the last time. */
void route_fixture_assert_events(RouteFixture *self, const char *expected);
