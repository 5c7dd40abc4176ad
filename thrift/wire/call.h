/* call.h - the bytes of an appendBatch or append call: what goes before the events, behind them,
 * and their binary encoding.
 *
 * A compact call is head, the events as they stand in their batches, tail. A binary call has every
 * event written anew between the two. */
#pragma once

#include <glib.h>

#include "base/batch.h"
#include "thrift/wire/message.h"

/* Sequence ids of calls are 1 .. WIRE_MAX_SEQUENCE_ID: one byte each in compact, so that the size
 * of a frame does not depend on how many went before it. */
#define WIRE_MAX_SEQUENCE_ID 127

#define WIRE_APPEND_BATCH "appendBatch"
#define WIRE_APPEND "append"

/* protocol is WIRE_COMPACT or WIRE_BINARY throughout. */

/* Bytes that the events of a slice take in a call. */
gsize wire_events_size(WireProtocol protocol, const BatchSlice *slice);
/* Bytes of the frame of an appendBatch, without the length prefix: of n_events that take
 * events_size bytes, and of these slices. */
gsize wire_frame_size_for(WireProtocol protocol, guint n_events, gsize events_size);
gsize wire_frame_size(WireProtocol protocol, const BatchSlice *slices, guint n_slices);
/* The same of an append of the one event of this slice. */
gsize wire_append_frame_size(WireProtocol protocol, const BatchSlice *event);

/* Appends the length prefix, the message header and the list header. frame_size is
 * wire_frame_size of the whole call, at most G_MAXINT32. */
void wire_call_write_head(GByteArray *out, WireProtocol protocol, gsize frame_size,
                          gint32 sequence_id, guint n_events);
/* Likewise of an append: the length prefix, the message header, the header of the event's field. */
void wire_call_write_append_head(GByteArray *out, WireProtocol protocol, gsize frame_size,
                                 gint32 sequence_id);
void wire_call_write_binary_events(GByteArray *out, const BatchSlice *slice);
/* What ends either call behind the last event, in either protocol. */
extern const guint8 wire_call_tail[1];
