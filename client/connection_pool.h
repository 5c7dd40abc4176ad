/* connection_pool.h - the connections of a client to one host: made on first use, reused, bounded.
 * Who finds all of them taken waits in line. Opens nothing itself, so that nobody connects under
 * its lock. Any thread.
 *
 * Generations tell who is interrupted: one who asks with an older generation than that of the last
 * interrupt. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"
#include "thrift/wire/connection.h"

typedef struct ConnectionPool ConnectionPool;

/* Of the one who has taken it, but for the generation, which is the pool's. */
typedef struct {
    WireConnection *wire;
    gboolean is_open; /* FALSE: new */
    gint64 opened_us;
    guint64 generation; /* with which it was taken */
} PooledConnection;

typedef enum {
    POOL_TAKEN,
    POOL_BUSY,    /* all are taken, until the deadline */
    POOL_STOPPED, /* interrupted, retired or closed */
} PoolOutcome;

ConnectionPool *connection_pool_new(const Endpoint *peer, WireProtocol protocol,
                                    guint max_connections);
/* All that was taken has been given back or dropped. */
void connection_pool_free(ConnectionPool *self);

/* The one that has been idle the longest, so that each is looked at in its turn, or a new one.
 * deadline_us 0: does not wait. */
PoolOutcome connection_pool_take(ConnectionPool *self, guint64 generation, gint64 deadline_us,
                                 PooledConnection **ret_taken /* (transfer full) */);
/* A new one in the place of one that is of no use any more. NULL: stopped, it was dropped. */
PooledConnection *connection_pool_renew(ConnectionPool *self,
                                        PooledConnection *taken /* (transfer full) */);
/* Back for others; it owes no answer. FALSE: the pool is retired, and it was dropped. */
gboolean connection_pool_give(ConnectionPool *self, PooledConnection *taken /* (transfer full) */);
/* It is closed, and another may be made instead. */
void connection_pool_drop(ConnectionPool *self, PooledConnection *taken /* (transfer full) */);

guint connection_pool_n_waiting(ConnectionPool *self);
gboolean connection_pool_is_in_use(ConnectionPool *self); /* something is taken */

/* Shuts what was taken by older generations, and ends their waits. */
void connection_pool_interrupt(ConnectionPool *self, guint64 generation);
/* For good: nobody takes any more, and who waits is sent away. What was taken stays as it is and is
 * closed when it comes back. Idle ones are closed: returns how many. */
guint connection_pool_retire(ConnectionPool *self);
/* The same, and what was taken is shut, whatever the generation. */
guint connection_pool_close(ConnectionPool *self);
