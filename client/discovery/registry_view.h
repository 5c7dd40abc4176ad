/* registry_view.h - the hosts that one registry knows, and those that several know together.
 *
 * Pure: the clock is passed in. */
#pragma once

#include "client/discovery/found_hosts.h"

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

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RegistryView, registry_view_free)
