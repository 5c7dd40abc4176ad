/* rpc_stream.h - pipelined sending through a client: several submissions on their way, collected in
 * the order in which they were made. One thread at a time; not after the client is freed. */
#pragma once

#include "client/rpc_client.h"

typedef struct RpcStream RpcStream;

RpcStream *rpc_stream_new(RpcClient *client);
/* Connections with answers outstanding are closed. */
void rpc_stream_free(RpcStream *self);

/* How many more submissions are worth making before a collect: in_flight of the client, times the
 * hosts under load balancing, less those that wait to be collected. */
guint rpc_stream_room(const RpcStream *self);
/* The next collect fails at once: others that are submitted before may each try all hosts first. */
gboolean rpc_stream_has_failed(const RpcStream *self);
/* Submissions not yet collected. */
guint rpc_stream_in_flight(const RpcStream *self);

/* Any number of events, cut like those of rpc_client_append_batch, and sent as far as in_flight
 * allows. The slices and their batches stay valid until collected. Trouble shows in collect. */
void rpc_stream_submit(RpcStream *self, const BatchSlice *slices, guint n_slices,
                       gint64 deadline_us);
/* The one event of a slice, by the method append. */
void rpc_stream_submit_append(RpcStream *self, const BatchSlice *event, gint64 deadline_us);
/* The outcome of the oldest submission (there must be one), as of rpc_client_append_batch. What
 * failed on one host has been sent to the others, with everything else that was not answered on the
 * same connection; nothing acknowledged is sent again. */
gboolean rpc_stream_collect(RpcStream *self, guint *ret_acknowledged, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RpcStream, rpc_stream_free)
