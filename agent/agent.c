/* agent.c - opens and starts the parts of an agent in order, and answers for their health. */
#include "agent/agent.h"

#include <stdatomic.h>

#include "agent/agent_stop.h"
#include "agent/core/sink_runner.h"
#include "agent/core/source_runner.h"
#include "agent/registration/registration_service.h"
#include "base/clock.h"
#include "base/log.h"

typedef enum {
    AGENT_NEW,
    AGENT_STARTING,
    AGENT_RUNNING,
    AGENT_STOPPING,
    AGENT_STOPPED,
} AgentState;

struct Agent {
    AgentConfig *config;
    GPtrArray *sink_runners;   /* SinkRunner *, as the sinks of the configuration */
    GPtrArray *source_runners; /* SourceRunner *, as its sources */
    RegistrationService *registration;
    gint state;                /* AgentState, atomic */
    _Atomic gint64 started_ms; /* wall clock */

    /* The lifecycle thread's. */
    GPtrArray *opened; /* Component *, in the order of opening */
    guint64 lost;      /* events, at the stop */
};

Agent *
agent_new(AgentConfig *config)
{
    Agent *self = g_new0(Agent, 1);

    self->config = config;
    self->opened = g_ptr_array_new();
    self->sink_runners = g_ptr_array_new_with_free_func((GDestroyNotify) sink_runner_free);
    self->source_runners = g_ptr_array_new_with_free_func((GDestroyNotify) source_runner_free);
    for (guint i = 0; i < config->sinks->len; i++)
        g_ptr_array_add(self->sink_runners, sink_runner_new(g_ptr_array_index(config->sinks, i)));
    for (guint i = 0; i < config->sources->len; i++)
        g_ptr_array_add(self->source_runners,
                        source_runner_new(g_ptr_array_index(config->sources, i)));
    self->registration = registration_service_new(config->registrations);
    return self;
}

void
agent_free(Agent *self)
{
    if (self == NULL)
        return;
    g_assert(self->opened->len == 0);
    registration_service_free(self->registration);
    g_ptr_array_unref(self->source_runners);
    g_ptr_array_unref(self->sink_runners);
    g_ptr_array_unref(self->opened);
    agent_config_free(self->config);
    g_free(self);
}

static AgentState
agent_state(Agent *self)
{
    return (AgentState) g_atomic_int_get(&self->state);
}

/* ---- start ---- */

static gboolean
agent_open_parts(Agent *self, GPtrArray *parts, GError **error)
{
    for (guint i = 0; i < parts->len; i++) {
        Component *component = g_ptr_array_index(parts, i);

        if (!component_open(component, error))
            return FALSE;
        g_ptr_array_add(self->opened, component);
    }
    return TRUE;
}

static gboolean
agent_open(Agent *self, GError **error)
{
    const AgentConfig *config = self->config;

    return agent_open_parts(self, config->channels, error) &&
           agent_open_parts(self, config->sinks, error) &&
           agent_open_parts(self, config->interceptors, error) &&
           agent_open_parts(self, config->selectors, error) &&
           agent_open_parts(self, config->sources, error);
}

static void
agent_close(Agent *self)
{
    while (self->opened->len > 0)
        component_close(g_ptr_array_steal_index(self->opened, self->opened->len - 1));
}

static gboolean
agent_start_runners(Agent *self, GError **error)
{
    for (guint i = 0; i < self->sink_runners->len; i++)
        if (!sink_runner_start(g_ptr_array_index(self->sink_runners, i), error))
            return FALSE;
    for (guint i = 0; i < self->source_runners->len; i++)
        if (!source_runner_start(g_ptr_array_index(self->source_runners, i), error))
            return FALSE;
    return TRUE;
}

static void
agent_log_addresses(const Agent *self)
{
    for (guint i = 0; i < self->config->sources->len; i++) {
        const Source *source = g_ptr_array_index(self->config->sources, i);
        const SourceType *type = source_type(source);
        g_autofree char *address = NULL;

        if (type->bound_to == NULL)
            continue;
        address = endpoint_to_text(type->bound_to(source));
        log_info("listening", LOG_TEXT("component", source->base.name),
                 LOG_TEXT("address", address));
    }
}

gboolean
agent_start(Agent *self, GError **error)
{
    gint64 begin_us = clock_now_us();

    g_assert(agent_state(self) == AGENT_NEW);
    g_atomic_int_set(&self->state, AGENT_STARTING);
    atomic_store(&self->started_ms, clock_wall_us() / 1000);
    if (!agent_open(self, error) || !agent_start_runners(self, error) ||
        !registration_service_start(self->registration, error)) {
        agent_stop_runners(self->source_runners, self->sink_runners, self->config,
                           self->config->shutdown_timeout_us);
        agent_close(self);
        g_atomic_int_set(&self->state, AGENT_STOPPED);
        return FALSE;
    }
    g_atomic_int_set(&self->state, AGENT_RUNNING);
    agent_log_addresses(self);
    log_info("started", LOG_TEXT("agent", self->config->name),
             LOG_INT("ms", (clock_now_us() - begin_us) / 1000));
    return TRUE;
}

/* ---- stop ---- */

/* Those who look for a source are told that it goes before it does. */
#define UNREGISTER_MAX_US G_USEC_PER_SEC
#define UNREGISTER_SHARE 4

static void
agent_unregister(Agent *self)
{
    gint64 patience_us =
        MIN(self->config->shutdown_timeout_us / UNREGISTER_SHARE, UNREGISTER_MAX_US);

    registration_service_stop(self->registration, clock_deadline_us(patience_us));
}

guint64
agent_stop(Agent *self)
{
    gint64 begin_us = clock_now_us();
    guint64 left;

    if (agent_state(self) != AGENT_RUNNING)
        return self->lost;
    g_atomic_int_set(&self->state, AGENT_STOPPING);
    log_info("stopping", LOG_TEXT("agent", self->config->name),
             LOG_INT("timeout_ms", self->config->shutdown_timeout_us / 1000));
    agent_unregister(self);
    agent_stop_runners(self->source_runners, self->sink_runners, self->config,
                       begin_us + self->config->shutdown_timeout_us - clock_now_us());
    self->lost = agent_write_off(self->config);
    agent_count_events(self, &left, &(guint64){ 0 });
    agent_close(self);
    g_atomic_int_set(&self->state, AGENT_STOPPED);
    log_info("stopped", LOG_TEXT("agent", self->config->name),
             LOG_INT("ms", (clock_now_us() - begin_us) / 1000), LOG_INT("events_left", left),
             LOG_INT("events_lost", self->lost));
    return self->lost;
}

/* ---- questions ---- */

const AgentConfig *
agent_config(const Agent *self)
{
    return self->config;
}

void
agent_set_http_port(Agent *self, guint16 port)
{
    registration_service_set_http_port(self->registration, port);
}

gint64
agent_started_ms(const Agent *self)
{
    return atomic_load(&self->started_ms);
}

void
agent_count_events(Agent *self, guint64 *ret_durable, guint64 *ret_volatile)
{
    *ret_durable = 0;
    *ret_volatile = 0;
    if (agent_state(self) < AGENT_RUNNING)
        return;
    for (guint i = 0; i < self->config->channels->len; i++) {
        Channel *channel = g_ptr_array_index(self->config->channels, i);

        *(channel_is_durable(channel) ? ret_durable : ret_volatile) += channel_n_events(channel);
    }
}

static void
append_trouble(GString *out, const Component *component, const char *trouble)
{
    if (trouble != NULL)
        g_string_append_printf(out, "%s '%s': %s\n", component_kind_name(component->kind),
                               component->name, trouble);
}

static void
agent_append_troubles(Agent *self, GString *out)
{
    for (guint i = 0; i < self->config->channels->len; i++) {
        Channel *channel = g_ptr_array_index(self->config->channels, i);

        append_trouble(out, &channel->base, channel_trouble(channel));
    }
    for (guint i = 0; i < self->config->sources->len; i++) {
        const Source *source = g_ptr_array_index(self->config->sources, i);

        if (source_type(source)->trouble != NULL)
            append_trouble(out, &source->base, source_type(source)->trouble(source));
    }
    for (guint i = 0; i < self->config->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(self->config->sinks, i);

        append_trouble(out, &sink->base,
                       sink_runner_trouble(g_ptr_array_index(self->sink_runners, i)));
    }
}

char *
agent_trouble(Agent *self)
{
    static const char *const states[] = {
        [AGENT_NEW] = "the agent has not started yet",
        [AGENT_STARTING] = "the agent is starting",
        [AGENT_STOPPING] = "the agent is stopping",
        [AGENT_STOPPED] = "the agent has stopped",
    };
    AgentState state = agent_state(self);
    g_autoptr(GString) out = g_string_new(NULL);

    if (state == AGENT_RUNNING)
        agent_append_troubles(self, out);
    else
        g_string_append_printf(out, "%s\n", states[state]);
    return out->len == 0 ? NULL : g_string_free(g_steal_pointer(&out), FALSE);
}
