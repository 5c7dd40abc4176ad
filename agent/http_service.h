/* http_service.h - HTTP at the configured address: at once, or as soon as that is free. */
#pragma once

#include <glib.h>

#include "agent/agent.h"

typedef struct HttpService HttpService;

/* On the calling thread's default main context. An address that is in use is no error: data must
 * not wait for metrics. It is warned of once and tried again until it is free. The agent is
 * borrowed. */
HttpService *http_service_new(Agent *agent, const Endpoint *listen, GError **error);
void http_service_free(HttpService *self);
