/* nsq_table.c - topics, channels, nodes, and what binds them. */
#include "registry/nsq_table.h"

#include "base/text_hash.h"
#include "registry/nsq_table_private.h"
#include "registry/wire/nsq_name.h"

/* ---- telling ---- */

void
nsq_table_observe(NsqTable *self, NsqObserver observer, gpointer user)
{
    self->observer = observer;
    self->user = user;
}

void
nsq_table_tell(NsqTable *self, const NsqEvent *event)
{
    if (self->observer != NULL)
        self->observer(event, self->user);
}

void
nsq_table_changed(NsqTable *self, NsqTopic *topic)
{
    topic->index = ++self->last_index;
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_PRODUCERS_CHANGED, .topic = topic->name });
}

void
nsq_table_changed_by_node(NsqTable *self, NsqNode *node)
{
    for (NsqProducer *producer = node->first; producer != NULL; producer = producer->next_of_node)
        if (producer->registration->channel == NULL)
            nsq_table_changed(self, producer->registration->topic);
}

/* ---- topics and channels ---- */

static void
registration_free(gpointer data)
{
    NsqRegistration *registration = data;

    g_free(registration->channel);
    g_free(registration);
}

static void
topic_free(gpointer data)
{
    NsqTopic *topic = data;

    g_hash_table_unref(topic->channels);
    g_free(topic->name);
    g_free(topic);
}

static NsqTopic *
find_topic(const NsqTable *self, const char *name)
{
    return g_hash_table_lookup(self->topics, name);
}

static NsqTopic *
ensure_topic(NsqTable *self, const char *name)
{
    NsqTopic *topic = find_topic(self, name);

    if (topic != NULL)
        return topic;
    topic = g_new0(NsqTopic, 1);
    topic->name = g_strdup(name);
    topic->own.topic = topic;
    topic->channels = g_hash_table_new_full(text_hash, g_str_equal, NULL, registration_free);
    g_hash_table_insert(self->topics, topic->name, topic);
    return topic;
}

/* TRUE if it was not listed before. */
static gboolean
list_topic(NsqTable *self, NsqTopic *topic)
{
    if (topic->listed)
        return FALSE;
    topic->listed = TRUE;
    self->n_listed++;
    nsq_table_changed(self, topic);
    return TRUE;
}

static gboolean
ensure_channel(NsqTable *self, NsqTopic *topic, const char *name, NsqRegistration **ret_channel)
{
    NsqRegistration *channel = g_hash_table_lookup(topic->channels, name);
    gboolean is_new = channel == NULL;

    if (is_new) {
        channel = g_new0(NsqRegistration, 1);
        channel->topic = topic;
        channel->channel = g_strdup(name);
        g_hash_table_insert(topic->channels, channel->channel, channel);
        self->n_channels++;
    }
    *ret_channel = channel;
    return is_new;
}

static void
drop_producers(NsqTable *self, NsqRegistration *registration)
{
    while (registration->first != NULL)
        nsq_producer_drop(self, registration->first);
}

static void
tell_deleted(NsqTable *self, const NsqRegistration *registration)
{
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_DELETED,
                                      .topic = registration->topic->name,
                                      .channel = registration->channel });
}

/* Nothing is left of a topic that is neither listed nor has channels. */
static void
forget_topic(NsqTable *self, NsqTopic *topic)
{
    if (!topic->listed && g_hash_table_size(topic->channels) == 0)
        g_hash_table_remove(self->topics, topic->name);
}

static void
unlist_topic(NsqTable *self, NsqTopic *topic)
{
    if (!topic->listed)
        return;
    drop_producers(self, &topic->own);
    topic->listed = FALSE;
    self->n_listed--;
    tell_deleted(self, &topic->own);
    nsq_table_changed(self, topic);
}

static void
drop_channel(NsqTable *self, NsqRegistration *channel)
{
    drop_producers(self, channel);
    tell_deleted(self, channel);
    self->n_channels--;
    g_hash_table_remove(channel->topic->channels, channel->channel);
}

/* ---- nodes ---- */

NsqNode *
nsq_table_add_node(NsqTable *self, NsqIdentity *identity, gint64 now_us)
{
    NsqNode *node = g_new0(NsqNode, 1);

    node->identity = identity;
    node->generation = ++self->last_generation;
    node->heard_us = now_us;
    node->by_heard.data = node->by_join.data = node;
    g_queue_push_tail_link(&self->heard, &node->by_heard);
    g_queue_push_tail_link(&self->nodes, &node->by_join);
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_NODE_JOINED, .node = node });
    return node;
}

static void
node_free(NsqNode *node)
{
    nsq_identity_free(node->identity);
    g_free(node);
}

void
nsq_table_remove_node(NsqTable *self, NsqNode *node, const char *why)
{
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_NODE_LEFT, .node = node, .detail = why });
    while (node->first != NULL) {
        NsqRegistration *registration = node->first->registration;

        nsq_producer_drop(self, node->first);
        if (registration->channel == NULL)
            nsq_table_changed(self, registration->topic);
    }
    if (!node->is_silent)
        g_queue_unlink(&self->heard, &node->by_heard);
    g_queue_unlink(&self->nodes, &node->by_join);
    node_free(node);
}

gboolean
nsq_table_register(NsqTable *self, NsqNode *node, const char *topic_name, const char *channel_name)
{
    NsqTopic *topic;
    NsqRegistration *channel;

    if (!nsq_room_for(self, node, topic_name, channel_name))
        return FALSE;
    topic = ensure_topic(self, topic_name);
    if (channel_name != NULL) {
        ensure_channel(self, topic, channel_name, &channel);
        nsq_producer_add(self, node, channel);
    }
    list_topic(self, topic);
    nsq_producer_add(self, node, &topic->own);
    return TRUE;
}

static void
unregister_channel(NsqTable *self, NsqNode *node, NsqTopic *topic, const char *name)
{
    NsqRegistration *channel = g_hash_table_lookup(topic->channels, name);

    if (channel == NULL)
        return;
    nsq_producer_unregister(self, node, channel);
    if (channel->n_producers == 0 && nsq_name_is_ephemeral(name))
        drop_channel(self, channel);
}

static void
unregister_topic(NsqTable *self, NsqNode *node, NsqTopic *topic)
{
    GHashTableIter iter;
    gpointer channel;

    g_hash_table_iter_init(&iter, topic->channels);
    while (g_hash_table_iter_next(&iter, NULL, &channel))
        nsq_producer_unregister(self, node, channel);
    nsq_producer_unregister(self, node, &topic->own);
    if (topic->own.n_producers == 0 && nsq_name_is_ephemeral(topic->name))
        unlist_topic(self, topic);
}

void
nsq_table_unregister(NsqTable *self, NsqNode *node, const char *topic_name,
                     const char *channel_name)
{
    NsqTopic *topic = find_topic(self, topic_name);

    if (topic == NULL)
        return;
    if (channel_name != NULL)
        unregister_channel(self, node, topic, channel_name);
    else
        unregister_topic(self, node, topic);
    forget_topic(self, topic);
}

/* ---- people ---- */

gboolean
nsq_table_create(NsqTable *self, const char *topic_name, const char *channel_name)
{
    NsqTopic *topic;
    NsqRegistration *channel;

    if (!nsq_room_for(self, NULL, topic_name, channel_name))
        return FALSE;
    topic = ensure_topic(self, topic_name);
    if (channel_name != NULL && ensure_channel(self, topic, channel_name, &channel))
        nsq_table_tell(
            self,
            &(NsqEvent){ .kind = NSQ_CREATED, .topic = topic->name, .channel = channel->channel });
    if (list_topic(self, topic))
        nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_CREATED, .topic = topic->name });
    return TRUE;
}

gboolean
nsq_table_delete_topic(NsqTable *self, const char *topic_name)
{
    NsqTopic *topic = find_topic(self, topic_name);
    g_autoptr(GList) channels = NULL;

    if (topic == NULL)
        return FALSE;
    channels = g_hash_table_get_values(topic->channels);
    for (GList *link = channels; link != NULL; link = link->next)
        drop_channel(self, link->data);
    unlist_topic(self, topic);
    forget_topic(self, topic);
    return TRUE;
}

gboolean
nsq_table_delete_channel(NsqTable *self, const char *topic_name, const char *channel_name)
{
    NsqTopic *topic = find_topic(self, topic_name);
    NsqRegistration *channel =
        topic != NULL ? g_hash_table_lookup(topic->channels, channel_name) : NULL;

    if (channel == NULL)
        return FALSE;
    drop_channel(self, channel);
    forget_topic(self, topic);
    return TRUE;
}

/* ---- what there is ---- */

const NsqTopic *
nsq_table_find(const NsqTable *self, const char *name)
{
    const NsqTopic *topic = find_topic(self, name);

    return topic != NULL && topic->listed ? topic : NULL;
}

GHashTable *
nsq_table_topics(const NsqTable *self)
{
    return self->topics;
}

GHashTable *
nsq_table_channels(const NsqTable *self, const char *name)
{
    const NsqTopic *topic = find_topic(self, name);

    return topic != NULL ? topic->channels : NULL;
}

const GList *
nsq_table_nodes(const NsqTable *self)
{
    return self->nodes.head;
}

const NsqRules *
nsq_table_rules(const NsqTable *self)
{
    return &self->rules;
}

guint64
nsq_table_index(const NsqTable *self, const char *name)
{
    const NsqTopic *topic = nsq_table_find(self, name);

    return topic != NULL ? topic->index : self->first_index;
}

guint64
nsq_table_first_index(const NsqTable *self)
{
    return self->first_index;
}

NsqCounts
nsq_table_counts(const NsqTable *self)
{
    return (NsqCounts){
        .nodes = self->nodes.length,
        .topics = self->n_listed,
        .channels = self->n_channels,
        .registrations = g_hash_table_size(self->producers),
        .tombstones = self->tombstones.length,
    };
}

/* ---- life ---- */

NsqTable *
nsq_table_new(const NsqRules *rules, guint64 first_index)
{
    NsqTable *self = g_new0(NsqTable, 1);

    self->rules = *rules;
    self->first_index = self->last_index = first_index;
    self->topics = g_hash_table_new_full(text_hash, g_str_equal, NULL, topic_free);
    self->producers = g_hash_table_new(nsq_producer_hash, nsq_producer_equal);
    return self;
}

void
nsq_table_free(NsqTable *self)
{
    if (self == NULL)
        return;
    self->observer = NULL;
    while (self->nodes.head != NULL)
        nsq_table_remove_node(self, self->nodes.head->data, NULL);
    g_hash_table_unref(self->producers);
    g_hash_table_unref(self->topics);
    g_free(self);
}
