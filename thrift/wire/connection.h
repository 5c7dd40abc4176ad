/* connection.h - one framed Thrift connection to one peer, as a client; free of c_glib.
 *
 * Every call has an absolute monotonic deadline in microseconds. After an error other than
 * CONNECTION_ERROR_TOO_LARGE the connection is broken and only good for closing. One thread at a
 * time, but wire_connection_shut may be called from any thread and makes a waiting call fail. */
#pragma once

#include <glib.h>

#include "base/batch.h"
#include "base/endpoint.h"
#include "thrift/wire/reply.h"

#define CONNECTION_ERROR (connection_error_quark())
GQuark connection_error_quark(void);
typedef enum {
    CONNECTION_ERROR_RESOLVE,
    CONNECTION_ERROR_CONNECT,
    CONNECTION_ERROR_TIMEOUT,
    CONNECTION_ERROR_CLOSED, /* by the peer, or shut */
    CONNECTION_ERROR_IO,
    CONNECTION_ERROR_PROTOCOL,  /* the peer answered something that is no reply to us */
    CONNECTION_ERROR_TOO_LARGE, /* nothing was sent */
} ConnectionError;

/* Of Thrift's own libraries and of Flume, for received frames: not configurable there. */
#define WIRE_MAX_FRAME 16384000

typedef struct WireConnection WireConnection;

/* Tries every address of the name in turn. protocol: WIRE_COMPACT or WIRE_BINARY. */
WireConnection *wire_connection_open(const Endpoint *peer, WireProtocol protocol,
                                     gint64 deadline_us, GError **error);
void wire_connection_free(WireConnection *self);
void wire_connection_shut(WireConnection *self);
const char *wire_connection_peer(const WireConnection *self); /* address in words */

/* Bytes of the frame that an appendBatch of these slices would be, without the length prefix. */
gsize wire_frame_size(WireProtocol protocol, const BatchSlice *slices, guint n_slices);

/* One appendBatch. Compact: slices go out as they stand, with one gathered sendmsg. */
gboolean wire_connection_send(WireConnection *self, const BatchSlice *slices, guint n_slices,
                              gint64 deadline_us, GError **error);
/* The reply to the oldest send not yet answered; its sequence id has been checked. The spans of
 * ret_reply stay valid until the next call. */
gboolean wire_connection_receive(WireConnection *self, gint64 deadline_us, WireReply *ret_reply,
                                 GError **error);
guint wire_connection_in_flight(const WireConnection *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WireConnection, wire_connection_free)
