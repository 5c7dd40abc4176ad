/* cluster_info.h - all clusters and brokers: what a name server answers to GET_CLUSTER_INFO (106).
 */
#pragma once

#include <glib.h>

#include "base/span.h"
#include "registry/wire/broker_group.h"

typedef struct {
    char *name;
    GPtrArray *brokers; /* char *: names of groups */
} ClusterBrokers;

typedef struct {
    GPtrArray *groups;   /* BrokerGroup * */
    GPtrArray *clusters; /* ClusterBrokers * */
} ClusterInfo;

ClusterInfo *cluster_info_new(void);
void cluster_info_free(ClusterInfo *self);
/* Both are the info's. */
BrokerGroup *cluster_info_add_group(ClusterInfo *self, const char *cluster, const char *broker);
ClusterBrokers *cluster_info_add_cluster(ClusterInfo *self, const char *name);
void cluster_brokers_add(ClusterBrokers *self, const char *broker);

/* Integer keys are not quoted: the originals have no other form of it. (transfer full) */
GString *cluster_info_encode(const ClusterInfo *self);
ClusterInfo *cluster_info_decode(ByteSpan json, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ClusterInfo, cluster_info_free)
