/* nsq_table_private.h - the table itself; for its own files alone. */
#pragma once

#include "registry/nsq_table.h"

struct NsqTable {
    NsqRules rules;
    guint64 first_index, last_index;
    guint64 last_generation;
    NsqObserver observer;
    gpointer user;

    GHashTable *topics;    /* name → NsqTopic */
    GHashTable *producers; /* a set, by node and registration */
    GQueue nodes;          /* in the order of joining */
    GQueue heard;          /* in the order of being heard, those that are not silent */
    GQueue tombstones;     /* NsqProducer *, in the order of time: those that hide */
    guint n_listed;
    guint n_channels;
};

void nsq_table_tell(NsqTable *self, const NsqEvent *event);
/* The producers of a topic are others now, as look-ups see them. */
void nsq_table_changed(NsqTable *self, NsqTopic *topic);
/* After an event of the node itself: for each of its topics. */
void nsq_table_changed_by_node(NsqTable *self, NsqNode *node);

/* ---- nsq_producer.c ---- */

/* NULL: the node is not there. */
NsqProducer *nsq_producer_find(const NsqTable *self, const NsqNode *node,
                               const NsqRegistration *registration);
guint nsq_producer_hash(gconstpointer producer);
gboolean nsq_producer_equal(gconstpointer a, gconstpointer b);
/* Nothing if it is there already: a tombstone stays. */
void nsq_producer_add(NsqTable *self, NsqNode *node, NsqRegistration *registration);
void nsq_producer_unregister(NsqTable *self, NsqNode *node, NsqRegistration *registration);
void nsq_producer_drop(NsqTable *self, NsqProducer *producer); /* without telling */

/* ---- nsq_room.c ---- */

/* For the node (NULL: by hand) with a topic, and with a channel of it unless that is NULL. */
gboolean nsq_room_for(const NsqTable *self, const NsqNode *node, const char *topic,
                      const char *channel);
