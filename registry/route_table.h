/* route_table.h - which broker offers which topic, and at which address: RocketMQ's routes as a
 * table without sockets, whose clock is passed in.
 *
 * A broker is a name; behind it are nodes, each a process with an address of its own and an id: 0
 * is the master, the others are its slaves. A node belongs to the connection (session) over which
 * it registered last, and leaves with it, when it says so, or when it was not heard for its
 * timeout. Sessions are numbered as they come: what an older one says or its end never removes what
 * was registered over a newer one.
 *
 * Topics are written by masters, and by the lowest of the slaves of 5.x; they go with the last node
 * of their broker. The structs are for reading; only the table's own functions write them. */
#pragma once

#include <glib.h>

#include "registry/wire/broker_registration.h"
#include "registry/wire/topic_route.h"

/* Where producers find the settings of a topic that is not there; who may write to it creates
 * topics by sending to them. */
#define ROUTE_TEMPLATE_TOPIC "TBW102"

typedef struct {
    gboolean acting_master; /* the lowest slave is shown as master while that is away */
    gboolean drop_topics;   /* a registration removes the topics that it does not name */
    guint64 max_entries;    /* nodes and topics at brokers, in all; see route_room.c */
} RouteRules;

typedef struct RouteTable RouteTable;
typedef struct RouteSession RouteSession;
typedef struct RouteBroker RouteBroker;
typedef struct RouteTopic RouteTopic;
typedef struct RouteOffer RouteOffer;

struct RouteSession {
    guint64 generation; /* of two, the higher one is newer */
    char *peer;
    gpointer owner; /* for whoever opened it */
    GQueue nodes;   /* RouteNode */
};

typedef struct {
    char *cluster; /* with the address: what tells it from all others */
    char *address;
    char *name; /* of the broker that it is, or wants to be, a node of */
    gint64 id;
    char *ha_address;          /* or NULL */
    GPtrArray *filter_servers; /* char *, or NULL */
    DataVersion version;
    gint64 heard_us;
    gint64 timeout_us;
    RouteBroker *broker; /* NULL: another node took its id */
    char *rival;         /* the address whose id this one took, while that is there; or NULL */
    RouteSession *session;
    GList of_session;
} RouteNode;

struct RouteBroker {
    char *name;
    char *cluster;       /* of the first registration */
    GPtrArray *clusters; /* char *, all that list it */
    char *zone;          /* or NULL */
    gboolean acting_master;
    GPtrArray *nodes; /* RouteNode *, at least one, by id */
    RouteOffer *first;
    guint n_offers;
};

/* A topic at a broker. */
struct RouteOffer {
    RouteTopic *topic;
    RouteBroker *broker;
    gint32 read_queues;
    gint32 write_queues;
    gint32 perm;
    gint32 sys_flag;
    RouteOffer *next, *previous; /* of the topic */
    RouteOffer *next_of_broker, *previous_of_broker;
};

const char *route_perm_to_text(gint32 perm); /* "rw-"; the last is 'x' if it is inherited */

struct RouteTopic {
    char *name;
    RouteOffer *first; /* at least one, in the order in which they came */
    RouteOffer *last;
    guint n_offers;
    GHashTable *mappings; /* broker's name → JSON of a static topic; NULL: none */
    guint64 index;        /* new whenever the route changes */
};

typedef enum {
    ROUTE_JOINED,          /* a node, with its topics */
    ROUTE_LEFT,            /* with detail */
    ROUTE_EXPIRED,         /* left since it was not heard */
    ROUTE_TAKEN_OVER,      /* a node took the id of another */
    ROUTE_TAKEN_OVER_BACK, /* the two do it by turns: the same quarrel */
    ROUTE_REFUSED,         /* a node may not have the id that it wants, with detail */
    ROUTE_STALE,           /* an older session's unregister, which was ignored */
    ROUTE_MOVED,           /* a node has another id or broker than before */
    ROUTE_OFFERED,         /* a topic by a broker */
    ROUTE_RESIZED,         /* a topic's queues or permission at a broker, with detail */
    ROUTE_WITHDRAWN,       /* a topic by a broker */
    ROUTE_CREATES_ITSELF,  /* a broker lets the template topic be written */
    ROUTE_WIPED,           /* the write permissions of a broker by hand */
    ROUTE_RESTORED,        /* likewise */
    ROUTE_DELETED,         /* a topic by hand */
    ROUTE_CHANGED,         /* the route of a topic, as clients see it */
    ROUTE_DUE_EARLIER,     /* route_table_next_us is earlier now */
} RouteEventKind;

typedef struct {
    RouteEventKind kind;
    const RouteNode *node;
    const RouteNode *other; /* whose id was taken, or who keeps it */
    const char *broker;
    const char *topic;
    const char *detail;
    guint n_topics;
    gboolean is_part; /* of what another event tells as a whole: of a join, a leave, a wipe */
} RouteEvent;

typedef void (*RouteObserver)(const RouteEvent *event, gpointer user);

/* Indexes start above first_index, which is that of a topic that is not there: it should be higher
 * than any of an earlier process. */
RouteTable *route_table_new(const RouteRules *rules, guint64 first_index);
void route_table_free(RouteTable *self); /* with all that is in it; observers hear nothing */
/* Called for each change while it is made: the observer must not change the table. */
void route_table_observe(RouteTable *self, RouteObserver observer, gpointer user);

/* ---- what brokers do ---- */

RouteSession *route_table_open_session(RouteTable *self, const char *peer, gpointer owner);
/* Its nodes leave, those that no newer session has. */
void route_table_close_session(RouteTable *self, RouteSession *session, const char *why);

/* What a slave is told; both may be NULL, and are borrowed until the table changes. */
typedef struct {
    const char *address;
    const char *ha_address;
} RouteMaster;

typedef enum {
    /* Also of a node that may not have its id, as it has always been answered; ROUTE_REFUSED tells.
     */
    ROUTE_ACCEPTED,
    /* With a single topic a node that is not there yet cannot register, since brokers tell changes
     * of one topic that way. */
    ROUTE_NOT_WHOLE,
    ROUTE_TOO_LONG, /* a name, or a list */
    ROUTE_FULL,
} RouteOutcome;

/* Nothing has changed unless it is accepted. */
RouteOutcome route_table_register(RouteTable *self, RouteSession *session,
                                  const BrokerRegistration *registration, gint64 now_us,
                                  RouteMaster *ret_master);
/* Nothing if there is no such node, or a newer session has it. */
void route_table_unregister(RouteTable *self, RouteSession *session, const char *cluster,
                            const char *broker, const char *address);
/* The version that the node registered with, borrowed until the table changes; NULL: no such node,
 * which is harmless. */
const DataVersion *route_table_hear(RouteTable *self, const char *cluster, const char *address,
                                    gint64 now_us);

/* ---- what people do ---- */

guint route_table_wipe_write(RouteTable *self, const char *broker); /* how many topics it has */
guint route_table_restore_write(RouteTable *self, const char *broker);
/* Of the brokers of one cluster, or (NULL) of all. How many had it. */
guint route_table_delete_topic(RouteTable *self, const char *topic, const char *cluster);

/* Up to the first broker that is not there; of a topic that is not there, all or none. FALSE: it is
 * full. */
gboolean route_table_register_topic(RouteTable *self, const char *topic,
                                    const GPtrArray *queues /* RouteQueue * */);

/* Something that is told with the route of a topic, and that the table does not know, is another.
 */
void route_table_touch(RouteTable *self, const char *topic);

/* ---- time ---- */

/* Nodes leave that were not heard for their timeout. (transfer container) Their sessions that have
 * no node any more; NULL: none. */
GPtrArray *route_table_advance(RouteTable *self, gint64 now_us);
/* Not later than when that has something to do next; CLOCK_NEVER. */
gint64 route_table_next_us(const RouteTable *self);

/* ---- what there is ---- */

const RouteTopic *route_table_find(const RouteTable *self, const char *topic); /* or NULL */
const RouteBroker *route_table_find_broker(const RouteTable *self, const char *broker);
GHashTable *route_table_topics(const RouteTable *self);   /* name → RouteTopic */
GHashTable *route_table_brokers(const RouteTable *self);  /* name → RouteBroker */
GHashTable *route_table_clusters(const RouteTable *self); /* name → a set of names of brokers */
GHashTable *route_table_nodes(const RouteTable *self);    /* a set of RouteNode */
guint64 route_table_index(const RouteTable *self, const char *topic);
guint64 route_table_first_index(const RouteTable *self);

const RouteNode *route_broker_node(const RouteBroker *self, gint64 id); /* or NULL */
/* Whether the lowest of its nodes is to be shown as master in the route of this topic. */
gboolean route_table_has_acting_master(const RouteTable *self, const RouteOffer *offer);
/* Whether a broker lets the template topic be written. */
gboolean route_table_creates_topics(const RouteTable *self);

typedef struct {
    guint clusters;
    guint brokers;
    guint nodes;
    guint topics;
    guint offers; /* topics at brokers */
} RouteCounts;
RouteCounts route_table_counts(const RouteTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RouteTable, route_table_free)
