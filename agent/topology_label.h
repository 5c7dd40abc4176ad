/* topology_label.h - what a drawing says of a part: its name and a few lines more. */
#pragma once

#include <glib.h>

#include "agent/agent_route.h"

/* What may stand in a drawing: letters for which a terminal does nothing else. (transfer full) */
char *topology_label_clean(const char *text);

/* char *, the name first; every line is short. (transfer full) */
GPtrArray *topology_label_of_source(const AgentRoute *route);
GPtrArray *topology_label_of_channel(const Channel *channel);
GPtrArray *topology_label_of_sink(const Sink *sink);
