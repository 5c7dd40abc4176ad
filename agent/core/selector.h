/* selector.h - says into which channels of its source an event goes. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"
#include "base/event_bytes.h"

/* Channels of one source by position: required ones first, as listed, then optional ones. */
#define SELECTOR_MAX_CHANNELS 64
typedef guint64 ChannelSet;

typedef struct {
    Component base;
    const char *const *channel_names; /* set before configure; required, then optional */
    guint n_required;
    guint n_channels;
    ChannelSet required; /* all of them */
    ChannelSet optional;
} Selector;

typedef struct {
    ComponentType base;
    /* Every event goes to `required` and `optional`: select is not called. */
    gboolean same_for_all;
    /* Any thread. Chosen channels, required and optional apart; both empty: the event goes nowhere,
     * which is counted. */
    void (*select)(Selector *self, const EventView *event, ChannelSet *ret_required,
                   ChannelSet *ret_optional);
} SelectorType;

static inline const SelectorType *
selector_type(const Selector *self)
{
    return (const SelectorType *) self->base.type;
}

/* The position of a channel of this source, -1 if it has none of that name. */
int selector_find_channel(const Selector *self, const char *name);
