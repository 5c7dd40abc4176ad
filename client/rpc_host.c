/* rpc_host.c - looks at idle connections before they are used, opens new ones. */
#include "client/rpc_host.h"

#include "base/clock.h"
#include "client/rpc_failure.h"

RpcHost *
rpc_host_new(const Endpoint *endpoint, const RpcClientOptions *options, const RpcListener *listener)
{
    RpcHost *self = g_atomic_rc_box_new0(RpcHost);

    self->name = endpoint_to_text(endpoint);
    self->pool = connection_pool_new(endpoint, options->protocol, options->connections);
    self->connect_timeout_us = options->connect_timeout_us;
    self->request_timeout_us = options->request_timeout_us;
    self->max_age_us = options->reset_connection_interval_us;
    self->listener = listener;
    return self;
}

static void
rpc_host_clear(gpointer host)
{
    RpcHost *self = host;

    connection_pool_free(self->pool);
    g_free(self->name);
}

RpcHost *
rpc_host_ref(RpcHost *self)
{
    return g_atomic_rc_box_acquire(self);
}

void
rpc_host_unref(RpcHost *self)
{
    g_atomic_rc_box_release_full(self, rpc_host_clear);
}

/* ---- telling ---- */

static void
tell(const RpcHost *self, void (*event)(const char *peer, gpointer user))
{
    if (event != NULL)
        event(self->name, self->listener->user);
}

void
rpc_host_tell_opened(const RpcHost *self)
{
    tell(self, self->listener->events.connection_opened);
}

void
rpc_host_tell_closed(const RpcHost *self)
{
    tell(self, self->listener->events.connection_closed);
}

void
rpc_host_tell_acknowledged(const RpcHost *self)
{
    tell(self, self->listener->events.host_acknowledged);
}

static void
tell_failure(const RpcHost *self, const GError *error,
             void (*event)(const char *peer, const GError *error, gpointer user))
{
    if (event != NULL)
        event(self->name, error, self->listener->user);
}

void
rpc_host_tell_failed(const RpcHost *self, const GError *error)
{
    tell_failure(self, error, self->listener->events.host_failed);
}

void
rpc_host_tell_still_failing(const RpcHost *self, const GError *error)
{
    tell_failure(self, error, self->listener->events.host_still_failing);
}

/* ---- connections ---- */

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
        rpc_host_tell_closed(self);
        if (taken == NULL)
            return POOL_STOPPED;
    }
    *ret_taken = taken;
    return POOL_TAKEN;
}

gboolean
rpc_host_connect(const RpcHost *self, PooledConnection *taken, gint64 deadline_us, GError **error)
{
    gint64 connect_deadline_us = MIN(deadline_us, clock_deadline_us(self->connect_timeout_us));
    g_autoptr(GError) failure = NULL;

    if (!wire_connection_open(taken->wire, connect_deadline_us, &failure)) {
        g_propagate_error(error, rpc_failure_of_connection(failure));
        return FALSE;
    }
    taken->is_open = TRUE;
    taken->opened_us = clock_now_us();
    return TRUE;
}

gboolean
rpc_host_open(RpcHost *self, PooledConnection *taken, gint64 deadline_us, GError **error)
{
    if (taken->is_open)
        return TRUE;
    if (!rpc_host_connect(self, taken, deadline_us, error))
        return FALSE;
    rpc_host_tell_opened(self);
    return TRUE;
}

void
rpc_host_give(RpcHost *self, PooledConnection *taken)
{
    if (!taken->is_open)
        connection_pool_drop(self->pool, taken);
    else if (!connection_pool_give(self->pool, taken))
        rpc_host_tell_closed(self);
}

void
rpc_host_drop(RpcHost *self, PooledConnection *taken)
{
    gboolean was_open = taken->is_open;

    connection_pool_drop(self->pool, taken);
    if (was_open)
        rpc_host_tell_closed(self);
}

gboolean
rpc_host_wants_renewal(const RpcHost *self, const PooledConnection *taken)
{
    return self->max_age_us > 0 && clock_now_us() - taken->opened_us >= self->max_age_us;
}

/* ---- stopping ---- */

static void
tell_all_closed(const RpcHost *self, guint n_connections)
{
    for (; n_connections > 0; n_connections--)
        rpc_host_tell_closed(self);
}

void
rpc_host_retire(RpcHost *self)
{
    tell_all_closed(self, connection_pool_retire(self->pool));
}

void
rpc_host_close(RpcHost *self)
{
    tell_all_closed(self, connection_pool_close(self->pool));
}
