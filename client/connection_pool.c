/* connection_pool.c - who has which connection, and who waits for one. */
#include "client/connection_pool.h"

#include "base/clock.h"

typedef struct {
    GCond woken;
    guint64 generation;
    PooledConnection *granted;
} Waiter;

struct ConnectionPool {
    Endpoint *peer;
    WireProtocol protocol;
    guint max_connections;

    GMutex lock; /* guards the rest */
    gboolean retired;
    guint64 generation; /* who asks with an older one is stopped */
    GQueue idle;        /* PooledConnection, owned, the longest idle first */
    GPtrArray *taken;   /* PooledConnection, held by those who took them */
    GQueue waiters;     /* Waiter, on the stack of who waits; none while one could be taken */
};

static void
pooled_connection_clear(gpointer connection)
{
    PooledConnection *self = connection;

    wire_connection_free(self->wire);
}

static void
pooled_connection_unref(gpointer connection)
{
    g_atomic_rc_box_release_full(connection, pooled_connection_clear);
}

ConnectionPool *
connection_pool_new(const Endpoint *peer, WireProtocol protocol, guint max_connections)
{
    ConnectionPool *self = g_new0(ConnectionPool, 1);

    self->peer = endpoint_copy(peer);
    self->protocol = protocol;
    self->max_connections = max_connections;
    self->taken = g_ptr_array_new();
    g_mutex_init(&self->lock);
    g_queue_init(&self->idle);
    g_queue_init(&self->waiters);
    return self;
}

void
connection_pool_free(ConnectionPool *self)
{
    g_assert(self->taken->len == 0 && self->waiters.length == 0);
    g_queue_clear_full(&self->idle, pooled_connection_unref);
    g_ptr_array_unref(self->taken);
    g_mutex_clear(&self->lock);
    endpoint_free(self->peer);
    g_free(self);
}

/* ---- with the lock held ---- */

static gboolean
pool_is_stopped(const ConnectionPool *self, guint64 generation)
{
    return self->retired || generation < self->generation;
}

static PooledConnection *
pool_add_new(ConnectionPool *self, guint64 generation)
{
    PooledConnection *connection = g_atomic_rc_box_new0(PooledConnection);

    connection->wire = wire_connection_new(self->peer, self->protocol);
    connection->generation = generation;
    g_ptr_array_add(self->taken, connection);
    return connection;
}

/* NULL: all are taken. */
static PooledConnection *
pool_pick(ConnectionPool *self, guint64 generation)
{
    PooledConnection *connection = g_queue_pop_head(&self->idle);

    if (connection != NULL) {
        connection->generation = generation;
        g_ptr_array_add(self->taken, connection);
        return connection;
    }
    if (self->taken->len < self->max_connections)
        return pool_add_new(self, generation);
    return NULL;
}

/* For after something has become free. */
static void
pool_serve_waiters(ConnectionPool *self)
{
    while (self->waiters.length > 0) {
        Waiter *first = self->waiters.head->data;

        if (!pool_is_stopped(self, first->generation)) {
            first->granted = pool_pick(self, first->generation);
            if (first->granted == NULL)
                return;
        }
        g_queue_pop_head(&self->waiters);
        g_cond_signal(&first->woken);
    }
}

static PooledConnection *
pool_wait(ConnectionPool *self, guint64 generation, gint64 deadline_us)
{
    Waiter waiter = { .generation = generation };

    g_cond_init(&waiter.woken);
    g_queue_push_tail(&self->waiters, &waiter);
    while (waiter.granted == NULL && !pool_is_stopped(self, generation))
        if (!clock_cond_wait_until(&waiter.woken, &self->lock, deadline_us))
            break;
    if (waiter.granted == NULL)
        g_queue_remove(&self->waiters, &waiter);
    g_cond_clear(&waiter.woken);
    return waiter.granted;
}

/* ---- called by others ---- */

PoolOutcome
connection_pool_take(ConnectionPool *self, guint64 generation, gint64 deadline_us,
                     PooledConnection **ret_taken)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    PooledConnection *connection;

    if (pool_is_stopped(self, generation))
        return POOL_STOPPED;
    connection = pool_pick(self, generation);
    if (connection == NULL && deadline_us != 0)
        connection = pool_wait(self, generation, deadline_us);
    if (connection == NULL)
        return pool_is_stopped(self, generation) ? POOL_STOPPED : POOL_BUSY;
    *ret_taken = connection;
    return POOL_TAKEN;
}

PooledConnection *
connection_pool_renew(ConnectionPool *self, PooledConnection *taken)
{
    PooledConnection *renewed = NULL;

    g_mutex_lock(&self->lock);
    g_ptr_array_remove_fast(self->taken, taken);
    if (!pool_is_stopped(self, taken->generation))
        renewed = pool_add_new(self, taken->generation);
    pool_serve_waiters(self);
    g_mutex_unlock(&self->lock);
    pooled_connection_unref(taken);
    return renewed;
}

gboolean
connection_pool_give(ConnectionPool *self, PooledConnection *taken)
{
    gboolean retired;

    g_mutex_lock(&self->lock);
    retired = self->retired;
    g_ptr_array_remove_fast(self->taken, taken);
    if (!retired)
        g_queue_push_tail(&self->idle, taken);
    pool_serve_waiters(self);
    g_mutex_unlock(&self->lock);
    if (retired)
        pooled_connection_unref(taken);
    return !retired;
}

void
connection_pool_drop(ConnectionPool *self, PooledConnection *taken)
{
    g_mutex_lock(&self->lock);
    g_ptr_array_remove_fast(self->taken, taken);
    pool_serve_waiters(self);
    g_mutex_unlock(&self->lock);
    pooled_connection_unref(taken);
}

guint
connection_pool_n_waiting(ConnectionPool *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->waiters.length;
}

gboolean
connection_pool_is_in_use(ConnectionPool *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->taken->len > 0;
}

/* ---- stopping ---- */

static void
pool_wake_waiters(ConnectionPool *self)
{
    for (GList *link = self->waiters.head; link != NULL; link = link->next)
        g_cond_signal(&((Waiter *) link->data)->woken);
}

/* (transfer full) What was taken by those that are stopped now. Nobody waits in vain. */
static GPtrArray *
pool_stop_takers(ConnectionPool *self)
{
    GPtrArray *stopped = g_ptr_array_new_with_free_func(pooled_connection_unref);

    for (guint i = 0; i < self->taken->len; i++) {
        PooledConnection *connection = self->taken->pdata[i];

        if (pool_is_stopped(self, connection->generation))
            g_ptr_array_add(stopped, g_atomic_rc_box_acquire(connection));
    }
    pool_wake_waiters(self);
    return stopped;
}

static void
shut_all(const GPtrArray *connections)
{
    for (guint i = 0; i < connections->len; i++)
        wire_connection_shut(((PooledConnection *) connections->pdata[i])->wire);
}

void
connection_pool_interrupt(ConnectionPool *self, guint64 generation)
{
    g_autoptr(GPtrArray) stopped = NULL;

    g_mutex_lock(&self->lock);
    self->generation = MAX(self->generation, generation);
    stopped = pool_stop_takers(self);
    g_mutex_unlock(&self->lock);
    shut_all(stopped);
}

guint
connection_pool_retire(ConnectionPool *self)
{
    GQueue idle;
    guint n_idle;

    g_mutex_lock(&self->lock);
    self->retired = TRUE;
    pool_wake_waiters(self);
    idle = self->idle;
    g_queue_init(&self->idle);
    g_mutex_unlock(&self->lock);
    n_idle = idle.length;
    g_queue_clear_full(&idle, pooled_connection_unref);
    return n_idle;
}

guint
connection_pool_close(ConnectionPool *self)
{
    guint n_idle = connection_pool_retire(self);
    g_autoptr(GPtrArray) stopped = NULL;

    g_mutex_lock(&self->lock);
    stopped = pool_stop_takers(self);
    g_mutex_unlock(&self->lock);
    shut_all(stopped);
    return n_idle;
}
