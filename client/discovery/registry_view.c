/* registry_view.c - remembers what a registry said, for as long as that is worth something. */
#include "client/discovery/registry_view.h"

#include <string.h>

#include "base/clock.h"

typedef struct {
    FoundHost *host;
    gint64 until_us; /* CLOCK_NEVER: the last answer named it */
} KnownHost;

struct RegistryView {
    GPtrArray *known;   /* KnownHost * */
    gint64 answered_us; /* 0: never */
    gboolean is_broken; /* since then */
};

/* ---- hosts ---- */

FoundHost *
found_host_new(const char *host, guint16 port, guint weight, guint rank)
{
    FoundHost *self = g_new0(FoundHost, 1);

    self->endpoint = endpoint_new(host, port);
    self->name = endpoint_to_text(self->endpoint);
    self->weight = weight;
    self->rank = rank;
    return self;
}

void
found_host_free(FoundHost *self)
{
    if (self == NULL)
        return;
    endpoint_free(self->endpoint);
    g_free(self->name);
    g_free(self);
}

GPtrArray *
found_hosts_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify) found_host_free);
}

static FoundHost *
find_host(const GPtrArray *hosts, const char *name)
{
    for (guint i = 0; i < hosts->len; i++) {
        FoundHost *host = hosts->pdata[i];

        if (strcmp(host->name, name) == 0)
            return host;
    }
    return NULL;
}

gboolean
found_hosts_equal(const GPtrArray *some, const GPtrArray *others)
{
    if (some->len != others->len)
        return FALSE;
    for (guint i = 0; i < some->len; i++) {
        const FoundHost *one = some->pdata[i];
        const FoundHost *other = others->pdata[i];

        if (strcmp(one->name, other->name) != 0 || one->weight != other->weight ||
            one->rank != other->rank)
            return FALSE;
    }
    return TRUE;
}

static guint
common_divisor(guint one, guint other)
{
    while (other != 0) {
        guint rest = one % other;

        one = other;
        other = rest;
    }
    return one;
}

guint *
found_hosts_shares(const GPtrArray *hosts)
{
    guint *shares = g_new(guint, hosts->len);
    guint divisor = 0;
    guint largest = 1;

    for (guint i = 0; i < hosts->len; i++)
        divisor = common_divisor(((const FoundHost *) hosts->pdata[i])->weight, divisor);
    for (guint i = 0; i < hosts->len; i++) {
        shares[i] = ((const FoundHost *) hosts->pdata[i])->weight / MAX(divisor, 1);
        largest = MAX(largest, shares[i]);
    }
    for (guint i = 0; i < hosts->len && largest > FOUND_HOSTS_MAX_SHARE; i++)
        shares[i] = (guint) (((guint64) shares[i] * FOUND_HOSTS_MAX_SHARE + largest / 2) / largest);
    for (guint i = 0; i < hosts->len; i++)
        shares[i] = MAX(shares[i], 1);
    return shares;
}

/* ---- one registry ---- */

static void
known_host_free(gpointer data)
{
    KnownHost *self = data;

    found_host_free(self->host);
    g_free(self);
}

RegistryView *
registry_view_new(void)
{
    RegistryView *self = g_new0(RegistryView, 1);

    self->known = g_ptr_array_new_with_free_func(known_host_free);
    return self;
}

void
registry_view_free(RegistryView *self)
{
    if (self == NULL)
        return;
    g_ptr_array_unref(self->known);
    g_free(self);
}

static void
view_note_missing(RegistryView *self, const GPtrArray *named, gint64 now_us)
{
    for (guint i = self->known->len; i > 0; i--) {
        KnownHost *known = self->known->pdata[i - 1];

        if (find_host(named, known->host->name) != NULL)
            continue;
        if (known->until_us == CLOCK_NEVER && self->is_broken)
            known->until_us = now_us + REGISTRY_GRACE_US;
        else if (known->until_us == CLOCK_NEVER || known->until_us <= now_us)
            g_ptr_array_remove_index(self->known, i - 1);
    }
}

static void
view_forget(RegistryView *self, const char *name)
{
    for (guint i = self->known->len; i > 0; i--)
        if (strcmp(((KnownHost *) self->known->pdata[i - 1])->host->name, name) == 0)
            g_ptr_array_remove_index(self->known, i - 1);
}

void
registry_view_note_break(RegistryView *self)
{
    self->is_broken = TRUE;
}

void
registry_view_update(RegistryView *self, GPtrArray *named, gint64 now_us)
{
    view_note_missing(self, named, now_us);
    while (named->len > 0) {
        KnownHost *known = g_new0(KnownHost, 1);

        known->host = g_ptr_array_steal_index(named, named->len - 1);
        known->until_us = CLOCK_NEVER;
        view_forget(self, known->host->name);
        g_ptr_array_add(self->known, known);
    }
    g_ptr_array_unref(named);
    self->answered_us = now_us;
    self->is_broken = FALSE;
}

/* ---- several ---- */

static gboolean
view_is_fresh(const RegistryView *self, gint64 max_age_us, gint64 now_us)
{
    return self->answered_us != 0 && self->answered_us + max_age_us > now_us;
}

static gboolean
any_is_fresh(const GPtrArray *views, gint64 max_age_us, gint64 now_us)
{
    for (guint i = 0; i < views->len; i++)
        if (view_is_fresh(views->pdata[i], max_age_us, now_us))
            return TRUE;
    return FALSE;
}

static void
merge_view(const RegistryView *view, gint64 now_us, GPtrArray *hosts)
{
    for (guint i = 0; i < view->known->len; i++) {
        const KnownHost *known = view->known->pdata[i];
        const FoundHost *host = known->host;
        FoundHost *merged = find_host(hosts, host->name);

        if (known->until_us <= now_us)
            continue;
        if (merged == NULL) {
            g_ptr_array_add(hosts, found_host_new(host->endpoint->host, host->endpoint->port,
                                                  host->weight, host->rank));
            continue;
        }
        merged->weight = MAX(merged->weight, host->weight);
        merged->rank = MIN(merged->rank, host->rank);
    }
}

static int
compare_hosts(gconstpointer left, gconstpointer right)
{
    const FoundHost *one = *(const FoundHost *const *) left;
    const FoundHost *other = *(const FoundHost *const *) right;

    if (one->rank != other->rank)
        return one->rank < other->rank ? -1 : 1;
    return strcmp(one->name, other->name);
}

GPtrArray *
registry_views_merge(const GPtrArray *views, gint64 max_age_us, gint64 now_us)
{
    GPtrArray *hosts = found_hosts_new();
    gboolean only_fresh = any_is_fresh(views, max_age_us, now_us);

    for (guint i = 0; i < views->len; i++)
        if (!only_fresh || view_is_fresh(views->pdata[i], max_age_us, now_us))
            merge_view(views->pdata[i], now_us, hosts);
    g_ptr_array_sort(hosts, compare_hosts);
    return hosts;
}

gint64
registry_views_next_change_us(const GPtrArray *views, gint64 max_age_us, gint64 now_us)
{
    gint64 next_us = CLOCK_NEVER;

    for (guint i = 0; i < views->len; i++) {
        const RegistryView *view = views->pdata[i];

        if (view_is_fresh(view, max_age_us, now_us))
            next_us = MIN(next_us, view->answered_us + max_age_us);
        for (guint j = 0; j < view->known->len; j++) {
            gint64 until_us = ((const KnownHost *) view->known->pdata[j])->until_us;

            if (until_us > now_us)
                next_us = MIN(next_us, until_us);
        }
    }
    return next_us;
}
