/* thrift_sink_private.h - what the files of the Thrift sink share. */
#pragma once

#include "agent/core/sink.h"
#include "agent/sinks/thrift_discovery.h"
#include "agent/sinks/thrift_hosts.h"
#include "client/rpc_stream.h"

typedef struct {
    Sink base;

    /* Rows. */
    GPtrArray *hosts;     /* Endpoint *, or NULL */
    GPtrArray *discovery; /* DiscoveryRow *, or NULL */
    guint client;         /* RpcClientKind */
    guint protocol;       /* WireProtocol */
    guint64 connections;
    guint64 in_flight;
    guint64 max_attempts;
    guint host_selector; /* RpcHostSelector */
    gboolean host_backoff;
    gint64 max_host_backoff_us;
    gint64 connect_timeout_us;
    gint64 request_timeout_us;
    gint64 reset_connection_interval_us;

    RpcClient *rpc;          /* while open */
    ThriftDiscovery *finder; /* while open; NULL: hosts are all there are */
    ThriftFindings findings;

    /* The sink's thread's. */
    GPtrArray *streams; /* RpcStream *, one for each connection */
    guint next_stream;
    GQueue under_way;   /* RpcStream * of each delivery, the oldest first; NULL: given up */
    AnsweredBy answers; /* since the last collect */
    ThriftHosts *known;
} ThriftSink;

extern const OptionSpec thrift_sink_options[];
/* Checks what rows cannot, and sets what follows from them. */
void thrift_sink_configure(Component *component, Problems *problems);
