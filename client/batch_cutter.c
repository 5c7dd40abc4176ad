/* batch_cutter.c - fills one call after the other, in order. */
#include "client/batch_cutter.h"

#include "thrift/wire/call.h"
#include "thrift/wire/connection.h"

typedef struct {
    guint n_events;
    gsize n_bytes;
} CallSize;

void
batch_cutter_init(BatchCutter *self, const BatchSlice *slices, guint n_slices,
                  WireProtocol protocol, guint max_events)
{
    *self = (BatchCutter){
        .slices = slices, .n_slices = n_slices, .protocol = protocol, .max_events = max_events
    };
}

/* TRUE: the events are counted in. */
static gboolean
add_if_it_fits(const BatchCutter *self, CallSize *size, const BatchSlice *events)
{
    CallSize larger = {
        .n_events = size->n_events + events->count,
        .n_bytes = size->n_bytes + wire_events_size(self->protocol, events),
    };

    if (wire_frame_size_for(self->protocol, larger.n_events, larger.n_bytes) > WIRE_MAX_FRAME)
        return FALSE;
    *size = larger;
    return TRUE;
}

/* How many leading events of a slice fit in besides what there is. */
static guint
add_what_fits(const BatchCutter *self, CallSize *size, const BatchSlice *events)
{
    BatchSlice one = { .batch = events->batch, .first = events->first, .count = 1 };

    if (add_if_it_fits(self, size, events))
        return events->count;
    while (add_if_it_fits(self, size, &one))
        one.first++;
    return one.first - events->first;
}

Cut
batch_cutter_next(BatchCutter *self, GArray *ret_call, guint *ret_n_events)
{
    CallSize size = { 0 };

    g_array_set_size(ret_call, 0);
    while (self->slice < self->n_slices && size.n_events < self->max_events) {
        const BatchSlice *slice = &self->slices[self->slice];
        guint n_left = slice->count - self->event;
        BatchSlice part = { .batch = slice->batch, .first = slice->first + self->event };
        guint n_wanted = part.count = MIN(n_left, self->max_events - size.n_events);

        part.count = add_what_fits(self, &size, &part);
        if (part.count > 0)
            g_array_append_val(ret_call, part);
        self->event += part.count;
        if (part.count < n_wanted)
            break;
        if (self->event == slice->count) {
            self->slice++;
            self->event = 0;
        }
    }
    *ret_n_events = size.n_events;
    if (size.n_events > 0)
        return CUT_CALL;
    return self->slice < self->n_slices ? CUT_TOO_LARGE : CUT_END;
}
