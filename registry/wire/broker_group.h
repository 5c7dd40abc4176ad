/* broker_group.h - brokers of one name, a master and its slaves, in routes and cluster lists. */
#pragma once

#include <glib.h>

typedef struct {
    gint64 id;
    char *address;
} BrokerAddress;

typedef struct {
    char *cluster;
    char *broker;
    char *zone; /* or NULL */
    gboolean enable_acting_master;
    GArray *addresses; /* BrokerAddress, by id */
} BrokerGroup;

BrokerGroup *broker_group_new(const char *cluster, const char *broker);
void broker_group_free(BrokerGroup *self);
/* In the place of the address that has the id, if one has. */
void broker_group_set_address(BrokerGroup *self, gint64 id, const char *address);
/* The body of GET_BROKER_GROUP (901). (transfer full) */
GString *broker_group_encode(const BrokerGroup *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BrokerGroup, broker_group_free)
