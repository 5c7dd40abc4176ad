/* connection.h - one framed Thrift connection to one peer, as a client; free of c_glib.
 *
 * Every call has an absolute monotonic deadline in microseconds. After an error other than
 * CONNECTION_ERROR_TOO_LARGE the connection is broken and only good for freeing. One thread at a
 * time, but wire_connection_shut may be called from any thread, at any time: a waiting call and all
 * later ones fail at once with CONNECTION_ERROR_SHUT. */
#pragma once

#include <glib.h>

#include "base/batch.h"
#include "base/endpoint.h"
#include "thrift/wire/call.h"
#include "thrift/wire/connection_error.h"
#include "thrift/wire/reply.h"

/* Of Thrift's own libraries and of Flume, for received frames: not configurable there. */
#define WIRE_MAX_FRAME 16384000

typedef struct WireConnection WireConnection;

/* protocol: WIRE_COMPACT or WIRE_BINARY. Nothing is opened. */
WireConnection *wire_connection_new(const Endpoint *peer, WireProtocol protocol);
/* Tries every address of the name in turn, each with its share of the time that is left. Once. */
gboolean wire_connection_open(WireConnection *self, gint64 deadline_us, GError **error);
void wire_connection_shut(WireConnection *self);
void wire_connection_free(WireConnection *self);
/* The address once there is one, the name before; never NULL. */
const char *wire_connection_peer(const WireConnection *self);

/* One appendBatch. Compact: slices go out as they stand, with one gathered sendmsg. */
gboolean wire_connection_send(WireConnection *self, const BatchSlice *slices, guint n_slices,
                              gint64 deadline_us, GError **error);
/* One append, of the one event of a slice. */
gboolean wire_connection_send_append(WireConnection *self, const BatchSlice *event,
                                     gint64 deadline_us, GError **error);
/* The reply to the oldest send not yet answered (there must be one); its sequence id and method
 * have been checked. The spans of ret_reply stay valid until the next call. */
gboolean wire_connection_receive(WireConnection *self, gint64 deadline_us, WireReply *ret_reply,
                                 GError **error);
guint wire_connection_in_flight(const WireConnection *self);
/* Whether the next send has a chance: it is open, nothing is owed, the peer has neither hung up nor
 * said anything unasked. At once. */
gboolean wire_connection_is_quiet(WireConnection *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WireConnection, wire_connection_free)
