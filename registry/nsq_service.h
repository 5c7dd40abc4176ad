/* nsq_service.h - all of nsqlookupd: table, TCP, HTTP, what time does, what is logged. */
#pragma once

#include "base/loop.h"
#include "registry/http_server.h"
#include "registry/nsq_table.h"

typedef struct {
    Endpoint *tcp_address;
    Endpoint *http_address;
    char *broadcast_address; /* NULL: the host name */
    gint64 inactive_us;
    gint64 tombstone_us;
    guint64 max_connections;
    guint64 max_http_connections;
    guint64 max_registrations;
} NsqSettings;

typedef struct NsqService NsqService;

/* Binds both addresses; settings and loop are borrowed. */
NsqService *nsq_service_new(Loop *loop, const NsqSettings *settings, GError **error);
const Endpoint *nsq_service_tcp_bound(const NsqService *self);
HttpServer *nsq_service_http(const NsqService *self);
const NsqTable *nsq_service_table(const NsqService *self);
/* Of all of it, as of now, added to MetricSet pointers that the service keeps. */
void nsq_service_add_metrics(NsqService *self, GPtrArray *sets);
/* No new connections, and nobody waits any more. What there is stays, since those who still ask
 * must not take an end for the end of all nodes. */
void nsq_service_stop_listening(NsqService *self);
void nsq_service_stop(NsqService *self); /* then: nodes are closed */
void nsq_service_free(NsqService *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqService, nsq_service_free)
