/* resolver.c - getaddrinfo on a few threads, shared by everyone who asks for the same name. */
#include "base/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "base/clock.h"
#include "base/silent_thread.h"

#define MAX_THREADS 4
#define FAILURE_AGE_US G_USEC_PER_SEC

typedef struct addrinfo AddressList;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AddressList, freeaddrinfo)

G_DEFINE_QUARK(leat_resolver_error, resolver_error)

/* One name being looked up, or one that failed. */
typedef struct {
    guint refs;
    char *host;
    gboolean is_done;
    GArray *addresses; /* ResolvedAddress; without a port */
    char *failure;     /* once done, if there are none */
    gint64 done_us;
} Lookup;

static GMutex lock; /* guards the rest, and every Lookup but its host */
static GCond changed;
static GHashTable *lookups;           /* host → Lookup, owned: under way, or failed lately */
static GQueue waiting = G_QUEUE_INIT; /* Lookup, owned, that no thread has begun */
static guint n_threads;

/* ---- look-ups; the lock is held ---- */

static Lookup *
lookup_new(const char *host)
{
    Lookup *self = g_new0(Lookup, 1);

    self->refs = 1;
    self->host = g_strdup(host);
    return self;
}

static Lookup *
lookup_ref(Lookup *self)
{
    self->refs++;
    return self;
}

static void
lookup_unref(gpointer lookup)
{
    Lookup *self = lookup;

    if (--self->refs > 0)
        return;
    g_clear_pointer(&self->addresses, g_array_unref);
    g_free(self->failure);
    g_free(self->host);
    g_free(self);
}

static gboolean
lookup_is_stale(gpointer host G_GNUC_UNUSED, gpointer lookup, gpointer now_us)
{
    const Lookup *self = lookup;

    return self->is_done && *(gint64 *) now_us - self->done_us >= FAILURE_AGE_US;
}

static void
lookup_finish(Lookup *self, GArray *addresses, char *failure)
{
    self->is_done = TRUE;
    self->addresses = addresses;
    self->failure = failure;
    self->done_us = clock_now_us();
    if (addresses != NULL)
        g_hash_table_remove(lookups, self->host);
    g_cond_broadcast(&changed);
}

/* ---- asking the system ---- */

static GArray *
copy_addresses(const AddressList *list)
{
    GArray *addresses = g_array_new(FALSE, TRUE, sizeof(ResolvedAddress));

    for (; list != NULL; list = list->ai_next) {
        ResolvedAddress address = { .length = list->ai_addrlen };

        if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
            continue;
        memcpy(&address.address, list->ai_addr, list->ai_addrlen);
        g_array_append_val(addresses, address);
    }
    return addresses;
}

/* NULL with a reason (transfer full) when there is none. */
static GArray *
ask_system(const char *host, int flags, char **ret_failure)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
    g_autoptr(AddressList) list = NULL;
    g_autoptr(GArray) addresses = NULL;
    int status = getaddrinfo(host, NULL, &hints, &list);

    if (status == EAI_SYSTEM)
        *ret_failure = g_strdup(g_strerror(errno));
    else if (status != 0)
        *ret_failure = g_strdup(gai_strerror(status));
    if (status != 0)
        return NULL;
    addresses = copy_addresses(list);
    if (addresses->len > 0)
        return g_steal_pointer(&addresses);
    *ret_failure = g_strdup("it has neither an IPv4 nor an IPv6 address");
    return NULL;
}

static gpointer
resolver_thread(gpointer unused G_GNUC_UNUSED)
{
    Lookup *lookup;

    g_mutex_lock(&lock);
    while ((lookup = g_queue_pop_head(&waiting)) != NULL) {
        GArray *addresses;
        char *failure = NULL;

        g_mutex_unlock(&lock);
        addresses = ask_system(lookup->host, 0, &failure);
        g_mutex_lock(&lock);
        lookup_finish(lookup, addresses, failure);
        lookup_unref(lookup);
    }
    n_threads--;
    g_mutex_unlock(&lock);
    return NULL;
}

static gboolean
start_thread(GError **error)
{
    GThread *thread = silent_thread_new("resolver", resolver_thread, NULL, error);

    if (thread == NULL)
        return FALSE;
    g_thread_unref(thread);
    return TRUE;
}

/* ---- waiting; the lock is held ---- */

/* The look-up of this host that is under way or failed lately, or a new one. */
static Lookup *
find_lookup(const char *host)
{
    gint64 now_us = clock_now_us();
    Lookup *lookup;

    if (lookups == NULL)
        lookups = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, lookup_unref);
    g_hash_table_foreach_remove(lookups, lookup_is_stale, &now_us);
    lookup = g_hash_table_lookup(lookups, host);
    if (lookup != NULL)
        return lookup_ref(lookup);
    lookup = lookup_new(host);
    g_hash_table_insert(lookups, lookup->host, lookup);
    g_queue_push_tail(&waiting, lookup_ref(lookup));
    return lookup_ref(lookup);
}

/* A look-up that no thread will ever begin fails at once. */
static void
ensure_thread(void)
{
    g_autoptr(GError) failure = NULL;
    Lookup *lookup;

    if (g_queue_is_empty(&waiting) || n_threads >= MAX_THREADS)
        return;
    if (start_thread(&failure)) {
        n_threads++;
        return;
    }
    while (n_threads == 0 && (lookup = g_queue_pop_head(&waiting)) != NULL) {
        lookup_finish(lookup, NULL, g_strdup(failure->message));
        lookup_unref(lookup);
    }
}

static gboolean
wait_for_lookup(Lookup *lookup, gint64 deadline_us, const gint *stop, GError **error)
{
    while (!lookup->is_done) {
        if (stop != NULL && g_atomic_int_get(stop) != 0) {
            g_set_error_literal(error, RESOLVER_ERROR, RESOLVER_ERROR_INTERRUPTED, "interrupted");
            return FALSE;
        }
        if (!g_cond_wait_until(&changed, &lock, deadline_us) && !lookup->is_done) {
            g_set_error(error, RESOLVER_ERROR, RESOLVER_ERROR_TIMEOUT,
                        "the name '%s' was not resolved in time", lookup->host);
            return FALSE;
        }
    }
    if (lookup->addresses != NULL)
        return TRUE;
    g_set_error(error, RESOLVER_ERROR, RESOLVER_ERROR_NOT_FOUND, "the name '%s' has no address: %s",
                lookup->host, lookup->failure);
    return FALSE;
}

static GArray *
resolve_name(const char *host, gint64 deadline_us, const gint *stop, GError **error)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);
    Lookup *lookup = find_lookup(host);
    GArray *addresses = NULL;

    ensure_thread();
    if (wait_for_lookup(lookup, deadline_us, stop, error))
        addresses = g_array_copy(lookup->addresses);
    lookup_unref(lookup);
    return addresses;
}

/* ---- called by others ---- */

static void
set_port(GArray *addresses, guint16 port)
{
    for (guint i = 0; i < addresses->len; i++) {
        ResolvedAddress *address = &g_array_index(addresses, ResolvedAddress, i);

        if (address->address.ss_family == AF_INET)
            ((struct sockaddr_in *) &address->address)->sin_port = htons(port);
        else
            ((struct sockaddr_in6 *) &address->address)->sin6_port = htons(port);
    }
}

GArray *
resolver_lookup(const Endpoint *endpoint, gint64 deadline_us, const gint *stop, GError **error)
{
    g_autofree char *failure = NULL;
    GArray *addresses = ask_system(endpoint->host, AI_NUMERICHOST, &failure);

    if (addresses == NULL)
        addresses = resolve_name(endpoint->host, deadline_us, stop, error);
    if (addresses != NULL)
        set_port(addresses, endpoint->port);
    return addresses;
}

void
resolver_wake(void)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

    g_cond_broadcast(&changed);
}
