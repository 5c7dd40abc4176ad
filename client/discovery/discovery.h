/* discovery.h - keeps asking registries which hosts take a topic, on a thread of its own, and tells
 * when there are others.
 *
 * All registries are asked, and what any of them names counts. One that fails is asked again with
 * back-off, and what it said last stays. */
#pragma once

#include <glib.h>

#include "client/discovery/found_hosts.h"

typedef enum { REGISTRY_NSQLOOKUPD, REGISTRY_NAMESRV } RegistryKind;

/* Registries of one kind that are asked the same. */
typedef struct {
    RegistryKind kind;
    const GPtrArray *addresses; /* Endpoint * */
    const char *topic;          /* in its namespace */
    gint64 poll_interval_us;
    double jitter;
} DiscoverySource;

/* Called on the discovery's thread, with no lock held. */
typedef struct {
    /* Others than before (FoundHost *, each with a weight); not called before any was named. */
    void (*hosts_changed)(const GPtrArray *hosts, gpointer user);
    /* is_back: it failed the last time. is_new: it has not failed for this reason since it last
     * answered; after several reasons no more are new. */
    void (*registry_answered)(const char *registry, gboolean is_back, gpointer user);
    void (*registry_failed)(const char *registry, const GError *error, gboolean is_new,
                            gpointer user);
    /* Once: each has answered or failed, and what they name was told. May be NULL. */
    void (*all_heard)(gpointer user);
} DiscoveryEvents;

typedef struct Discovery Discovery;

/* NULL: the thread cannot be started. The sources are copied. */
Discovery *discovery_new(const DiscoverySource *sources, guint n_sources,
                         const DiscoveryEvents *events, gpointer user, GError **error);
/* A connection to a host has broken: those who do not watch are asked at once. Any thread, returns
 * at once; many that come together are one. */
void discovery_recheck(Discovery *self);
/* Nothing is called any more when it returns, which is at once. */
void discovery_free(Discovery *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Discovery, discovery_free)
