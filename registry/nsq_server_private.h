/* nsq_server_private.h - the server and its connections; for their own files alone. */
#pragma once

#include "registry/nsq_server.h"

#define NSQ_READ_BYTES (16 * 1024)
/* What all connections together may have of commands that are not there whole. */
#define NSQ_HELD_MAX (32 * 1024 * 1024)

typedef enum { NSQ_CONNECTIONS, NSQ_COMMANDS } NsqServerMetric;

struct NsqServer {
    Loop *loop;
    NsqTable *table;
    Refusals *refusals;
    NsqServerOptions options; /* without listen */
    Endpoint *bound;
    char *self_json;
    MetricSet *metrics;

    LoopWatch listener; /* fd -1: closed */
    LoopTimer pause;    /* no descriptors: until it is over the listener is not watched */
    GQueue connections; /* NsqConnection */
    gsize held_bytes;   /* in the inputs of all connections */
    guint8 scratch[NSQ_READ_BYTES];
};

extern const MetricSpec nsq_server_specs[];

typedef struct NsqConnection NsqConnection;

/* Takes the descriptor. */
void nsq_connection_open(NsqServer *server, int fd, const char *peer);
/* At once, whatever is under way. */
void nsq_connection_close(NsqConnection *self, const char *why);
