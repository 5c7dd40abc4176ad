/* tcp_server_private.h - the server and its connections; for their own two files alone. */
#pragma once

#include "registry/tcp_server.h"

#define TCP_READ_BYTES (16 * 1024)

struct TcpServer {
    Loop *loop;
    Refusals *refusals;
    const TcpProtocol *protocol;
    TcpServerOptions options; /* without listen */
    gpointer user;
    Endpoint *bound;
    MetricSet *metrics;

    LoopWatch listener; /* fd -1: closed */
    LoopTimer pause;    /* no descriptors: until it is over the listener is not watched */
    GQueue connections; /* TcpConnection */
    gsize held_bytes;   /* in the inputs of all connections */
    gsize unsent_bytes; /* in their outputs */
    GQueue unsent;      /* TcpConnection, who has not read for longest first */
    LoopTimer relief;   /* set when unsent_bytes are too many */
    guint8 scratch[TCP_READ_BYTES];
};

/* Takes the descriptor. */
void tcp_connection_open(TcpServer *server, int fd, const char *peer);
/* Closes who has not read for longest, until there is room. */
void tcp_connection_relieve(TcpServer *server);
/* Sends what can go out without waiting, then closes. */
void tcp_connection_stop(TcpConnection *self, const char *why);
