/* rpc_client.c - options, hosts and their choice, and how everything is stopped. */
#include "client/rpc_client.h"

#include "base/clock.h"
#include "client/rpc_client_private.h"
#include "client/rpc_stream.h"

/* ---- making one ---- */

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
find_problem_with_hosts(const RpcClientOptions *options)
{
    guint n_hosts = options->hosts == NULL ? 0 : options->hosts->len;

    if (n_hosts == 0)
        return "there are no hosts";
    if (options->kind == RPC_SINGLE && n_hosts > 1)
        return "a single client has one host; failover and load-balance have more";
    if (options->kind == RPC_LOAD_BALANCE && n_hosts < 2)
        return "load-balance needs at least two hosts";
    for (guint i = 0; i < n_hosts; i++) {
        const Endpoint *host = options->hosts->pdata[i];

        if (host->host[0] == '\0' || host->port == 0)
            return "a host lacks its name or its port; write host:port";
    }
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
    const char *problem = find_problem_with_hosts(options);
    RpcClient *self;

    if (problem == NULL)
        problem = find_problem_with_numbers(options);
    if (problem != NULL) {
        g_set_error_literal(error, RPC_ERROR, RPC_ERROR_CONFIGURATION, problem);
        return NULL;
    }
    self = g_new0(RpcClient, 1);
    self->options = *options;
    self->options.hosts = NULL;
    self->hosts = g_ptr_array_new_with_free_func((GDestroyNotify) rpc_host_free);
    for (guint i = 0; i < options->hosts->len; i++)
        g_ptr_array_add(self->hosts,
                        rpc_host_new(options->hosts->pdata[i], options, &self->listener));
    self->max_attempts = options->kind == RPC_FAILOVER && options->max_attempts > 0
                             ? options->max_attempts
                             : self->hosts->len;
    self->choice = choice_new(choice_policy(options), self->hosts->len,
                              options->backoff ? options->max_backoff_us : 0);
    g_mutex_init(&self->lock);
    return self;
}

void
rpc_client_free(RpcClient *self)
{
    if (self == NULL)
        return;
    rpc_client_close(self);
    g_ptr_array_unref(self->hosts);
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

/* ---- hosts ---- */

void
rpc_client_order(RpcClient *self, guint *ret_order)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    choice_order(self->choice, clock_now_us(), ret_order);
}

void
rpc_client_choose(RpcClient *self, guint *order, guint n_given)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 now_us = clock_now_us();
    gint64 best_due_us = G_MAXINT64;
    guint best = n_given;
    guint chosen;

    for (guint i = n_given; i < self->hosts->len; i++) {
        gint64 due_us = MAX(choice_due_us(self->choice, order[i]), now_us);

        if (due_us < best_due_us) {
            best = i;
            best_due_us = due_us;
        }
    }
    chosen = order[best];
    for (guint i = best; i > n_given; i--)
        order[i] = order[i - 1];
    order[n_given] = chosen;
}

gboolean
rpc_client_prefers_another(RpcClient *self, const guint *order, guint n_given)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 now_us = clock_now_us();

    if (choice_due_us(self->choice, order[n_given - 1]) <= now_us)
        return FALSE;
    for (guint i = n_given; i < self->hosts->len; i++)
        if (choice_due_us(self->choice, order[i]) <= now_us)
            return TRUE;
    return FALSE;
}

void
rpc_client_note_success(RpcClient *self, guint host)
{
    g_mutex_lock(&self->lock);
    choice_note_success(self->choice, host, clock_now_us());
    g_mutex_unlock(&self->lock);
    rpc_host_tell_acknowledged(self->hosts->pdata[host]);
}

void
rpc_client_note_failure(RpcClient *self, guint host, const GError *error)
{
    g_mutex_lock(&self->lock);
    choice_note_failure(self->choice, host, clock_now_us());
    g_mutex_unlock(&self->lock);
    rpc_host_tell_failed(self->hosts->pdata[host], error);
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

void
rpc_client_interrupt(RpcClient *self)
{
    guint64 generation;

    g_mutex_lock(&self->lock);
    generation = ++self->generation;
    g_mutex_unlock(&self->lock);
    for (guint i = 0; i < self->hosts->len; i++)
        connection_pool_interrupt(((RpcHost *) self->hosts->pdata[i])->pool, generation);
}

void
rpc_client_close(RpcClient *self)
{
    g_mutex_lock(&self->lock);
    self->closed = TRUE;
    g_mutex_unlock(&self->lock);
    for (guint i = 0; i < self->hosts->len; i++)
        rpc_host_close(self->hosts->pdata[i]);
}
