/* registry_view.c - remembers what a registry said, for as long as that is worth something. */
#include "client/discovery/registry_view.h"

#include <string.h>

#include "base/clock.h"
#include "base/text_hash.h"

typedef struct {
    FoundHost *host;
    gint64 until_us; /* CLOCK_NEVER: the last answer named it */
} KnownHost;

struct RegistryView {
    GHashTable *known;  /* name → KnownHost, which has the name */
    gint64 answered_us; /* 0: never */
    gboolean is_broken; /* since then */
};

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

    self->known = g_hash_table_new_full(text_hash, g_str_equal, NULL, known_host_free);
    return self;
}

void
registry_view_free(RegistryView *self)
{
    if (self == NULL)
        return;
    g_hash_table_unref(self->known);
    g_free(self);
}

void
registry_view_note_break(RegistryView *self)
{
    self->is_broken = TRUE;
}

/* As if the answer named nobody. */
static void
view_note_missing(RegistryView *self, gint64 now_us)
{
    GHashTableIter iter;
    gpointer known;

    g_hash_table_iter_init(&iter, self->known);
    while (g_hash_table_iter_next(&iter, NULL, &known))
        if (((KnownHost *) known)->until_us == CLOCK_NEVER)
            ((KnownHost *) known)->until_us = self->is_broken ? now_us + REGISTRY_GRACE_US : now_us;
}

static void
view_note_named(RegistryView *self, FoundHost *host /* (transfer full) */)
{
    KnownHost *known = g_new0(KnownHost, 1);

    known->host = host;
    known->until_us = CLOCK_NEVER;
    g_hash_table_replace(self->known, host->name, known);
}

static gboolean
has_left(gpointer name G_GNUC_UNUSED, gpointer known, gpointer now_us)
{
    return ((const KnownHost *) known)->until_us <= *(const gint64 *) now_us;
}

void
registry_view_update(RegistryView *self, GPtrArray *named, gint64 now_us)
{
    view_note_missing(self, now_us);
    while (named->len > 0)
        view_note_named(self, g_ptr_array_steal_index(named, named->len - 1));
    g_ptr_array_unref(named);
    g_hash_table_foreach_remove(self->known, has_left, &now_us);
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

typedef struct {
    GPtrArray *hosts;    /* FoundHost * */
    GHashTable *by_name; /* the same */
} Merge;

static void
merge_host(Merge *self, const FoundHost *host)
{
    FoundHost *merged = g_hash_table_lookup(self->by_name, host->name);

    if (merged == NULL) {
        merged =
            found_host_new(host->endpoint->host, host->endpoint->port, host->weight, host->rank);
        g_ptr_array_add(self->hosts, merged);
        g_hash_table_insert(self->by_name, merged->name, merged);
    }
    merged->weight = MAX(merged->weight, host->weight);
    merged->rank = MIN(merged->rank, host->rank);
}

static void
merge_view(Merge *self, const RegistryView *view, gint64 now_us)
{
    GHashTableIter iter;
    gpointer known;

    g_hash_table_iter_init(&iter, view->known);
    while (g_hash_table_iter_next(&iter, NULL, &known))
        if (((const KnownHost *) known)->until_us > now_us)
            merge_host(self, ((const KnownHost *) known)->host);
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
    Merge merge = { found_hosts_new(), g_hash_table_new(text_hash, g_str_equal) };
    gboolean only_fresh = any_is_fresh(views, max_age_us, now_us);

    for (guint i = 0; i < views->len; i++)
        if (!only_fresh || view_is_fresh(views->pdata[i], max_age_us, now_us))
            merge_view(&merge, views->pdata[i], now_us);
    g_hash_table_unref(merge.by_name);
    g_ptr_array_sort(merge.hosts, compare_hosts);
    return merge.hosts;
}

static gint64
view_next_change_us(const RegistryView *self, gint64 max_age_us, gint64 now_us)
{
    gint64 next_us =
        view_is_fresh(self, max_age_us, now_us) ? self->answered_us + max_age_us : CLOCK_NEVER;
    GHashTableIter iter;
    gpointer known;

    g_hash_table_iter_init(&iter, self->known);
    while (g_hash_table_iter_next(&iter, NULL, &known)) {
        gint64 until_us = ((const KnownHost *) known)->until_us;

        if (until_us > now_us)
            next_us = MIN(next_us, until_us);
    }
    return next_us;
}

gint64
registry_views_next_change_us(const GPtrArray *views, gint64 max_age_us, gint64 now_us)
{
    gint64 next_us = CLOCK_NEVER;

    for (guint i = 0; i < views->len; i++)
        next_us = MIN(next_us, view_next_change_us(views->pdata[i], max_age_us, now_us));
    return next_us;
}
