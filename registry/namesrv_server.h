/* namesrv_server.h - RocketMQ's remoting protocol over TCP, for brokers, their clients and their
 * tools: requests into the table, and answers. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"
#include "base/loop.h"
#include "base/metric.h"
#include "registry/kv_store.h"
#include "registry/namesrv_settings.h"
#include "registry/refusals.h"
#include "registry/route_table.h"
#include "registry/topic_watch.h"

typedef struct NamesrvServer NamesrvServer;

/* All are borrowed, and the settings written to if remote-config allows it. */
typedef struct {
    Loop *loop;
    RouteTable *table;
    TopicWatch *watch; /* woken by whoever observes the table */
    KvStore *kv;
    Refusals *refusals;
    NamesrvSettings *settings;
} NamesrvParts;

NamesrvServer *namesrv_server_new(const NamesrvParts *parts, GError **error);
const Endpoint *namesrv_server_bound(const NamesrvServer *self);
void namesrv_server_add_metrics(NamesrvServer *self, GPtrArray *sets);
/* Whose nodes have all expired. */
void namesrv_server_close_sessions(NamesrvServer *self, const GPtrArray *sessions);
/* Stops accepting and closes all connections: their brokers leave the table. */
void namesrv_server_stop_listening(NamesrvServer *self);
void namesrv_server_stop(NamesrvServer *self);
void namesrv_server_free(NamesrvServer *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NamesrvServer, namesrv_server_free)
