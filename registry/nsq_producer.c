/* nsq_producer.c - what binds a node to a topic or to a channel: in both their lists, and in one
 * set. */
#include "registry/nsq_table_private.h"

guint
nsq_producer_hash(gconstpointer data)
{
    const NsqProducer *producer = data;
    guint64 mixed = (guint64) (gsize) producer->node * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) ^
                    (guint64) (gsize) producer->registration;

    mixed *= G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
    return (guint) (mixed >> 32);
}

gboolean
nsq_producer_equal(gconstpointer a, gconstpointer b)
{
    const NsqProducer *one = a, *other = b;

    return one->node == other->node && one->registration == other->registration;
}

NsqProducer *
nsq_producer_find(const NsqTable *self, const NsqNode *node, const NsqRegistration *registration)
{
    return g_hash_table_lookup(self->producers,
                               &(NsqProducer){ .node = (NsqNode *) node,
                                               .registration = (NsqRegistration *) registration });
}

static void
append_to_registration(NsqRegistration *registration, NsqProducer *producer)
{
    producer->previous = registration->last;
    if (registration->last != NULL)
        registration->last->next = producer;
    else
        registration->first = producer;
    registration->last = producer;
    registration->n_producers++;
}

static void
take_from_registration(NsqRegistration *registration, NsqProducer *producer)
{
    if (producer->previous != NULL)
        producer->previous->next = producer->next;
    else
        registration->first = producer->next;
    if (producer->next != NULL)
        producer->next->previous = producer->previous;
    else
        registration->last = producer->previous;
    registration->n_producers--;
}

static void
prepend_to_node(NsqNode *node, NsqProducer *producer)
{
    producer->next_of_node = node->first;
    if (node->first != NULL)
        node->first->previous_of_node = producer;
    node->first = producer;
    node->n_producers++;
}

static void
take_from_node(NsqNode *node, NsqProducer *producer)
{
    if (producer->previous_of_node != NULL)
        producer->previous_of_node->next_of_node = producer->next_of_node;
    else
        node->first = producer->next_of_node;
    if (producer->next_of_node != NULL)
        producer->next_of_node->previous_of_node = producer->previous_of_node;
    node->n_producers--;
}

void
nsq_producer_add(NsqTable *self, NsqNode *node, NsqRegistration *registration)
{
    NsqProducer *producer;

    if (nsq_producer_find(self, node, registration) != NULL)
        return;
    producer = g_new0(NsqProducer, 1);
    producer->node = node;
    producer->registration = registration;
    append_to_registration(registration, producer);
    prepend_to_node(node, producer);
    g_hash_table_add(self->producers, producer);
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_REGISTERED,
                                      .node = node,
                                      .topic = registration->topic->name,
                                      .channel = registration->channel });
    if (registration->channel == NULL)
        nsq_table_changed(self, registration->topic);
}

void
nsq_producer_drop(NsqTable *self, NsqProducer *producer)
{
    if (producer->tombstone != NULL)
        g_queue_delete_link(&self->tombstones, producer->tombstone);
    take_from_registration(producer->registration, producer);
    take_from_node(producer->node, producer);
    g_hash_table_remove(self->producers, producer);
    g_free(producer);
}

void
nsq_producer_unregister(NsqTable *self, NsqNode *node, NsqRegistration *registration)
{
    NsqProducer *producer = nsq_producer_find(self, node, registration);

    if (producer == NULL)
        return;
    nsq_producer_drop(self, producer);
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_UNREGISTERED,
                                      .node = node,
                                      .topic = registration->topic->name,
                                      .channel = registration->channel });
    if (registration->channel == NULL)
        nsq_table_changed(self, registration->topic);
}
