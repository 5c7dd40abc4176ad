/* rpc_hosts.c - which hosts a client has, in which order they are tried, what is known of each. */
#include <string.h>

#include "base/clock.h"
#include "base/text_hash.h"
#include "client/rpc_client_private.h"
#include "client/rpc_probe.h"

guint
rpc_client_n_hosts(RpcClient *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->hosts->len;
}

guint
rpc_client_max_attempts(const RpcClient *self, const RpcPass *pass)
{
    if (self->options.kind == RPC_SINGLE)
        return 1;
    if (self->options.kind == RPC_FAILOVER && self->options.max_attempts > 0)
        return self->options.max_attempts;
    return pass->order->len;
}

/* ---- a pass over them ---- */

/* With the lock held. Failover has no use for one that works again as long as another does. */
static GPtrArray *
client_set_aside_those_on_trial(RpcClient *self, gint64 now_us)
{
    GPtrArray *aside = g_ptr_array_new_with_free_func((GDestroyNotify) rpc_host_unref);
    gboolean any_works = FALSE;

    if (self->options.kind != RPC_LOAD_BALANCE || self->closed)
        return aside;
    for (guint i = 0; i < self->hosts->len; i++)
        any_works = any_works || choice_due_us(self->choice, i) == 0;
    for (guint i = 0; any_works && i < self->hosts->len; i++)
        if (choice_is_on_trial(self->choice, i, now_us)) {
            choice_set_aside(self->choice, i);
            g_ptr_array_add(aside, rpc_host_ref(self->hosts->pdata[i]));
        }
    return aside;
}

/* With the lock held. */
static void
client_order(RpcClient *self, gint64 now_us, RpcPass *ret_pass)
{
    g_autofree guint *places = g_new(guint, self->hosts->len);
    GPtrArray *order = g_ptr_array_new_full(self->hosts->len, (GDestroyNotify) rpc_host_unref);

    choice_order(self->choice, now_us, places);
    for (guint i = 0; i < self->hosts->len; i++)
        g_ptr_array_add(order, rpc_host_ref(self->hosts->pdata[places[i]]));
    *ret_pass = (RpcPass){ .order = order, .edition = self->edition };
}

void
rpc_client_begin_pass(RpcClient *self, RpcPass *ret_pass)
{
    g_autoptr(GPtrArray) aside = NULL;
    gint64 now_us;

    rpc_probes_settle(self);
    g_mutex_lock(&self->lock);
    now_us = clock_now_us();
    aside = client_set_aside_those_on_trial(self, now_us);
    client_order(self, now_us, ret_pass);
    g_mutex_unlock(&self->lock);
    for (guint i = 0; i < aside->len; i++)
        rpc_probe_begin(self, aside->pdata[i]);
}

static gpointer
copy_host(gconstpointer host, gpointer unused G_GNUC_UNUSED)
{
    return rpc_host_ref((gpointer) host);
}

void
rpc_pass_copy(const RpcPass *self, RpcPass *ret_pass)
{
    *ret_pass = *self;
    ret_pass->order = g_ptr_array_copy(self->order, copy_host, NULL);
}

void
rpc_pass_clear(RpcPass *self)
{
    g_clear_pointer(&self->order, g_ptr_array_unref);
}

gboolean
rpc_client_has_moved_on(RpcClient *self, const RpcPass *pass)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->edition != pass->edition;
}

/* With the lock held. */
static gint64
client_due_us(const RpcClient *self, const RpcPass *pass, guint index)
{
    const RpcHost *host = pass->order->pdata[index];

    return host->place == RPC_HOST_GONE ? CLOCK_NEVER : choice_due_us(self->choice, host->place);
}

RpcHost *
rpc_client_choose(RpcClient *self, RpcPass *pass)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gpointer *order = pass->order->pdata;
    gint64 now_us = clock_now_us();
    gint64 best_due_us = CLOCK_NEVER;
    guint best = pass->n_given;
    RpcHost *chosen;

    g_assert(pass->n_given < pass->order->len);
    for (guint i = pass->n_given; i < pass->order->len; i++) {
        gint64 due_us = MAX(client_due_us(self, pass, i), now_us);

        if (due_us < best_due_us) {
            best = i;
            best_due_us = due_us;
        }
    }
    chosen = order[best];
    for (guint i = best; i > pass->n_given; i--)
        order[i] = order[i - 1];
    order[pass->n_given] = chosen;
    return chosen;
}

gboolean
rpc_client_prefers_another(RpcClient *self, const RpcPass *pass)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 now_us = clock_now_us();

    if (client_due_us(self, pass, pass->n_given - 1) <= now_us)
        return FALSE;
    for (guint i = pass->n_given; i < pass->order->len; i++)
        if (client_due_us(self, pass, i) <= now_us)
            return TRUE;
    return FALSE;
}

/* ---- what is known of them ---- */

static void
client_note_success(RpcClient *self, const RpcHost *host)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    if (host->place != RPC_HOST_GONE)
        choice_note_success(self->choice, host->place, clock_now_us());
}

/* One that is named twice, for two shares, fails with both. */
static void
client_note_failure(RpcClient *self, const RpcHost *host)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 now_us = clock_now_us();

    if (host->place == RPC_HOST_GONE)
        return;
    for (guint i = 0; i < self->hosts->len; i++)
        if (strcmp(((const RpcHost *) self->hosts->pdata[i])->name, host->name) == 0)
            choice_note_failure(self->choice, i, now_us);
}

void
rpc_client_note_success(RpcClient *self, RpcHost *host)
{
    client_note_success(self, host);
    rpc_host_tell_acknowledged(host);
}

void
rpc_client_note_failure(RpcClient *self, RpcHost *host, const GError *error)
{
    client_note_failure(self, host);
    rpc_host_tell_failed(host, error);
}

void
rpc_client_note_unanswered(RpcClient *self, RpcHost *host)
{
    client_note_failure(self, host);
}

/* ---- other ones ---- */

/* NULL, or what is wrong. */
static const char *
find_problem_with_hosts(const GPtrArray *endpoints)
{
    for (guint i = 0; i < endpoints->len; i++) {
        const Endpoint *host = endpoints->pdata[i];

        if (host->host[0] == '\0' || host->port == 0)
            return "a host lacks its name or its port; write host:port";
    }
    return NULL;
}

/* With the lock held. (transfer full) name → GPtrArray of RpcHost, borrowed. */
static GHashTable *
client_hosts_by_name(const RpcClient *self)
{
    GHashTable *by_name =
        g_hash_table_new_full(text_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);

    for (guint i = self->hosts->len; i > 0; i--) { /* so that the first of a name is the last */
        RpcHost *host = self->hosts->pdata[i - 1];
        GPtrArray *namesakes = g_hash_table_lookup(by_name, host->name);

        if (namesakes == NULL) {
            namesakes = g_ptr_array_new();
            g_hash_table_insert(by_name, host->name, namesakes);
        }
        g_ptr_array_add(namesakes, host);
    }
    return by_name;
}

/* The first of this name that was not taken yet; NULL if there is none. */
static RpcHost *
take_host(GHashTable *by_name, const char *name)
{
    GPtrArray *namesakes = g_hash_table_lookup(by_name, name);

    return namesakes == NULL || namesakes->len == 0
               ? NULL
               : g_ptr_array_remove_index(namesakes, namesakes->len - 1);
}

/* With the lock held. Those that are here already stay the same; ret_from: their places. */
static GPtrArray *
client_heirs(RpcClient *self, const GPtrArray *endpoints, guint *ret_from)
{
    GPtrArray *heirs = g_ptr_array_new_full(endpoints->len, (GDestroyNotify) rpc_host_unref);
    g_autoptr(GHashTable) by_name = client_hosts_by_name(self);

    for (guint i = 0; i < endpoints->len; i++) {
        g_autofree char *name = endpoint_to_text(endpoints->pdata[i]);
        RpcHost *host = take_host(by_name, name);

        ret_from[i] = host != NULL ? host->place : CHOICE_NEW;
        g_ptr_array_add(heirs, host != NULL ? rpc_host_ref(host)
                                            : rpc_host_new(endpoints->pdata[i], &self->options,
                                                           &self->listener));
    }
    return heirs;
}

/* With the lock held. */
static void
client_forget_those_that_left(RpcClient *self)
{
    for (guint i = self->leaving->len; i > 0; i--)
        if (!connection_pool_is_in_use(((RpcHost *) self->leaving->pdata[i - 1])->pool))
            g_ptr_array_remove_index_fast(self->leaving, i - 1);
}

/* With the lock held. (transfer full) Those that leave. */
static GPtrArray *
client_replace_hosts(RpcClient *self, GPtrArray *heirs /* (transfer full) */)
{
    GPtrArray *gone = g_ptr_array_new_with_free_func((GDestroyNotify) rpc_host_unref);

    for (guint i = 0; i < self->hosts->len; i++)
        ((RpcHost *) self->hosts->pdata[i])->place = RPC_HOST_GONE;
    for (guint i = 0; i < heirs->len; i++)
        ((RpcHost *) heirs->pdata[i])->place = i;
    for (guint i = 0; i < self->hosts->len; i++) {
        RpcHost *host = self->hosts->pdata[i];

        if (host->place == RPC_HOST_GONE) {
            g_ptr_array_add(gone, rpc_host_ref(host));
            g_ptr_array_add(self->leaving, rpc_host_ref(host));
        }
    }
    g_ptr_array_unref(self->hosts);
    self->hosts = heirs;
    self->edition++;
    return gone;
}

gboolean
rpc_client_set_hosts(RpcClient *self, const GPtrArray *hosts, GError **error)
{
    g_autofree guint *ranks = g_new0(guint, hosts->len);

    return rpc_client_set_ranked_hosts(self, hosts, ranks, error);
}

gboolean
rpc_client_set_ranked_hosts(RpcClient *self, const GPtrArray *hosts, const guint *ranks,
                            GError **error)
{
    g_autofree guint *from = g_new(guint, hosts->len);
    const char *problem = find_problem_with_hosts(hosts);
    g_autoptr(GPtrArray) gone = NULL;
    g_autoptr(Choice) before = NULL;

    if (problem != NULL) {
        g_set_error_literal(error, RPC_ERROR, RPC_ERROR_CONFIGURATION, problem);
        return FALSE;
    }
    g_mutex_lock(&self->lock);
    client_forget_those_that_left(self);
    gone = client_replace_hosts(self, client_heirs(self, hosts, from));
    before = self->choice;
    self->choice = choice_new_from(before, hosts->len, from);
    for (guint i = 0; i < hosts->len; i++)
        choice_set_rank(self->choice, i, ranks[i]);
    g_mutex_unlock(&self->lock);
    for (guint i = 0; i < gone->len; i++)
        rpc_host_retire(gone->pdata[i]);
    return TRUE;
}
