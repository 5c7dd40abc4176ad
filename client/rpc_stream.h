/* rpc_stream.h - pipelined sending through a client: several batches on their way, answered in the
 * order in which they were submitted. One thread at a time. */
#pragma once

#include "client/rpc_client.h"

typedef struct RpcStream RpcStream;

RpcStream *rpc_stream_new(RpcClient *client);
/* Connections with answers outstanding are closed, idle ones go back to the pool. */
void rpc_stream_free(RpcStream *self);

/* How many more batches may be submitted before a collect: in_flight of the client, times the hosts
 * under load balancing, less what is under way. */
guint rpc_stream_room(const RpcStream *self);
guint rpc_stream_in_flight(const RpcStream *self);

/* Sends one batch, of at most batch_size events and below the frame limit, as one appendBatch. The
 * slices and their batches stay valid until collected. Trouble shows in collect. */
void rpc_stream_submit(RpcStream *self, const BatchSlice *slices, guint n_slices,
                       gint64 deadline_us);
/* The outcome of the oldest batch submitted: TRUE when acknowledged. A failure has been tried on
 * the other hosts, with what else was under way on the same connection, as far as attempts and the
 * batch's deadline allow. */
gboolean rpc_stream_collect(RpcStream *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RpcStream, rpc_stream_free)
