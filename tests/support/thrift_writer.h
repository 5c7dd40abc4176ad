/* thrift_writer.h - writes Thrift messages piece by piece, right ones and wrong ones, for tests. */
#pragma once

#include <glib.h>

#include "base/span.h"
#include "thrift/wire/reader.h"

typedef struct {
    GByteArray *bytes;
    WireProtocol protocol;
    gint16 last_ids[512]; /* of the open structs */
    guint depth;
} ThriftWriter;

ThriftWriter *thrift_writer_new(WireProtocol protocol);
void thrift_writer_free(ThriftWriter *self);

/* Header of a call, and the struct of its arguments opened. */
void thrift_writer_begin_call(ThriftWriter *self, const char *name, WireMessageType type,
                              gint32 sequence_id);
/* A boolean field has its value in the compact header: pass WIRE_TYPE_VOID for that protocol. */
void thrift_writer_field(ThriftWriter *self, WireType type, gint16 id);
void thrift_writer_open(ThriftWriter *self); /* a struct as a value */
void thrift_writer_stop(ThriftWriter *self); /* the end of one */
void thrift_writer_string(ThriftWriter *self, ByteSpan text);
void thrift_writer_integer(ThriftWriter *self, WireType type, gint64 value);
void thrift_writer_list(ThriftWriter *self, WireType element, guint32 count);
void thrift_writer_map(ThriftWriter *self, WireType key, WireType value, guint32 count);
void thrift_writer_raw(ThriftWriter *self, ByteSpan bytes);

/* The fields of an event that are usual, and whole usual events and calls. */
void thrift_writer_headers(ThriftWriter *self, guint n_texts,
                           const char *const *texts /* key, value, key, ... */);
void thrift_writer_body(ThriftWriter *self, ByteSpan body);
void thrift_writer_event(ThriftWriter *self, const char *body); /* with the header k=v */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ThriftWriter, thrift_writer_free)
