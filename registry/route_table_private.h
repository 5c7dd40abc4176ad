/* route_table_private.h - the table itself; for its own files alone. */
#pragma once

#include "registry/route_table.h"

#define MASTER_ID 0

struct RouteTable {
    RouteRules rules;
    guint64 first_index, last_index;
    guint64 last_generation;
    gint64 next_us; /* not later than any node's end */
    RouteObserver observer;
    gpointer user;

    guint64 n_extra;      /* entries beside nodes and offers; see route_room.c */
    GHashTable *topics;   /* name → RouteTopic */
    GHashTable *brokers;  /* name → RouteBroker */
    GHashTable *clusters; /* name → a set of names of brokers */
    GHashTable *nodes;    /* a set, by cluster and address */
    GHashTable *offers;   /* a set, by topic and broker */
};

void route_table_tell(RouteTable *self, const RouteEvent *event);

/* ---- route_table.c ---- */

/* The route of a topic is another now, as clients see it. */
void route_table_changed(RouteTable *self, RouteTopic *topic);
/* Of all topics of a broker. */
void route_table_changed_by_broker(RouteTable *self, RouteBroker *broker);
RouteTopic *route_table_ensure_topic(RouteTable *self, const char *name);
/* Also that the cluster has it. */
RouteBroker *route_table_ensure_broker(RouteTable *self, const char *name, const char *cluster);
RouteNode *route_table_find_node(const RouteTable *self, const char *cluster, const char *address);

/* ---- route_node.c ---- */

guint route_node_hash(gconstpointer node);
gboolean route_node_equal(gconstpointer a, gconstpointer b);
RouteNode *route_node_add(RouteTable *self, RouteSession *session,
                          const BrokerRegistration *registration);
void route_node_move_to_session(RouteNode *node, RouteSession *session);
/* At its id, which nobody holds. */
void route_node_attach(RouteNode *node, RouteBroker *broker);
/* It is without an id; route_broker_settle must follow, or another node. */
void route_node_detach(RouteNode *node);
/* Frees it. */
void route_node_leave(RouteTable *self, RouteNode *node, RouteEventKind kind, const char *why);
gint64 route_node_due_us(const RouteNode *node);
/* After a node left it: without a node it goes, with its topics; without a master they are not
 * written any more if a slave is to act as one. */
void route_broker_settle(RouteTable *self, RouteBroker *broker);

/* ---- route_room.c ---- */

RouteOutcome route_room_check(const RouteTable *self, const BrokerRegistration *told);
guint route_room_of_mapping(const char *json); /* how many entries it is; NULL: none */
gboolean route_room_for_topic(const RouteTable *self, const char *topic, guint n_brokers);

/* ---- route_offer.c ---- */

guint route_offer_hash(gconstpointer offer);
gboolean route_offer_equal(gconstpointer a, gconstpointer b);
RouteOffer *route_offer_find(const RouteTable *self, const RouteTopic *topic,
                             const RouteBroker *broker);
/* Adds it if it is not there, tells if that is new or other than it was. */
void route_offer_set(RouteTable *self, const char *topic, RouteBroker *broker,
                     const RouteQueue *data, gboolean is_part);
/* TRUE if it had another permission. */
gboolean route_offer_set_perm(RouteTable *self, RouteOffer *offer, gint32 perm, gboolean is_part);
/* The topic goes with the last of them. */
void route_offer_drop(RouteTable *self, RouteOffer *offer, gboolean is_part);
