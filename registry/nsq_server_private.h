/* nsq_server_private.h - one connection of one nsqd; for the server's own two files alone. */
#pragma once

#include "registry/nsq_server.h"
#include "registry/tcp_server.h"

typedef enum {
    STATE_MAGIC,
    STATE_LINE,
    STATE_BODY_SIZE,
    STATE_BODY,
} NsqState;

struct NsqServer {
    NsqTable *table;
    NsqServerOptions options; /* without listen */
    char *self_json;
    MetricSet *metrics;
    TcpServer *tcp;
};

typedef struct {
    TcpConnection base;
    NsqServer *server;
    NsqNode *node; /* NULL before IDENTIFY and after the end */
    NsqState state;
    gboolean was_identified;
    gsize body_length;
} NsqConnection;

enum { NSQ_COMMANDS };

/* The first command that is there whole: how many bytes it has; 0: none. */
gsize nsq_commands_take(TcpConnection *connection, ByteSpan bytes);
void nsq_commands_end(TcpConnection *connection);   /* the client sends no more */
void nsq_commands_crowd(TcpConnection *connection); /* what is left over is too much to keep */
