/* thrift_discovery.h - a Thrift sink's client gets the hosts that registries name. */
#pragma once

#include <glib.h>

#include "agent/core/sink.h"
#include "client/rpc_client.h"

/* Atomic, for any thread. */
typedef struct {
    gint n_hosts;    /* that the client has */
    gint has_answer; /* of a registry */
} ThriftFindings;

typedef struct ThriftDiscovery ThriftDiscovery;

/* Starts to look; until something is found the client has the hosts that it has. rows: of
 * discovery_settings.h, borrowed for the call. */
ThriftDiscovery *thrift_discovery_new(Sink *sink, RpcClient *client, const GPtrArray *rows,
                                      ThriftFindings *findings, GError **error);
/* The client is told nothing any more. */
void thrift_discovery_free(ThriftDiscovery *self);

/* For as long as no host is known because registries were only just asked, until deadline_us at the
 * most. */
void thrift_discovery_await_hosts(ThriftDiscovery *self, gint64 deadline_us);
/* Nobody waits for hosts any more. Any thread. */
void thrift_discovery_end_wait(ThriftDiscovery *self);
/* A call to a host has failed, so it may be gone, and others there. Any thread, returns at once. */
void thrift_discovery_note_failure(ThriftDiscovery *self, const GError *error);
