/* frame_server.h - a Thrift server for ThriftSourceProtocol on epoll loops of its own.
 *
 * It owns listening socket, loops, connections and receive memory; walks every frame before any
 * other code sees it; and hands each append or appendBatch over as a Request. What happens to the
 * events is the handler's: it ends every request with request_complete, on the request's loop. */
#pragma once

#include <glib.h>

#include "base/batch.h"
#include "base/endpoint.h"
#include "base/loop.h"

typedef struct FrameServer FrameServer;
typedef struct Request Request;

typedef enum { FRAME_PROTOCOL_AUTO, FRAME_PROTOCOL_COMPACT, FRAME_PROTOCOL_BINARY } FrameProtocol;

/* Why a connection was closed, or an answer was not what the client hoped for; bounded, a metric
 * label. */
typedef enum {
    FRAME_CLOSED_BY_PEER,
    FRAME_CLOSED_IDLE,
    FRAME_CLOSED_SLOW_FRAME,  /* frame-timeout, or behind its pace while others wait for memory */
    FRAME_CLOSED_NOT_READING, /* did not take its answers within frame-timeout */
    FRAME_CLOSED_NOT_FRAMED,  /* a client without framing, or Avro, TLS, HTTP: detail says which */
    FRAME_CLOSED_TOO_LARGE,
    FRAME_CLOSED_BAD_LENGTH,     /* zero or negative */
    FRAME_CLOSED_BAD_HEADER,     /* unreadable message header, or type neither CALL nor ONEWAY */
    FRAME_CLOSED_WRONG_PROTOCOL, /* compact where binary is configured, or the other way round */
    FRAME_CLOSED_MALFORMED,      /* answered PROTOCOL_ERROR first */
    FRAME_CLOSED_NO_MEMORY,      /* for a frame or its events */
    FRAME_CLOSED_BROKEN,         /* reset, or a write failed */
    FRAME_CLOSED_SHUTDOWN,
    FRAME_REFUSED_CONNECTION,  /* max-connections */
    FRAME_ACCEPT_PAUSED,       /* out of descriptors */
    FRAME_ANSWERED_INCOMPLETE, /* PROTOCOL_ERROR, kept */
    FRAME_ANSWERED_UNKNOWN_METHOD,
    N_FRAME_REASONS,
} FrameReason;

extern const char *const frame_reason_names[N_FRAME_REASONS + 1]; /* kebab-case, NULL-terminated */

typedef struct {
    const char *name; /* of the component; its threads are named so */
    const Endpoint *listen;
    FrameProtocol protocol;
    guint threads;   /* at least 1 */
    gsize max_frame; /* bytes, without the length prefix */
    guint max_connections;
    gsize receive_memory; /* bytes, at least max_frame */
    gint64 frame_timeout_us;
    gint64 idle_timeout_us; /* 0: never */
} FrameServerOptions;

/* All called on loops of the server, several at a time. user is what frame_server_new was given. */
typedef struct {
    gsize user_size; /* bytes of zeroed scratch in each request */
    void (*received)(Request *request, gpointer user);
    void (*returned)(Request *request, gpointer user); /* after request_hand_back */
    void (*expired)(Request *request, gpointer user);  /* its deadline has come */
    void (*report)(FrameReason reason, const char *peer, const char *detail, gpointer user);
    void (*connections_changed)(int change, gpointer user); /* one more is open, or one less */
} FrameHandler;

FrameServer *frame_server_new(const FrameServerOptions *options, const FrameHandler *handler,
                              gpointer user);
/* Binds and listens. */
gboolean frame_server_open(FrameServer *self, GError **error);
const Endpoint *frame_server_bound(const FrameServer *self); /* after open */
gboolean frame_server_start(FrameServer *self, GError **error);
/* Accepting pauses for want of descriptors. Any thread, after start. */
gboolean frame_server_is_paused(const FrameServer *self);
/* Stops accepting and reading new frames; returns at once. A request that is still out at
 * answer_deadline_us gets `expired`. */
void frame_server_begin_stop(FrameServer *self, gint64 answer_deadline_us, gint64 deadline_us);
/* Once, after it: returns when every request is completed and its answer written, or at the
 * deadline. Nothing happens to a server that has not started, here and above. */
void frame_server_finish_stop(FrameServer *self);
void frame_server_free(FrameServer *self);

/* For the handler. */
Batch *request_batch(Request *self);             /* (transfer none); lives until request_complete */
gboolean request_is_single(const Request *self); /* append, not appendBatch */
const char *request_peer(const Request *self);
gpointer request_user(Request *self); /* the scratch, aligned for any type */
Request *request_of_user(gpointer scratch);
/* Loop thread only. */
void request_set_deadline(Request *self, gint64 deadline_us);
/* Memory that the handler keeps until request_complete beside the batch, once. FALSE:
 * receive-memory has no room for it; keep none. */
gboolean request_charge(Request *self, gsize size);
void request_complete(Request *self, gboolean ok); /* OK or FAILED; frees the request */
/* Any thread, once per received: queues the request for `returned`; one wake-up per loop and group.
 */
void request_hand_back(Request *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FrameServer, frame_server_free)
