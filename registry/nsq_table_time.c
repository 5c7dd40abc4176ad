/* nsq_table_time.c - what time does to the table: nodes fall silent, tombstones lapse. */
#include "base/clock.h"
#include "registry/nsq_table_private.h"

/* All nodes have the same patience, and all tombstones last the same time. So a queue in the order
 * of hearing, and one in the order of burying, are in the order of what comes next. */

gboolean
nsq_table_node_is_active(const NsqTable *self, const NsqNode *node, gint64 now_us)
{
    return now_us - node->heard_us <= self->rules.inactive_us;
}

gboolean
nsq_table_producer_is_hidden(const NsqTable *self, const NsqProducer *producer, gint64 now_us)
{
    return producer->is_tombstoned && now_us - producer->tombstoned_us < self->rules.tombstone_us;
}

gboolean
nsq_table_producer_is_visible(const NsqTable *self, const NsqProducer *producer, gint64 now_us)
{
    return nsq_table_node_is_active(self, producer->node, now_us) &&
           !nsq_table_producer_is_hidden(self, producer, now_us);
}

void
nsq_table_hear(NsqTable *self, NsqNode *node, gint64 now_us)
{
    node->heard_us = now_us;
    if (!node->is_silent)
        g_queue_unlink(&self->heard, &node->by_heard);
    g_queue_push_tail_link(&self->heard, &node->by_heard);
    if (!node->is_silent)
        return;
    node->is_silent = FALSE;
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_NODE_HEARD_AGAIN, .node = node });
    nsq_table_changed_by_node(self, node);
}

static NsqNode *
longest_silent(const NsqTable *self)
{
    return g_queue_peek_head((GQueue *) &self->heard);
}

static NsqProducer *
longest_buried(const NsqTable *self)
{
    return g_queue_peek_head((GQueue *) &self->tombstones);
}

static void
fall_silent(NsqTable *self, NsqNode *node)
{
    g_queue_unlink(&self->heard, &node->by_heard);
    node->is_silent = TRUE;
    nsq_table_tell(self, &(NsqEvent){ .kind = NSQ_NODE_SILENT, .node = node });
    nsq_table_changed_by_node(self, node);
}

static void
lapse(NsqTable *self, NsqProducer *producer)
{
    NsqTopic *topic = producer->registration->topic;

    g_queue_delete_link(&self->tombstones, g_steal_pointer(&producer->tombstone));
    nsq_table_tell(
        self,
        &(NsqEvent){ .kind = NSQ_TOMBSTONE_LAPSED, .node = producer->node, .topic = topic->name });
    nsq_table_changed(self, topic);
}

void
nsq_table_advance(NsqTable *self, gint64 now_us)
{
    NsqNode *node;
    NsqProducer *producer;

    while ((node = longest_silent(self)) != NULL && !nsq_table_node_is_active(self, node, now_us))
        fall_silent(self, node);
    while ((producer = longest_buried(self)) != NULL &&
           !nsq_table_producer_is_hidden(self, producer, now_us))
        lapse(self, producer);
}

gint64
nsq_table_next_us(const NsqTable *self)
{
    const NsqNode *node = longest_silent(self);
    const NsqProducer *producer = longest_buried(self);
    gint64 next_us = CLOCK_NEVER;

    if (node != NULL) /* one more: it is still active at the very moment */
        next_us = clock_after_us(clock_after_us(node->heard_us, self->rules.inactive_us), 1);
    if (producer != NULL)
        next_us = MIN(next_us, clock_after_us(producer->tombstoned_us, self->rules.tombstone_us));
    return next_us;
}

guint
nsq_table_tombstone(NsqTable *self, const char *topic_name, const char *node, gint64 now_us)
{
    NsqTopic *topic = (NsqTopic *) nsq_table_find(self, topic_name);
    guint n = 0;

    if (topic == NULL)
        return 0;
    for (NsqProducer *producer = topic->own.first; producer != NULL; producer = producer->next) {
        if (!g_str_equal(producer->node->identity->node, node))
            continue;
        if (producer->tombstone != NULL)
            g_queue_delete_link(&self->tombstones, producer->tombstone);
        producer->is_tombstoned = TRUE;
        producer->tombstoned_us = now_us;
        g_queue_push_tail(&self->tombstones, producer);
        producer->tombstone = g_queue_peek_tail_link(&self->tombstones);
        nsq_table_tell(
            self,
            &(NsqEvent){ .kind = NSQ_TOMBSTONED, .node = producer->node, .topic = topic->name });
        n++;
    }
    if (n > 0)
        nsq_table_changed(self, topic);
    return n;
}
