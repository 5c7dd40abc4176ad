/* agent_config.h - one YAML file as a wired set of configured parts; nothing is opened. */
#pragma once

#include <glib.h>

#include "agent/core/registration.h"
#include "agent/core/sink.h"
#include "agent/core/sink_group.h"
#include "agent/core/source.h"
#include "base/problems.h"

typedef struct {
    char *name;
    gint64 shutdown_timeout_us;
    Endpoint *http; /* NULL: off */

    GPtrArray *channels;      /* Channel *, owned, in the order of the file */
    GPtrArray *sources;       /* Source *, owned, each with its processor */
    GPtrArray *sinks;         /* Sink *, owned, each with its channels and its group */
    GPtrArray *sink_groups;   /* SinkGroup *, owned, each with its members */
    GPtrArray *interceptors;  /* Interceptor *, owned */
    GPtrArray *selectors;     /* Selector *, owned */
    GPtrArray *registrations; /* Registration *, owned, each with its source */
    GPtrArray *routes;        /* AgentRoute *, owned, one for each source in the same order */
} AgentConfig;

extern const OptionSpec agent_options[]; /* the rows of `agent:` */

/* NULL when problems were added. */
AgentConfig *agent_config_load(const char *path, Problems *problems);
AgentConfig *agent_config_parse(const char *text, gsize length, Problems *problems);
void agent_config_free(AgentConfig *self);

/* The channel of that name, or NULL and, if there are channels at all, a problem at `where`. */
Channel *agent_config_find_channel(const AgentConfig *self, const char *name, const YamlNode *where,
                                   const char *path, Problems *problems);
/* NULL-terminated; the array is the caller's, the names are not. (transfer container) */
const char **agent_config_channel_names(const AgentConfig *self);

/* The topology: sources, their channels, their sinks. (transfer full) */
char *agent_config_draw(const AgentConfig *self);   /* as a drawing in text */
char *agent_config_to_dot(const AgentConfig *self); /* as Graphviz */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(AgentConfig, agent_config_free)
