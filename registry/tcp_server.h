/* tcp_server.h - the TCP side of a name service: accepts, reads, answers, and ends connections, of
 * which a protocol says what their bytes mean.
 *
 * While an answer has not gone out, nothing is read: whoever does not read is not listened to. If
 * all of them together leave too much unread, the one that comes then is closed.
 * Answers that have been refused something and end the connection get a moment to be read, since
 * closing with unread bytes would take them back. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"
#include "base/loop.h"
#include "base/metric.h"
#include "base/span.h"
#include "registry/refusals.h"

typedef struct TcpServer TcpServer;
typedef struct TcpConnection TcpConnection;

typedef struct {
    const char *section;   /* of the configuration; names metrics too */
    gsize connection_size; /* of a struct that begins with a TcpConnection */
    void (*opened)(TcpConnection *connection);
    /* Carries out the first thing that is there whole: how many bytes were used up, 0: more must
     * come first. Not called after tcp_connection_end; the bytes are gone afterwards. */
    gsize (*take)(TcpConnection *connection, ByteSpan bytes);
    /* The client will send no more: ends the connection. */
    void (*read_ended)(TcpConnection *connection);
    /* What comes in cannot be kept until it is whole: ends the connection. */
    void (*crowded)(TcpConnection *connection);
    /* It will do nothing more, whatever the reason (may be NULL): once for each. */
    void (*left)(TcpConnection *connection, const char *why);
} TcpProtocol;

typedef struct {
    const Endpoint *listen;
    guint max_connections;
    gsize held_max;   /* what all connections together may have of what is not there whole, and
                         again of answers that have not gone out */
    gint64 linger_us; /* how long a client may take to read why its connection ends */
} TcpServerOptions;

struct TcpConnection {
    TcpServer *server;
    char *peer;
    gboolean is_ending; /* what comes in is thrown away */

    /* the server's own */
    LoopWatch watch;
    LoopTimer timer;
    GList link;
    gboolean has_left;
    gboolean read_ended; /* the client will send no more */
    gboolean has_more;   /* of its input waits for its turn, or for its output to go out */
    gint64 patience_us;
    gint64 active_us;
    GByteArray *input;  /* NULL: nothing is left over */
    GByteArray *output; /* NULL: all has gone out */
    gsize unsent_bytes; /* as the server has counted them */
    GList of_unsent;    /* while there are any */
};

/* Loop, refusals and protocol are borrowed; user is for the protocol. */
TcpServer *tcp_server_new(Loop *loop, Refusals *refusals, const TcpProtocol *protocol,
                          const TcpServerOptions *options, gpointer user, GError **error);
const Endpoint *tcp_server_bound(const TcpServer *self);
gpointer tcp_server_user(const TcpServer *self);
Loop *tcp_server_loop(const TcpServer *self);
MetricSet *tcp_server_metrics(TcpServer *self);
/* Those who are there stay. */
void tcp_server_stop_listening(TcpServer *self);
/* Stops listening and closes all connections; what of their answers can go out at once does. */
void tcp_server_stop(TcpServer *self);
void tcp_server_free(TcpServer *self);

/* ---- what a protocol does with a connection ---- */

/* To append answers to; they go out when take has returned, or with tcp_connection_send. */
GByteArray *tcp_connection_output(TcpConnection *self);
/* From outside of take. The connection may be gone afterwards. */
void tcp_connection_send(TcpConnection *self);
/* A connection that was not active for so long is closed. */
void tcp_connection_set_patience(TcpConnection *self, gint64 patience_us);
void tcp_connection_be_active(TcpConnection *self);
/* Counted and logged; detail may be NULL. */
void tcp_connection_note_refusal(TcpConnection *self, RefusalReason reason, const char *detail);
/* Answers go out, then the connection ends. Inside of take and of the other calls to the protocol.
 */
void tcp_connection_end(TcpConnection *self, const char *why);
/* At once, whatever is under way; from outside of the calls to the protocol. */
void tcp_connection_close(TcpConnection *self, const char *why);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TcpServer, tcp_server_free)
