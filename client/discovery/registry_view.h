/* registry_view.h - the hosts that one registry knows, and those that several know together.
 *
 * Pure: the clock is passed in. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"

typedef struct {
    Endpoint *endpoint;
    char *name;   /* endpoint_to_text */
    guint weight; /* its share of the batches; 0: it takes no new ones */
    guint rank;   /* one of a higher rank is for when those of lower ones fail */
} FoundHost;

FoundHost *found_host_new(const char *host, guint16 port, guint weight, guint rank);
void found_host_free(FoundHost *self);
GPtrArray *found_hosts_new(void); /* owns what is put into it */

/* A registry that restarted knows no host until that has been heard of again, so what it does not
 * name then stays for so long: the longest that nodes take to register anew. */
#define REGISTRY_GRACE_US (45 * G_USEC_PER_SEC)

typedef struct RegistryView RegistryView;

RegistryView *registry_view_new(void);
void registry_view_free(RegistryView *self);

/* An answer, with FoundHosts (transfer full). What it no longer names has left, unless there was a
 * break since the last one. */
void registry_view_update(RegistryView *self, GPtrArray *named, gint64 now_us);
/* The registry may have restarted. */
void registry_view_note_break(RegistryView *self);

/* (transfer full) FoundHosts, by rank and name, each once; no registry needs to be right about
 * where a host is not. What a registry said longer than max_age ago counts only if no other has
 * said anything since. */
GPtrArray *registry_views_merge(const GPtrArray *views, gint64 max_age_us, gint64 now_us);
/* When the merged ones will be others if nothing is said meanwhile; CLOCK_NEVER: they will not. */
gint64 registry_views_next_change_us(const GPtrArray *views, gint64 max_age_us, gint64 now_us);

/* (transfer full) How many shares of the batches each has, from 1 to FOUND_HOSTS_MAX_SHARE, as near
 * to their weights as so few can be. */
#define FOUND_HOSTS_MAX_SHARE 8
guint *found_hosts_shares(const GPtrArray *hosts);
gboolean found_hosts_equal(const GPtrArray *some, const GPtrArray *others);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FoundHost, found_host_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RegistryView, registry_view_free)
