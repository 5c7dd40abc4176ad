/* nsq_table.h - which node offers which topic and channel: a table without sockets, whose clock is
 * passed in.
 *
 * A node is one connection of one nsqd: it is its own generation. What an old connection does, or
 * its end, touches the registrations of that connection and never those of a newer one, whatever
 * addresses they have.
 *
 * Nothing is removed by time: a node that was not heard for too long, and a producer under a
 * tombstone, are passed over by look-ups until they are heard, or it has lapsed. Names of topics
 * and channels have been checked by the caller. The structs are for reading; only the table's own
 * functions write them. */
#pragma once

#include <glib.h>

#include "registry/wire/nsq_identity.h"

typedef struct {
    gint64 inactive_us;  /* a node is passed over when it was last heard longer ago */
    gint64 tombstone_us; /* how long a tombstone hides */
    guint64 max_entries; /* topics, channels, and nodes at either, in all */
} NsqRules;

typedef struct NsqTable NsqTable;
typedef struct NsqTopic NsqTopic;
typedef struct NsqNode NsqNode;
typedef struct NsqProducer NsqProducer;

/* The nodes of a topic, or of a channel of it. It stays when the last of them goes. */
typedef struct {
    NsqTopic *topic;
    char *channel;      /* NULL: of the topic itself */
    NsqProducer *first; /* in the order in which they came */
    NsqProducer *last;
    guint n_producers;
} NsqRegistration;

struct NsqTopic {
    char *name;
    gboolean listed; /* FALSE: only channels of it are left */
    NsqRegistration own;
    GHashTable *channels; /* name → NsqRegistration */
    guint64 index;        /* new whenever its producers change, as look-ups see them */
};

struct NsqNode {
    NsqIdentity *identity;
    guint64 generation; /* of two nodes with one address the higher one is newer */
    gint64 heard_us;
    gboolean is_silent; /* not heard for too long, as of the last nsq_table_advance */
    NsqProducer *first; /* its registrations */
    guint n_producers;
    GList by_heard; /* longest silent first */
    GList by_join;
};

struct NsqProducer {
    NsqNode *node;
    NsqRegistration *registration;
    NsqProducer *next, *previous; /* of the registration */
    NsqProducer *next_of_node, *previous_of_node;
    gboolean is_tombstoned; /* also long after it has lapsed */
    gint64 tombstoned_us;
    GList *tombstone; /* NULL: none, or lapsed */
};

typedef enum {
    NSQ_NODE_JOINED,
    NSQ_NODE_LEFT,   /* with detail; its registrations are still there */
    NSQ_NODE_SILENT, /* not heard for too long */
    NSQ_NODE_HEARD_AGAIN,
    NSQ_REGISTERED, /* a node with a topic or channel */
    NSQ_UNREGISTERED,
    NSQ_CREATED, /* a topic or channel by hand */
    NSQ_DELETED,
    NSQ_TOMBSTONED,
    NSQ_TOMBSTONE_LAPSED,
    NSQ_PRODUCERS_CHANGED, /* of a topic, as look-ups see them */
} NsqEventKind;

typedef struct {
    NsqEventKind kind;
    const NsqNode *node;
    const char *topic;
    const char *channel; /* NULL: the topic itself */
    const char *detail;
} NsqEvent;

typedef void (*NsqObserver)(const NsqEvent *event, gpointer user);

/* Indexes start above first_index, which is that of a topic that is not there: it should be higher
 * than any of an earlier process. */
NsqTable *nsq_table_new(const NsqRules *rules, guint64 first_index);
void nsq_table_free(NsqTable *self); /* with all that is in it; observers hear nothing */
/* Called for each change while it is made: the observer must not change the table. */
void nsq_table_observe(NsqTable *self, NsqObserver observer, gpointer user);

/* ---- what nodes do ---- */

NsqNode *nsq_table_add_node(NsqTable *self, NsqIdentity *identity /* (transfer full) */,
                            gint64 now_us);
void nsq_table_remove_node(NsqTable *self, NsqNode *node, const char *why);
void nsq_table_hear(NsqTable *self, NsqNode *node, gint64 now_us);
/* FALSE, and nothing has changed: it is full. */
gboolean nsq_table_register(NsqTable *self, NsqNode *node, const char *topic,
                            const char *channel /* NULL: the topic alone */);
void nsq_table_unregister(NsqTable *self, NsqNode *node, const char *topic, const char *channel);

/* ---- what people do ---- */

/* FALSE, and nothing has changed: it is full. */
gboolean nsq_table_create(NsqTable *self, const char *topic, const char *channel /* may be NULL */);
gboolean nsq_table_delete_topic(NsqTable *self, const char *topic); /* FALSE: there was none */
gboolean nsq_table_delete_channel(NsqTable *self, const char *topic, const char *channel);
/* node as in NsqIdentity. How many producers of the topic got one. */
guint nsq_table_tombstone(NsqTable *self, const char *topic, const char *node, gint64 now_us);

/* ---- time ---- */

/* Tells observers of nodes that fell silent and tombstones that lapsed up to now. */
void nsq_table_advance(NsqTable *self, gint64 now_us);
/* When that has something to tell next; CLOCK_NEVER. */
gint64 nsq_table_next_us(const NsqTable *self);

/* ---- what there is ---- */

const NsqTopic *nsq_table_find(const NsqTable *self, const char *topic); /* listed, or NULL */
GHashTable *nsq_table_topics(const NsqTable *self); /* name → NsqTopic, also those not listed */
GHashTable *nsq_table_channels(const NsqTable *self, const char *topic); /* NULL: none */
const GList *nsq_table_nodes(const NsqTable *self); /* NsqNode *, in the order of joining */
const NsqRules *nsq_table_rules(const NsqTable *self);
guint64 nsq_table_index(const NsqTable *self, const char *topic);
guint64 nsq_table_first_index(const NsqTable *self);

gboolean nsq_table_node_is_active(const NsqTable *self, const NsqNode *node, gint64 now_us);
gboolean nsq_table_producer_is_hidden(const NsqTable *self, const NsqProducer *producer,
                                      gint64 now_us); /* by a tombstone */
gboolean nsq_table_producer_is_visible(const NsqTable *self, const NsqProducer *producer,
                                       gint64 now_us);

typedef struct {
    guint nodes;
    guint topics; /* listed */
    guint channels;
    guint registrations; /* of nodes with topics and channels */
    guint tombstones;    /* that hide */
} NsqCounts;
NsqCounts nsq_table_counts(const NsqTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqTable, nsq_table_free)
