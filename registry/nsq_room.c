/* nsq_room.c - whether there is room for what is registered, so that nobody can fill the memory:
 * names of topics and channels stay when the last node of them goes. */
#include "registry/nsq_table_private.h"

/* A topic, a channel, and a node at both. */
#define ENTRIES_AT_ONCE 4

static guint64
n_entries(const NsqTable *self)
{
    return (guint64) g_hash_table_size(self->topics) + self->n_channels +
           g_hash_table_size(self->producers);
}

/* How many of the topic, the channel (NULL: none), and the node (NULL: none) at both are new. */
static guint
count_new(const NsqTable *self, const NsqNode *node, const char *topic_name,
          const char *channel_name)
{
    const NsqTopic *topic = g_hash_table_lookup(self->topics, topic_name);
    const NsqRegistration *channel = topic != NULL && channel_name != NULL
                                         ? g_hash_table_lookup(topic->channels, channel_name)
                                         : NULL;
    guint n = (topic == NULL ? 1 : 0) + (channel_name != NULL && channel == NULL ? 1 : 0);

    if (node == NULL)
        return n;
    if (topic == NULL || nsq_producer_find(self, node, &topic->own) == NULL)
        n++;
    if (channel_name != NULL && (channel == NULL || nsq_producer_find(self, node, channel) == NULL))
        n++;
    return n;
}

gboolean
nsq_room_for(const NsqTable *self, const NsqNode *node, const char *topic, const char *channel)
{
    guint64 n = n_entries(self);

    return n + ENTRIES_AT_ONCE <= self->rules.max_entries ||
           n + count_new(self, node, topic, channel) <= self->rules.max_entries;
}
