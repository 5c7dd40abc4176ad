/* frame_server_private.h - what the files of the frame server share: server, loops, connections,
 * requests.
 *
 * A loop's thread owns everything of the loop: its connections and their requests. What other
 * threads may touch is atomic and says so. */
#pragma once

#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/buffer_pool.h"
#include "thrift/frame_server.h"
#include "thrift/receive_memory.h"
#include "thrift/source_processor.h"
#include "thrift/wire/reply.h"
#include "thrift/wire/walk.h"

#define FRAME_PREFIX 4

/* One read of one connection, and what it may take of a turn; so nobody waits for a busy one. */
#define FRAME_SCRATCH_BYTES ((gsize) 256 * 1024)
#define FRAME_TURN_BYTES ((gsize) 1024 * 1024)

/* Requests of one connection that are not answered yet; then its reading stops. */
#define FRAME_MAX_REQUESTS 64

typedef struct FrameLoop FrameLoop;
typedef struct FrameConnection FrameConnection;

/* ---- server: frame_server.c ---- */

typedef struct {
    LoopWatch watch;
    LoopTimer retry;
    LoopJob resume;
    FrameServer *server;
    atomic_bool paused;       /* and reported, until a descriptor is there again */
    atomic_bool needs_closed; /* paused, and whoever closes a connection is to post resume */
} FrameAcceptor;

struct FrameServer {
    FrameServerOptions options; /* fixed from here on, with the pointers our own */
    FrameHandler handler;
    gpointer user;
    Endpoint *bound;
    int listen_fd;
    ReceiveMemory *memory;
    FrameLoop *loops;
    guint n_loops; /* that have been set up */
    gboolean started;

    FrameAcceptor acceptor; /* of loop 0 */

    atomic_uint n_connections; /* open sockets */
    gint64 answer_deadline_us; /* written before the loops are told to stop */
    gint64 deadline_us;
};

void frame_server_report(FrameServer *self, FrameReason reason, const char *peer,
                         const char *detail);

/* ---- accepting, on loop 0: frame_acceptor.c ---- */

gboolean frame_acceptor_start(FrameServer *server, GError **error);
void frame_acceptor_stop(FrameServer *server);
void frame_acceptor_connection_closed(FrameServer *server); /* any thread */

/* ---- loops: frame_loop.c ---- */

struct FrameLoop {
    FrameServer *server;
    Loop *loop;
    GThread *thread;
    LeatSourceProcessor *processor;
    BufferPool *pool; /* its own: a buffer goes back to where its bytes are in the cache */
    Walk walk;
    guint8 *scratch;     /* what a read brings beyond the frame it was for */
    GByteArray *answers; /* of the connection that is being answered */

    FrameConnection *connections; /* with an open socket */
    guint n_kept;                 /* connections not yet freed, with a socket or not */
    FrameConnection *due;         /* have answers ready, outside a turn of their own */
    Request *out;                 /* requests with the handler, latest first */
    Request *spare;
    guint n_spare;

    gboolean stopping;
    LoopJob stop;
    LoopTimer answer_deadline;
    LoopTimer deadline;

    atomic_bool is_pacing; /* the job is on its way, or the timer set */
    LoopJob pace_job;
    LoopTimer pace;

    LoopJob returned_job;
    _Atomic(Request *) returned; /* handed back by any thread, newest first */
    atomic_uint n_connections;   /* open or on their way here; read by the acceptor */
};

gboolean frame_loop_init(FrameLoop *self, FrameServer *server, GError **error);
void frame_loop_clear(FrameLoop *self);
gboolean frame_loop_start(FrameLoop *self, GError **error);
void frame_loop_stop_alone(FrameLoop *self); /* one that has never had a connection */
void frame_loop_join(FrameLoop *self);
/* Goes on with every connection that is due. */
void frame_loop_settle_due(FrameLoop *self);
void frame_loop_count_closed(FrameLoop *self); /* one socket less */
void frame_loop_quit_when_empty(FrameLoop *self);

/* ---- connections: frame_connection.c; their reading: frame_receive.c ---- */

typedef enum {
    CONNECTION_OPEN,
    CONNECTION_ENDING,    /* no more frames are read; answers owed are written */
    CONNECTION_LINGERING, /* all is said; what comes is thrown away until the peer closes */
    CONNECTION_CLOSED,    /* no socket any more; kept for its requests */
} ConnectionState;

struct FrameConnection {
    LoopWatch watch;
    LoopTimer timer; /* due no later than the next of our deadlines */
    LoopJob arrival;
    FrameLoop *loop;
    guint refs; /* the socket, each request, a grant under way, a turn */
    ConnectionState state;
    gboolean in_turn;
    gboolean is_due;
    gboolean peer_closed;
    FrameConnection *previous, *next; /* of the loop */
    FrameConnection *next_due;

    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
    } address;
    char *peer; /* address in words, made when first asked for */

    /* receiving */
    guint8 prefix[FRAME_PREFIX];
    guint n_prefix; /* bytes of it that are here; all of them while a frame is received */
    gsize frame_length;
    gsize reserved; /* of receive memory for this frame; 0 while it waits, or needs none */
    Buffer *frame;  /* NULL until bytes of it must be kept */
    gsize frame_filled;
    gint64 frame_started_us; /* 0 while nothing is received, or not read because of us */
    gint64 active_us;        /* last read */
    gboolean waiting;        /* for receive memory */
    ReceiveWaiter waiter;
    guint8 *held; /* read, but not yet taken */
    gsize held_size;
    gsize held_used;
    gboolean knows_protocol; /* a message header has been read */
    gboolean is_compact;
    gboolean last_was_large;

    /* answering */
    Request *oldest, *newest;
    guint n_requests;
    GByteArray *unsent;
    guint n_sent;           /* of unsent */
    gint64 unsent_since_us; /* all of it must go within frame-timeout, however it trickles */
    gint64 sent_us;         /* last write */
    gint64 linger_until_us;
};

/* Hands the socket to the loop, from the thread of loop 0. */
void frame_connection_open(FrameLoop *loop, int fd, const struct sockaddr *address, gsize length);
void frame_connection_ref(FrameConnection *self);
void frame_connection_unref(FrameConnection *self);
const char *frame_connection_peer(FrameConnection *self);
void frame_connection_report(FrameConnection *self, FrameReason reason, const char *detail);

/* Reads no more frames; ends once the answers owed are out. The reason is reported. */
void frame_connection_end(FrameConnection *self, FrameReason reason, const char *detail);
/* The system has no memory for a frame of its length, or for what is in it. */
void frame_connection_end_for_memory(FrameConnection *self);
void frame_connection_break(FrameConnection *self, const char *detail); /* at once, reset */
void frame_connection_close(FrameConnection *self);                     /* at once, silently */
void frame_connection_stop(FrameConnection *self);                      /* the server ends */

gboolean frame_connection_may_read(const FrameConnection *self);
/* Answers were completed outside a turn of the connection: they go out with the next settle. */
void frame_connection_mark_due(FrameConnection *self);
/* Writes the answers that are ready, oldest first. */
void frame_connection_flush(FrameConnection *self);
/* Goes on as far as possible: answers out, frames in; then asks for what it waits for. */
void frame_connection_proceed(FrameConnection *self);

void frame_receive(FrameConnection *self);
void frame_receive_held(FrameConnection *self);
void frame_receive_granted(LoopJob *job);
void frame_receive_drop(FrameConnection *self); /* what has not become a request yet */

/* ---- those who hold memory while others wait: frame_pace.c ---- */

void frame_pace_init(FrameLoop *loop);
/* Somebody waits for memory: in a while, and again and again until nobody does, whoever holds some
 * and does not use it is ended. Any loop. */
void frame_pace_begin(FrameServer *server);
/* When the connection will have held memory for too long if nothing more comes; or CLOCK_NEVER. */
gint64 frame_pace_due_us(const FrameConnection *connection);

/* ---- one frame: frame_call.c ---- */

/* data stands in buffer (transfer full), or is only lent if that is NULL; reserved is handed on. */
void frame_call_take(FrameConnection *connection, const guint8 *data, gsize length, Buffer *buffer,
                     gsize reserved);
LeatSourceProcessor *frame_processor_new(void);
GType frame_processor_get_type(void);

/* ---- requests: frame_request.c ---- */

struct Request {
    Request *next; /* on its connection, in the order they came */
    Request *next_returned;
    Request *previous_out, *next_out; /* of the loop, until it is completed */
    FrameConnection *connection;
    Batch *batch;
    gsize reserved; /* of receive memory for the batch; 0 if it was lent and did not have to wait */
    gsize charged;  /* what the handler keeps beside it */
    LoopTimer deadline;
    WireProtocol protocol;
    gint32 sequence_id;
    gboolean is_single;
    gboolean is_oneway;
    gboolean was_expired;
    gboolean is_answered;
    gboolean ok;
    GByteArray *reply; /* ready-made; NULL: a status */
    max_align_t user[];
};

/* Hands the events over; takes the batch and its reservation. */
void frame_request_receive(FrameConnection *connection, const WireMessage *message,
                           gboolean is_single, Batch *batch, gsize reserved);
void frame_request_answer_exception(FrameConnection *connection, const WireMessage *message,
                                    WireExceptionType type, const char *text);
/* Moves the answers that are ready from the connection to out. */
void frame_request_collect(FrameConnection *connection, GByteArray *out);
void frame_request_run_returned(LoopJob *job);
void frame_request_expire_all(FrameLoop *loop);
void frame_request_free_spare(FrameLoop *loop);
