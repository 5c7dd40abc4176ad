/* agent_config.h - one YAML file as a wired set of configured parts; nothing is opened. */
#pragma once

#include <glib.h>

#include "agent/core/sink.h"
#include "agent/core/source.h"
#include "base/problems.h"

typedef struct {
    char *name;
    gint64 shutdown_timeout_us;
    Endpoint *http; /* NULL: off */

    GPtrArray *channels;     /* Channel *, owned, in the order of the file */
    GPtrArray *sources;      /* Source *, owned, each with its processor */
    GPtrArray *sinks;        /* Sink *, owned, each with its channel */
    GPtrArray *interceptors; /* Interceptor *, owned */
    GPtrArray *selectors;    /* Selector *, owned */
} AgentConfig;

extern const OptionSpec agent_options[]; /* the rows of `agent:` */

/* NULL when problems were added. */
AgentConfig *agent_config_load(const char *path, Problems *problems);
AgentConfig *agent_config_parse(const char *text, gsize length, Problems *problems);
void agent_config_free(AgentConfig *self);

/* The topology: sources, their channels, their sinks. (transfer full) */
char *agent_config_draw(const AgentConfig *self);   /* as a drawing in text */
char *agent_config_to_dot(const AgentConfig *self); /* as Graphviz */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(AgentConfig, agent_config_free)
