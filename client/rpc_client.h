/* rpc_client.h - sends events to Thrift sources: one host, failover, or load balancing, over a pool
 * of connections per host. Knows nothing of agents, never logs, never touches signals.
 *
 * Option names and defaults are Apache Flume's RpcClient's in kebab-case, but for what
 * docs/flume-differences.md lists. Any number of threads may use one client. */
#pragma once

#include <glib.h>

#include "base/batch.h"
#include "base/choice.h"
#include "base/endpoint.h"
#include "thrift/wire/message.h"

#define RPC_ERROR (rpc_error_quark())
GQuark rpc_error_quark(void);
typedef enum {
    RPC_ERROR_CONFIGURATION, /* rpc_client_new only */
    RPC_ERROR_UNREACHABLE,   /* resolve, connect */
    RPC_ERROR_TIMEOUT,
    RPC_ERROR_REFUSED,      /* FAILED, ERROR, UNKNOWN, another status, or none */
    RPC_ERROR_NOT_A_SOURCE, /* UNKNOWN_METHOD, PROTOCOL_ERROR, or no Thrift at all */
    RPC_ERROR_BROKEN,       /* the connection ended before the answer */
    RPC_ERROR_TOO_LARGE, /* the first unacknowledged event can never fit into a frame: do not retry
                          */
    RPC_ERROR_CLOSED,    /* the client was closed, or interrupted */
} RpcError;

#define RPC_MAX_IN_FLIGHT 100

typedef enum { RPC_SINGLE, RPC_FAILOVER, RPC_LOAD_BALANCE } RpcClientKind;
typedef enum { RPC_ROUND_ROBIN, RPC_RANDOM } RpcHostSelector;
/* As people write them, in this order, NULL-terminated. Protocols: those that a client speaks. */
extern const char *const rpc_client_kind_names[];
extern const char *const rpc_host_selector_names[];
extern const char *const rpc_protocol_names[];

typedef struct {
    RpcClientKind kind;
    GPtrArray *hosts;   /* const Endpoint *, borrowed for the call of rpc_client_new */
    gboolean any_hosts; /* any number of them, none too: rpc_client_set_hosts will tell */
    WireProtocol protocol;
    guint batch_size;   /* events per appendBatch */
    guint connections;  /* per host */
    guint in_flight;    /* calls per connection not yet answered, at most RPC_MAX_IN_FLIGHT */
    guint max_attempts; /* failover; 0: as many as hosts */
    RpcHostSelector host_selector;
    gboolean backoff; /* hosts that failed lately are tried last; then, under load balancing, asked
                         aside with a batch of no events, until they answer */
    gint64 max_backoff_us;
    gint64 connect_timeout_us;           /* resolve and connect, one attempt */
    gint64 request_timeout_us;           /* from send to reply, one attempt */
    gint64 reset_connection_interval_us; /* 0: never; planned, between batches, no failure */
} RpcClientOptions;

void rpc_client_options_init(RpcClientOptions *self); /* the defaults */

typedef struct RpcClient RpcClient;

RpcClient *rpc_client_new(const RpcClientOptions *options,
                          GError **error); /* connects to nothing */
/* Closes. No thread may be inside a call, or come later. */
void rpc_client_free(RpcClient *self);

/* To the first host that can be connected to, for those who want to know before they have events;
 * nobody need call it. FALSE: to none; the message names every host. */
gboolean rpc_client_connect(RpcClient *self, gint64 deadline_us, GError **error);
/* All events of the slices, cut by batch_size and by bytes below the frame limit. FALSE: the first
 * *ret_acknowledged (written always) were, the rest was not or nobody knows; send it again. Every
 * failure but RPC_ERROR_TOO_LARGE and RPC_ERROR_CLOSED has been tried on the other hosts, within
 * deadline_us (monotonic, whole call). */
gboolean rpc_client_append_batch(RpcClient *self, const BatchSlice *slices, guint n_slices,
                                 gint64 deadline_us, guint *ret_acknowledged, GError **error);
/* One event, by the method append. */
gboolean rpc_client_append(RpcClient *self, Batch *batch, guint index, gint64 deadline_us,
                           GError **error);
guint rpc_client_batch_size(const RpcClient *self);
gboolean rpc_client_is_active(RpcClient *self); /* until closed, whatever the hosts do */
/* Any thread: calls in flight, waiters and every later call fail with RPC_ERROR_CLOSED at once. */
void rpc_client_close(RpcClient *self);
/* Any thread: calls in flight and waiters fail at once; later ones work again. */
void rpc_client_interrupt(RpcClient *self);

/* Other hosts from now on, any number of them whatever the kind of the client, none too. Those that
 * stay keep their connections and what is known of them; calls on their way to one that leaves are
 * finished, and its connections closed then. FALSE with RPC_ERROR_CONFIGURATION, and nothing has
 * changed, if one of them is no address. Any thread. */
gboolean rpc_client_set_hosts(RpcClient *self, const GPtrArray *hosts /* const Endpoint * */,
                              GError **error);
/* The same; those of a higher rank are for when all of lower ones have failed. */
gboolean rpc_client_set_ranked_hosts(RpcClient *self, const GPtrArray *hosts, const guint *ranks,
                                     GError **error);

/* What happened, for metrics and logs; called with no lock held on the thread of a call (before it
 * returns), of rpc_client_close or of rpc_client_set_hosts. peer is the host as it was given
 * (endpoint_to_text), whatever address it has. Each may be NULL. */
typedef struct {
    void (*connection_opened)(const char *peer, gpointer user);
    void (*connection_closed)(const char *peer, gpointer user);
    /* A connect or a request failed; error says why. */
    void (*host_failed)(const char *peer, const GError *error, gpointer user);
    /* One that had failed was asked aside whether it is back, and is not. */
    void (*host_still_failing)(const char *peer, const GError *error, gpointer user);
    /* A request was answered OK. */
    void (*host_acknowledged)(const char *peer, gpointer user);
} RpcClientEvents;
void rpc_client_set_events(RpcClient *self, const RpcClientEvents *events,
                           gpointer user); /* before use */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RpcClient, rpc_client_free)
