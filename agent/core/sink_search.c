/* sink_search.c - keeps the leases of suspects for the search of poison.c. */
#include "agent/core/sink_search.h"

typedef struct {
    GList link; /* data is the suspect */
    Lease *lease;
    GError *error; /* of its last refusal; NULL: in this round it has not been sent */
} SearchSuspect;

void
sink_search_init(SinkSearch *self)
{
    self->poison = poison_new();
    g_queue_init(&self->aside);
}

void
sink_search_clear(SinkSearch *self)
{
    sink_search_pause(self);
    g_clear_pointer(&self->poison, poison_free);
}

/* ---- what is kept aside ---- */

gboolean
sink_search_keeps_any(const SinkSearch *self)
{
    return self->aside.head != NULL;
}

static void
sink_search_keep(SinkSearch *self, Lease *lease /* (transfer full) */, const GError *error)
{
    SearchSuspect *suspect = g_new(SearchSuspect, 1);

    *suspect = (SearchSuspect){
        .link = { .data = suspect },
        .lease = lease,
        .error = error != NULL ? g_error_copy(error) : NULL,
    };
    g_queue_push_tail_link(&self->aside, &suspect->link);
}

/* (transfer full) */
static Lease *
sink_search_take_out(SinkSearch *self, SearchSuspect *suspect, GError **ret_error)
{
    g_autofree SearchSuspect *found = suspect;

    g_queue_unlink(&self->aside, &found->link);
    if (found->error != NULL)
        g_propagate_error(ret_error, found->error);
    return found->lease;
}

static SearchSuspect *
sink_search_find(const SinkSearch *self, guint64 seq)
{
    GList *link = self->aside.head;

    while (((const SearchSuspect *) link->data)->lease->first != seq)
        link = link->next;
    return link->data;
}

static void
sink_search_put_back(SinkSearch *self)
{
    while (self->aside.head != NULL)
        lease_rollback(sink_search_take_out(self, self->aside.head->data, NULL));
}

/* ---- what to send ---- */

Lease *
sink_search_next_suspect(SinkSearch *self)
{
    guint64 seq;

    if (!poison_next_suspect(self->poison, &seq))
        return NULL;
    return sink_search_take_out(self, sink_search_find(self, seq), NULL);
}

Lease *
sink_search_note_taken(SinkSearch *self, Lease *lease)
{
    if (!poison_note_taken(self->poison, lease->first, lease->n_events))
        return lease;
    sink_search_keep(self, lease, NULL);
    return NULL;
}

/* ---- what became of it ---- */

static gsize
bytes_of_first(const Lease *lease, guint n_events)
{
    gsize n_bytes = 0;

    for (guint i = 0; n_events > 0; i++) {
        const BatchSlice *slice = &g_array_index(lease->slices, BatchSlice, i);
        guint count = MIN(slice->count, n_events);

        n_bytes += batch_span(slice->batch, slice->first, count).length;
        n_events -= count;
    }
    return n_bytes;
}

void
sink_search_note_acknowledged(SinkSearch *self, const Lease *lease, guint n_events,
                              const AnsweredBy *by)
{
    PoisonSent sent = {
        .first = lease->first,
        .n_events = n_events,
        .n_bytes = bytes_of_first(lease, n_events),
    };

    poison_note_acknowledged(self->poison, &sent, by->acknowledged);
    if (!poison_is_searching(self->poison))
        sink_search_put_back(self);
}

PoisonAdvice
sink_search_note_refused(SinkSearch *self, Lease **lease, const AnsweredBy *by, const GError *error)
{
    PoisonSent sent = {
        .first = (*lease)->first,
        .n_events = (*lease)->n_events,
        .n_bytes = (by->refused & ~by->hung_up) != 0 ? (*lease)->n_bytes : 0,
    };
    PoisonAdvice advice = poison_note_refused(self->poison, &sent, by->refused);

    if (advice == POISON_KEEP_ASIDE)
        sink_search_keep(self, g_steal_pointer(lease), error);
    if (advice == POISON_PAUSE)
        sink_search_put_back(self);
    return advice;
}

void
sink_search_note_alone(SinkSearch *self)
{
    poison_note_alone(self->poison);
}

void
sink_search_pause(SinkSearch *self)
{
    sink_search_put_back(self);
    poison_note_pause(self->poison);
}

Lease *
sink_search_next_poison(SinkSearch *self, GError **ret_why)
{
    g_autoptr(GError) why = NULL;
    guint64 seq;
    Lease *lease;

    if (!poison_is_found(self->poison, &seq))
        return NULL;
    lease = sink_search_take_out(self, sink_search_find(self, seq), &why);
    if (why == NULL)
        why = g_error_new_literal(SINK_ERROR, SINK_ERROR_REFUSED, "refused again and again");
    g_propagate_error(ret_why, g_steal_pointer(&why));
    return lease;
}

void
sink_search_note_rejected(SinkSearch *self, guint64 seq)
{
    poison_note_rejected(self->poison, seq);
}
