/* route.h - where the events of one batch go: for each channel that gets any, a batch of them. */
#pragma once

#include <glib.h>

#include "agent/core/selector.h"
#include "base/batch.h"

typedef struct {
    guint position; /* of the channel, as the selector counts */
    Batch *batch;   /* owned; the whole batch itself if all of it goes there */
} RouteTarget;

typedef struct {
    GArray *targets;  /* RouteTarget, required ones first */
    guint n_required; /* of targets */
    guint n_unrouted; /* events that go nowhere */
} Route;

/* The batch has at least one event. FALSE: there is no memory for its parts. */
gboolean route_init(Route *self, Selector *selector, Batch *batch);
void route_clear(Route *self);
const RouteTarget *route_target(const Route *self, guint index);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Route, route_clear)
