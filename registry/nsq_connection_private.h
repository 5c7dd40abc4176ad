/* nsq_connection_private.h - one connection of one nsqd; for its own two files alone. */
#pragma once

#include "base/span.h"
#include "registry/nsq_server_private.h"

typedef enum {
    STATE_MAGIC,
    STATE_LINE,
    STATE_BODY_SIZE,
    STATE_BODY,
    STATE_ENDING, /* what comes in is thrown away */
} ConnectionState;

struct NsqConnection {
    LoopWatch watch;
    LoopTimer timer;
    NsqServer *server;
    GList link;
    char *peer;
    NsqNode *node; /* NULL before IDENTIFY and after the end */

    ConnectionState state;
    gboolean was_identified;
    gboolean read_ended; /* the client will send no more */
    gsize body_length;
    gint64 active_us;   /* the last time a command was there whole */
    GByteArray *input;  /* NULL: nothing is left over */
    GByteArray *output; /* NULL: all has gone out */
};

/* When it will have been idle for too long. */
gint64 nsq_connection_idle_until_us(const NsqConnection *self);
void nsq_connection_answer(NsqConnection *self, const char *payload, gsize length);
/* An answer after which the connection ends; detail, for the log, may be NULL. */
void nsq_connection_refuse(NsqConnection *self, RefusalReason reason, const char *payload,
                           gsize length, const char *detail);
void nsq_connection_refuse_text(NsqConnection *self, RefusalReason reason, const char *payload);
/* Answers go out, then the connection ends; its node has left. */
void nsq_connection_begin_end(NsqConnection *self, const char *why);

/* ---- nsq_commands.c ---- */

/* Carries out what is there whole, and keeps the rest. */
void nsq_commands_take(NsqConnection *self, ByteSpan fresh);
