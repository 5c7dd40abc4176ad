/* rpc_host.c - looks at idle connections before they are used, opens new ones. */
#include "client/rpc_host.h"

#include "base/clock.h"
#include "client/rpc_failure.h"

RpcHost *
rpc_host_new(const Endpoint *endpoint, const RpcClientOptions *options, const RpcListener *listener)
{
    RpcHost *self = g_new0(RpcHost, 1);

    self->name = endpoint_to_text(endpoint);
    self->pool = connection_pool_new(endpoint, options->protocol, options->connections);
    self->connect_timeout_us = options->connect_timeout_us;
    self->max_age_us = options->reset_connection_interval_us;
    self->listener = listener;
    return self;
}

void
rpc_host_free(RpcHost *self)
{
    connection_pool_free(self->pool);
    g_free(self->name);
    g_free(self);
}

static void
tell(const RpcHost *self, void (*event)(const char *peer, gpointer user))
{
    if (event != NULL)
        event(self->name, self->listener->user);
}

static gboolean
is_fit(const RpcHost *self, const PooledConnection *connection)
{
    return !rpc_host_wants_renewal(self, connection) && wire_connection_is_quiet(connection->wire);
}

PoolOutcome
rpc_host_take(RpcHost *self, guint64 generation, gint64 deadline_us, PooledConnection **ret_taken)
{
    PooledConnection *taken;
    PoolOutcome outcome = connection_pool_take(self->pool, generation, deadline_us, &taken);

    if (outcome != POOL_TAKEN)
        return outcome;
    if (taken->is_open && !is_fit(self, taken)) {
        taken = connection_pool_renew(self->pool, taken);
        tell(self, self->listener->events.connection_closed);
        if (taken == NULL)
            return POOL_STOPPED;
    }
    *ret_taken = taken;
    return POOL_TAKEN;
}

gboolean
rpc_host_open(RpcHost *self, PooledConnection *taken, gint64 deadline_us, GError **error)
{
    gint64 connect_deadline_us = MIN(deadline_us, clock_deadline_us(self->connect_timeout_us));
    g_autoptr(GError) failure = NULL;

    if (taken->is_open)
        return TRUE;
    if (!wire_connection_open(taken->wire, connect_deadline_us, &failure)) {
        g_propagate_error(error, rpc_failure_of_connection(failure));
        return FALSE;
    }
    taken->is_open = TRUE;
    taken->opened_us = clock_now_us();
    tell(self, self->listener->events.connection_opened);
    return TRUE;
}

void
rpc_host_give(RpcHost *self, PooledConnection *taken)
{
    if (!taken->is_open)
        connection_pool_drop(self->pool, taken);
    else if (!connection_pool_give(self->pool, taken))
        tell(self, self->listener->events.connection_closed);
}

void
rpc_host_drop(RpcHost *self, PooledConnection *taken)
{
    gboolean was_open = taken->is_open;

    connection_pool_drop(self->pool, taken);
    if (was_open)
        tell(self, self->listener->events.connection_closed);
}

gboolean
rpc_host_wants_renewal(const RpcHost *self, const PooledConnection *taken)
{
    return self->max_age_us > 0 && clock_now_us() - taken->opened_us >= self->max_age_us;
}

void
rpc_host_tell_failed(const RpcHost *self, const GError *error)
{
    if (self->listener->events.host_failed != NULL)
        self->listener->events.host_failed(self->name, error, self->listener->user);
}

void
rpc_host_tell_acknowledged(const RpcHost *self)
{
    tell(self, self->listener->events.host_acknowledged);
}

void
rpc_host_close(RpcHost *self)
{
    for (guint n_left = connection_pool_close(self->pool); n_left > 0; n_left--)
        tell(self, self->listener->events.connection_closed);
}
