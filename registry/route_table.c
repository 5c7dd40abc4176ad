/* route_table.c - topics, brokers, clusters: what there is, and what people do to it. */
#include "registry/route_table.h"

#include "base/clock.h"
#include "base/text_hash.h"
#include "registry/route_table_private.h"

/* Groups of nodes that watch each other ask for topics of this kind: they want to see who is there,
 * not who acts. */
#define MEMBERS_TOPIC_PREFIX "rmq_sys_SYNC_BROKER_MEMBER_"

/* ---- telling ---- */

void
route_table_observe(RouteTable *self, RouteObserver observer, gpointer user)
{
    self->observer = observer;
    self->user = user;
}

void
route_table_tell(RouteTable *self, const RouteEvent *event)
{
    if (self->observer != NULL)
        self->observer(event, self->user);
}

void
route_table_changed(RouteTable *self, RouteTopic *topic)
{
    topic->index = ++self->last_index;
    route_table_tell(self, &(RouteEvent){ .kind = ROUTE_CHANGED, .topic = topic->name });
}

void
route_table_changed_by_broker(RouteTable *self, RouteBroker *broker)
{
    for (RouteOffer *offer = broker->first; offer != NULL; offer = offer->next_of_broker)
        route_table_changed(self, offer->topic);
}

/* ---- topics and brokers ---- */

static void
topic_free(gpointer data)
{
    RouteTopic *topic = data;

    g_clear_pointer(&topic->mappings, g_hash_table_unref);
    g_free(topic->name);
    g_free(topic);
}

static void
broker_free(gpointer data)
{
    RouteBroker *broker = data;

    g_ptr_array_unref(broker->nodes);
    g_ptr_array_unref(broker->clusters);
    g_free(broker->name);
    g_free(broker->cluster);
    g_free(broker->zone);
    g_free(broker);
}

RouteTopic *
route_table_ensure_topic(RouteTable *self, const char *name)
{
    RouteTopic *topic = g_hash_table_lookup(self->topics, name);

    if (topic != NULL)
        return topic;
    topic = g_new0(RouteTopic, 1);
    topic->name = g_strdup(name);
    g_hash_table_insert(self->topics, topic->name, topic);
    return topic;
}

static RouteBroker *
add_broker(RouteTable *self, const char *name, const char *cluster)
{
    RouteBroker *broker = g_new0(RouteBroker, 1);

    broker->name = g_strdup(name);
    broker->cluster = g_strdup(cluster);
    broker->clusters = g_ptr_array_new_with_free_func(g_free);
    broker->nodes = g_ptr_array_new();
    g_hash_table_insert(self->brokers, broker->name, broker);
    return broker;
}

RouteBroker *
route_table_ensure_broker(RouteTable *self, const char *name, const char *cluster)
{
    RouteBroker *broker = g_hash_table_lookup(self->brokers, name);
    GHashTable *names = g_hash_table_lookup(self->clusters, cluster);

    if (broker == NULL)
        broker = add_broker(self, name, cluster);
    if (names == NULL) {
        names = g_hash_table_new(text_hash, g_str_equal);
        g_hash_table_insert(self->clusters, g_strdup(cluster), names);
    }
    if (g_hash_table_add(names, broker->name)) {
        self->n_extra += broker->clusters->len > 0 ? 1 : 0;
        g_ptr_array_add(broker->clusters, g_strdup(cluster));
    }
    return broker;
}

RouteNode *
route_table_find_node(const RouteTable *self, const char *cluster, const char *address)
{
    const RouteNode key = { .cluster = (char *) cluster, .address = (char *) address };

    return g_hash_table_lookup(self->nodes, &key);
}

/* ---- people ---- */

guint
route_table_wipe_write(RouteTable *self, const char *name)
{
    const RouteBroker *broker = route_table_find_broker(self, name);

    if (broker == NULL)
        return 0;
    for (RouteOffer *offer = broker->first; offer != NULL; offer = offer->next_of_broker)
        route_offer_set_perm(self, offer, offer->perm & ~QUEUE_PERM_WRITE, TRUE);
    route_table_tell(
        self,
        &(RouteEvent){ .kind = ROUTE_WIPED, .broker = broker->name, .n_topics = broker->n_offers });
    return broker->n_offers;
}

guint
route_table_restore_write(RouteTable *self, const char *name)
{
    const RouteBroker *broker = route_table_find_broker(self, name);

    if (broker == NULL)
        return 0;
    for (RouteOffer *offer = broker->first; offer != NULL; offer = offer->next_of_broker)
        route_offer_set_perm(self, offer, QUEUE_PERM_READ | QUEUE_PERM_WRITE, TRUE);
    route_table_tell(self, &(RouteEvent){ .kind = ROUTE_RESTORED,
                                          .broker = broker->name,
                                          .n_topics = broker->n_offers });
    return broker->n_offers;
}

guint
route_table_delete_topic(RouteTable *self, const char *name, const char *cluster)
{
    const RouteTopic *topic = route_table_find(self, name);
    GHashTable *names = cluster != NULL ? g_hash_table_lookup(self->clusters, cluster) : NULL;
    guint n = 0;
    RouteOffer *next;

    if (topic == NULL || (cluster != NULL && names == NULL))
        return 0;
    for (RouteOffer *offer = topic->first; offer != NULL; offer = next) {
        next = offer->next;
        if (names != NULL && !g_hash_table_contains(names, offer->broker->name))
            continue;
        route_offer_drop(self, offer, TRUE);
        n++;
    }
    if (n > 0)
        route_table_tell(self,
                         &(RouteEvent){ .kind = ROUTE_DELETED, .topic = name, .n_topics = n });
    return n;
}

gboolean
route_table_register_topic(RouteTable *self, const char *topic, const GPtrArray *queues)
{
    guint n_known = 0;

    if (!route_room_for_topic(self, topic, queues->len))
        return FALSE;
    while (n_known < queues->len &&
           route_table_find_broker(
               self, ((RouteQueue *) g_ptr_array_index(queues, n_known))->broker) != NULL)
        n_known++;
    if (n_known < queues->len && route_table_find(self, topic) == NULL)
        return TRUE;
    for (guint i = 0; i < n_known; i++) {
        const RouteQueue *queue = g_ptr_array_index(queues, i);

        route_offer_set(self, topic, g_hash_table_lookup(self->brokers, queue->broker), queue,
                        FALSE);
    }
    return TRUE;
}

void
route_table_touch(RouteTable *self, const char *name)
{
    RouteTopic *topic = g_hash_table_lookup(self->topics, name);

    if (topic != NULL)
        route_table_changed(self, topic);
}

/* ---- what there is ---- */

const RouteTopic *
route_table_find(const RouteTable *self, const char *topic)
{
    return g_hash_table_lookup(self->topics, topic);
}

const RouteBroker *
route_table_find_broker(const RouteTable *self, const char *broker)
{
    return g_hash_table_lookup(self->brokers, broker);
}

GHashTable *
route_table_topics(const RouteTable *self)
{
    return self->topics;
}

GHashTable *
route_table_brokers(const RouteTable *self)
{
    return self->brokers;
}

GHashTable *
route_table_clusters(const RouteTable *self)
{
    return self->clusters;
}

GHashTable *
route_table_nodes(const RouteTable *self)
{
    return self->nodes;
}

guint64
route_table_index(const RouteTable *self, const char *name)
{
    const RouteTopic *topic = route_table_find(self, name);

    return topic != NULL ? topic->index : self->first_index;
}

const RouteNode *
route_broker_node(const RouteBroker *self, gint64 id)
{
    for (guint i = 0; i < self->nodes->len; i++) {
        const RouteNode *node = g_ptr_array_index(self->nodes, i);

        if (node->id == id)
            return node;
    }
    return NULL;
}

guint64
route_table_first_index(const RouteTable *self)
{
    return self->first_index;
}

gboolean
route_table_has_acting_master(const RouteTable *self, const RouteOffer *offer)
{
    const RouteBroker *broker = offer->broker;

    return self->rules.acting_master && broker->acting_master &&
           (offer->perm & QUEUE_PERM_WRITE) == 0 && route_broker_node(broker, MASTER_ID) == NULL &&
           !g_str_has_prefix(offer->topic->name, MEMBERS_TOPIC_PREFIX);
}

gboolean
route_table_creates_topics(const RouteTable *self)
{
    const RouteTopic *topic = route_table_find(self, ROUTE_TEMPLATE_TOPIC);

    for (const RouteOffer *offer = topic != NULL ? topic->first : NULL; offer != NULL;
         offer = offer->next)
        if ((offer->perm & QUEUE_PERM_WRITE) != 0)
            return TRUE;
    return FALSE;
}

RouteCounts
route_table_counts(const RouteTable *self)
{
    return (RouteCounts){
        .clusters = g_hash_table_size(self->clusters),
        .brokers = g_hash_table_size(self->brokers),
        .nodes = g_hash_table_size(self->nodes),
        .topics = g_hash_table_size(self->topics),
        .offers = g_hash_table_size(self->offers),
    };
}

/* ---- life ---- */

RouteTable *
route_table_new(const RouteRules *rules, guint64 first_index)
{
    RouteTable *self = g_new0(RouteTable, 1);

    self->rules = *rules;
    self->first_index = self->last_index = first_index;
    self->next_us = CLOCK_NEVER;
    self->topics = g_hash_table_new_full(text_hash, g_str_equal, NULL, topic_free);
    self->brokers = g_hash_table_new_full(text_hash, g_str_equal, NULL, broker_free);
    self->clusters =
        g_hash_table_new_full(text_hash, g_str_equal, g_free, (GDestroyNotify) g_hash_table_unref);
    self->nodes = g_hash_table_new(route_node_hash, route_node_equal);
    self->offers = g_hash_table_new(route_offer_hash, route_offer_equal);
    return self;
}

void
route_table_free(RouteTable *self)
{
    if (self == NULL)
        return;
    g_assert(g_hash_table_size(self->nodes) == 0); /* they are the sessions', which are closed */
    g_hash_table_unref(self->offers);
    g_hash_table_unref(self->nodes);
    g_hash_table_unref(self->clusters);
    g_hash_table_unref(self->brokers);
    g_hash_table_unref(self->topics);
    g_free(self);
}
