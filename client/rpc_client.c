/* rpc_client.c - options, hosts and their choice, and how everything is stopped. */
#include "client/rpc_client.h"

#include "client/rpc_client_private.h"
#include "client/rpc_probe.h"
#include "client/rpc_stream.h"

/* ---- making one ---- */

const char *const rpc_client_kind_names[] = {
    [RPC_SINGLE] = "single",
    [RPC_FAILOVER] = "failover",
    [RPC_LOAD_BALANCE] = "load-balance",
    NULL,
};
const char *const rpc_host_selector_names[] = {
    [RPC_ROUND_ROBIN] = "round-robin",
    [RPC_RANDOM] = "random",
    NULL,
};
const char *const rpc_protocol_names[] = {
    [WIRE_COMPACT] = "compact",
    [WIRE_BINARY] = "binary",
    NULL,
};

void
rpc_client_options_init(RpcClientOptions *self)
{
    *self = (RpcClientOptions){
        .kind = RPC_SINGLE,
        .protocol = WIRE_COMPACT,
        .batch_size = 100,
        .connections = 5,
        .in_flight = 1,
        .host_selector = RPC_ROUND_ROBIN,
        .backoff = TRUE,
        .max_backoff_us = 30 * G_USEC_PER_SEC,
        .connect_timeout_us = 20 * G_USEC_PER_SEC,
        .request_timeout_us = 20 * G_USEC_PER_SEC,
    };
}

/* NULL, or what is wrong. */
static const char *
find_problem_with_kind(const RpcClientOptions *options)
{
    guint n_hosts = options->hosts == NULL ? 0 : options->hosts->len;

    if (options->any_hosts)
        return NULL;
    if (n_hosts == 0)
        return "there are no hosts";
    if (options->kind == RPC_SINGLE && n_hosts > 1)
        return "a single client has one host; failover and load-balance have more";
    if (options->kind == RPC_LOAD_BALANCE && n_hosts < 2)
        return "load-balance needs at least two hosts";
    return NULL;
}

static const char *
find_problem_with_numbers(const RpcClientOptions *options)
{
    if (options->protocol != WIRE_COMPACT && options->protocol != WIRE_BINARY)
        return "the protocol is neither compact nor binary";
    if (options->batch_size == 0)
        return "batch-size is 0; it is at least 1";
    if (options->connections == 0)
        return "connections is 0; it is at least 1";
    if (options->in_flight == 0 || options->in_flight > RPC_MAX_IN_FLIGHT)
        return "in-flight is not between 1 and 100";
    if (options->connect_timeout_us <= 0 || options->request_timeout_us <= 0)
        return "a timeout is no time at all";
    if (options->max_backoff_us < 0 || options->reset_connection_interval_us < 0)
        return "a time is negative";
    return NULL;
}

static ChoicePolicy
choice_policy(const RpcClientOptions *options)
{
    if (options->kind != RPC_LOAD_BALANCE)
        return CHOICE_STICKY;
    return options->host_selector == RPC_RANDOM ? CHOICE_RANDOM : CHOICE_ROUND_ROBIN;
}

RpcClient *
rpc_client_new(const RpcClientOptions *options, GError **error)
{
    const char *problem = find_problem_with_kind(options);
    g_autoptr(GPtrArray) none = g_ptr_array_new();
    g_autoptr(RpcClient) self = NULL;

    if (problem == NULL)
        problem = find_problem_with_numbers(options);
    if (problem != NULL) {
        g_set_error_literal(error, RPC_ERROR, RPC_ERROR_CONFIGURATION, problem);
        return NULL;
    }
    self = g_new0(RpcClient, 1);
    self->options = *options;
    self->options.hosts = NULL;
    g_mutex_init(&self->lock);
    self->hosts = g_ptr_array_new_with_free_func((GDestroyNotify) rpc_host_unref);
    self->leaving = g_ptr_array_new_with_free_func((GDestroyNotify) rpc_host_unref);
    self->probes = g_ptr_array_new();
    self->choice =
        choice_new(choice_policy(options), 0, options->backoff ? options->max_backoff_us : 0);
    return rpc_client_set_hosts(self, options->hosts != NULL ? options->hosts : none, error)
               ? g_steal_pointer(&self)
               : NULL;
}

void
rpc_client_free(RpcClient *self)
{
    if (self == NULL)
        return;
    rpc_client_close(self);
    g_ptr_array_unref(self->hosts);
    g_ptr_array_unref(self->leaving);
    g_ptr_array_unref(self->probes);
    choice_free(self->choice);
    g_mutex_clear(&self->lock);
    g_free(self);
}

void
rpc_client_set_events(RpcClient *self, const RpcClientEvents *events, gpointer user)
{
    self->listener = (RpcListener){ .events = *events, .user = user };
}

guint
rpc_client_batch_size(const RpcClient *self)
{
    return self->options.batch_size;
}

/* ---- sending ---- */

gboolean
rpc_client_append_batch(RpcClient *self, const BatchSlice *slices, guint n_slices,
                        gint64 deadline_us, guint *ret_acknowledged, GError **error)
{
    g_autoptr(RpcStream) stream = rpc_stream_new(self);

    rpc_stream_submit(stream, slices, n_slices, deadline_us);
    return rpc_stream_collect(stream, ret_acknowledged, error);
}

gboolean
rpc_client_append(RpcClient *self, Batch *batch, guint index, gint64 deadline_us, GError **error)
{
    g_autoptr(RpcStream) stream = rpc_stream_new(self);
    BatchSlice event = { .batch = batch, .first = index, .count = 1 };
    guint acknowledged;

    rpc_stream_submit_append(stream, &event, deadline_us);
    return rpc_stream_collect(stream, &acknowledged, error);
}

/* ---- stopping ---- */

guint64
rpc_client_generation(RpcClient *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->generation;
}

gboolean
rpc_client_is_stopped(RpcClient *self, guint64 generation)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->closed || generation < self->generation;
}

gboolean
rpc_client_is_active(RpcClient *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return !self->closed;
}

/* With the lock held. (transfer full) All hosts that calls may be on their way to. */
static GPtrArray *
client_all_hosts(RpcClient *self)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify) rpc_host_unref);

    for (guint i = 0; i < self->hosts->len; i++)
        g_ptr_array_add(all, rpc_host_ref(self->hosts->pdata[i]));
    for (guint i = 0; i < self->leaving->len; i++)
        g_ptr_array_add(all, rpc_host_ref(self->leaving->pdata[i]));
    return all;
}

void
rpc_client_interrupt(RpcClient *self)
{
    g_autoptr(GPtrArray) all = NULL;
    guint64 generation;

    g_mutex_lock(&self->lock);
    generation = ++self->generation;
    all = client_all_hosts(self);
    g_mutex_unlock(&self->lock);
    for (guint i = 0; i < all->len; i++)
        connection_pool_interrupt(((RpcHost *) all->pdata[i])->pool, generation);
}

void
rpc_client_close(RpcClient *self)
{
    g_autoptr(GPtrArray) all = NULL;

    g_mutex_lock(&self->lock);
    self->closed = TRUE;
    all = client_all_hosts(self);
    g_mutex_unlock(&self->lock);
    for (guint i = 0; i < all->len; i++)
        rpc_host_close(all->pdata[i]);
    rpc_probes_end(self);
}
