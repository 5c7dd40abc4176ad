/* route.c - where the events of one batch go: for each channel that gets any, a batch of them. */
#include "agent/core/route.h"

#include "base/batch_builder.h"

static void
route_target_clear(gpointer target)
{
    g_clear_pointer(&((RouteTarget *) target)->batch, batch_unref);
}

static gboolean
is_chosen(ChannelSet set, guint position)
{
    return (set >> position & 1) != 0;
}

/* The events whose set has position, copied as bytes, neighbours together. NULL: no memory. */
static Batch *
batch_of_chosen(const Batch *batch, const ChannelSet *chosen, guint position)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    guint first = 0;

    while (first < batch->n_events) {
        guint end = first;

        while (end < batch->n_events && is_chosen(chosen[end], position))
            end++;
        batch_builder_add_slice(builder, batch, first, end - first);
        first = end + 1;
    }
    return batch_builder_try_finish(builder);
}

/* some: channels that get at least one event; all: those that get every event. */
static gboolean
route_add(Route *self, Batch *batch, ChannelSet some, ChannelSet all, const ChannelSet *chosen)
{
    for (guint position = 0; position < SELECTOR_MAX_CHANNELS; position++) {
        RouteTarget target = { .position = position };

        if (!is_chosen(some, position))
            continue;
        target.batch =
            is_chosen(all, position) ? batch_ref(batch) : batch_of_chosen(batch, chosen, position);
        if (target.batch == NULL)
            return FALSE;
        g_array_append_val(self->targets, target);
    }
    return TRUE;
}

static gboolean
route_add_chosen(Route *self, Batch *batch, const ChannelSet *chosen)
{
    ChannelSet some = 0;
    ChannelSet all = ~(ChannelSet) 0;

    for (guint i = 0; i < batch->n_events; i++) {
        some |= chosen[i];
        all &= chosen[i];
    }
    return route_add(self, batch, some, all, chosen);
}

static gboolean
route_select(Route *self, Selector *selector, Batch *batch)
{
    g_autofree ChannelSet *required = g_try_malloc0(batch->n_events * sizeof(ChannelSet));
    g_autofree ChannelSet *optional = g_try_malloc0(batch->n_events * sizeof(ChannelSet));

    if (required == NULL || optional == NULL)
        return FALSE;
    for (guint i = 0; i < batch->n_events; i++) {
        EventView event;

        batch_view(batch, i, &event);
        selector_type(selector)->select(selector, &event, &required[i], &optional[i]);
        optional[i] &= ~required[i];
        self->n_unrouted += (required[i] | optional[i]) == 0;
    }
    if (!route_add_chosen(self, batch, required))
        return FALSE;
    self->n_required = self->targets->len;
    return route_add_chosen(self, batch, optional);
}

gboolean
route_init(Route *self, Selector *selector, Batch *batch)
{
    *self = (Route){ .targets = g_array_new(FALSE, FALSE, sizeof(RouteTarget)) };
    g_array_set_clear_func(self->targets, route_target_clear);
    if (!selector_type(selector)->same_for_all)
        return route_select(self, selector, batch);
    route_add(self, batch, selector->required, selector->required, NULL);
    self->n_required = self->targets->len;
    return route_add(self, batch, selector->optional, selector->optional, NULL);
}

void
route_clear(Route *self)
{
    g_clear_pointer(&self->targets, g_array_unref);
}

const RouteTarget *
route_target(const Route *self, guint index)
{
    return &g_array_index(self->targets, RouteTarget, index);
}
