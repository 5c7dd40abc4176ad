/* rpc_probe.c - connects, sends a batch of no events, waits for the answer. */
#include "client/rpc_probe.h"

#include "base/clock.h"
#include "base/silent_thread.h"
#include "client/rpc_failure.h"

typedef struct {
    RpcClient *client;
    RpcHost *host;
    PooledConnection *connection; /* while it runs */
    GThread *thread;

    /* The thread's own until it has ended. */
    gboolean has_opened;
    gboolean has_closed;
    GError *failure; /* NULL: the host works */

    gboolean has_ended; /* the client's lock guards it */
} RpcProbe;

static void
probe_free(RpcProbe *self)
{
    rpc_host_unref(self->host);
    g_clear_error(&self->failure);
    g_free(self);
}

/* ---- on its thread ---- */

static gboolean
probe_connect(RpcProbe *self, GError **error)
{
    if (self->connection->is_open)
        return TRUE;
    self->has_opened = rpc_host_connect(self->host, self->connection, CLOCK_NEVER, error);
    return self->has_opened;
}

static gboolean
probe_exchange(RpcProbe *self, WireReply *ret_reply, GError **error)
{
    gint64 deadline_us = clock_deadline_us(self->host->request_timeout_us);
    WireConnection *wire = self->connection->wire;
    g_autoptr(GError) failure = NULL;

    if (wire_connection_send(wire, NULL, 0, deadline_us, &failure) &&
        wire_connection_receive(wire, deadline_us, ret_reply, &failure))
        return TRUE;
    g_propagate_error(error, rpc_failure_of_connection(failure));
    return FALSE;
}

/* A refusal of nothing is strange, but an answer: whether it takes events, only events can tell. */
static GError *
probe_judge(const RpcProbe *self, const WireReply *reply)
{
    const char *peer = wire_connection_peer(self->connection->wire);
    g_autoptr(GError) failure = rpc_failure_of_reply(peer, reply);

    if (g_error_matches(failure, RPC_ERROR, RPC_ERROR_REFUSED))
        return NULL;
    return g_steal_pointer(&failure);
}

static void
probe_ask(RpcProbe *self)
{
    ConnectionPool *pool = self->host->pool;
    WireReply reply;

    if (probe_connect(self, &self->failure) && probe_exchange(self, &reply, &self->failure)) {
        self->failure = probe_judge(self, &reply);
        self->has_closed = !connection_pool_give(pool, g_steal_pointer(&self->connection));
        return;
    }
    self->has_closed = self->connection->is_open;
    connection_pool_drop(pool, g_steal_pointer(&self->connection));
}

/* With the client's lock held. What was interrupted says nothing. */
static void
probe_note(const RpcProbe *self)
{
    Choice *choice = self->client->choice;
    guint place = self->host->place;
    gint64 now_us = clock_now_us();

    if (place == RPC_HOST_GONE || !choice_end_aside(choice, place, now_us))
        return;
    if (self->failure == NULL)
        choice_note_success(choice, place, now_us);
    else if (self->failure->code != RPC_ERROR_CLOSED)
        choice_note_failure(choice, place, now_us);
}

static gpointer
probe_thread(gpointer user)
{
    RpcProbe *self = user;
    RpcClient *client = self->client;

    probe_ask(self);
    g_mutex_lock(&client->lock);
    probe_note(self);
    self->has_ended = TRUE;
    g_mutex_unlock(&client->lock);
    return NULL;
}

/* ---- on the threads of calls ---- */

static void
client_end_aside(RpcClient *self, const RpcHost *host)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    if (host->place != RPC_HOST_GONE)
        choice_end_aside(self->choice, host->place, clock_now_us());
}

void
rpc_probe_begin(RpcClient *client, RpcHost *host)
{
    RpcProbe *self = g_new0(RpcProbe, 1);

    self->client = client;
    self->host = rpc_host_ref(host);
    if (rpc_host_take(host, rpc_client_generation(client), 0, &self->connection) != POOL_TAKEN) {
        client_end_aside(client, host);
        probe_free(self);
        return;
    }
    g_mutex_lock(&client->lock); /* so that nobody finds it before its thread is known */
    self->thread = silent_thread_new("probe", probe_thread, self, NULL);
    if (self->thread != NULL)
        g_ptr_array_add(client->probes, self);
    g_mutex_unlock(&client->lock);
    if (self->thread != NULL)
        return;
    rpc_host_give(host, self->connection);
    client_end_aside(client, host);
    probe_free(self);
}

/* Its thread has ended, or is about to. */
static void
probe_settle(RpcProbe *self)
{
    g_thread_join(self->thread);
    if (self->has_opened)
        rpc_host_tell_opened(self->host);
    if (self->failure != NULL && self->failure->code != RPC_ERROR_CLOSED)
        rpc_host_tell_still_failing(self->host, self->failure);
    if (self->has_closed)
        rpc_host_tell_closed(self->host);
    probe_free(self);
}

/* NULL: none has ended, or there is none. */
static RpcProbe *
client_take_probe(RpcClient *self, gboolean only_ended)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    for (guint i = 0; i < self->probes->len; i++) {
        RpcProbe *probe = self->probes->pdata[i];

        if (probe->has_ended || !only_ended)
            return g_ptr_array_steal_index_fast(self->probes, i);
    }
    return NULL;
}

void
rpc_probes_settle(RpcClient *client)
{
    RpcProbe *probe;

    while ((probe = client_take_probe(client, TRUE)) != NULL)
        probe_settle(probe);
}

void
rpc_probes_end(RpcClient *client)
{
    RpcProbe *probe;

    while ((probe = client_take_probe(client, FALSE)) != NULL)
        probe_settle(probe);
}
