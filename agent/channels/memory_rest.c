/* memory_rest.c - one ticket after the other, each for as many bytes committed as its batch has. */
#include "agent/channels/memory_rest.h"

gboolean
memory_rest_is_due(const MemoryQueue *queue, gint64 now_us)
{
    return queue->stock.n_bytes >= MEMORY_REST_DEEP_BYTES &&
           now_us - memory_queue_oldest_us(queue) < MEMORY_REST_US;
}

void
memory_rest_begin(MemoryRest *self, Ticket *ticket, gint64 now_us)
{
    ticket->rest_until_us = now_us + MEMORY_REST_US;
    g_queue_push_tail_link(&self->tickets, &ticket->link);
}

void
memory_rest_end(MemoryRest *self, Ticket *ticket)
{
    ticket->channel = NULL;
    g_queue_unlink(&self->tickets, &ticket->link);
    if (self->tickets.head == NULL)
        self->credit = 0;
}

static gsize
memory_rest_price(const Ticket *ticket)
{
    return batch_n_bytes(ticket->batch);
}

void
memory_rest_note_committed(MemoryRest *self, gsize n_bytes, GQueue *released)
{
    GList *link;

    if (self->tickets.head == NULL)
        return;
    self->credit += n_bytes;
    while ((link = self->tickets.head) != NULL && self->credit >= memory_rest_price(link->data)) {
        self->credit -= memory_rest_price(link->data);
        memory_rest_end(self, link->data);
        g_queue_push_tail_link(released, link);
    }
}
