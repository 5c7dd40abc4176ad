/* agent_route.h - the way from one source into its channels: interceptors, selector, channels. */
#pragma once

#include <glib.h>

#include "agent/agent_config.h"

/* Everything in it but the arrays is the configuration's. */
typedef struct {
    Source *source;
    GPtrArray *interceptors; /* Interceptor *, in order */
    Selector *selector;
    GPtrArray *channels; /* Channel *: required ones first, as listed, then optional ones */
    guint n_required;
    GPtrArray *channel_names; /* of the channels, ended by NULL: what the selector looks at */
} AgentRoute;

/* Finds or makes, and configures, what the source's mapping says of its route. Every problem is
 * added and the route is complete in any case. */
AgentRoute *agent_route_new(AgentConfig *config, Source *source, Problems *problems);
/* Makes the source's processor. Only for a route without problems. */
void agent_route_connect(AgentRoute *self);
void agent_route_free(AgentRoute *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(AgentRoute, agent_route_free)
