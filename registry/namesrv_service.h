/* namesrv_service.h - all of the name server for RocketMQ: table, KV configuration, TCP, what time
 * does, what is logged. */
#pragma once

#include "base/loop.h"
#include "registry/namesrv_settings.h"
#include "registry/route_table.h"

typedef struct NamesrvService NamesrvService;

/* Reads the KV configuration and binds the address; settings and loop are borrowed, and the
 * settings written to if remote-config allows it. */
NamesrvService *namesrv_service_new(Loop *loop, NamesrvSettings *settings, GError **error);
const Endpoint *namesrv_service_bound(const NamesrvService *self);
/* As kv_store_check. */
gboolean namesrv_service_check_kv(const NamesrvService *self, GError **error);
const RouteTable *namesrv_service_table(const NamesrvService *self);
/* Of all of it, as of now, added to MetricSet pointers that the service keeps. */
void namesrv_service_add_metrics(NamesrvService *self, GPtrArray *sets);
/* No new connections, and nobody waits any more; the brokers stay. */
void namesrv_service_stop_listening(NamesrvService *self);
void namesrv_service_stop(NamesrvService *self); /* then: connections are closed */
void namesrv_service_free(NamesrvService *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NamesrvService, namesrv_service_free)
