/* found_hosts.h - hosts as registries name them. */
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

GPtrArray *found_hosts_new(void); /* FoundHost *, which it owns */
/* The same in the same order, each with the same weight and rank. */
gboolean found_hosts_equal(const GPtrArray *some, const GPtrArray *others);
/* (transfer full) How many shares of the batches each has, from 1 to FOUND_HOSTS_MAX_SHARE, as near
 * to their weights as so few can be. */
#define FOUND_HOSTS_MAX_SHARE 8
guint *found_hosts_shares(const GPtrArray *hosts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FoundHost, found_host_free)
