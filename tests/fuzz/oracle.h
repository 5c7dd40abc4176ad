/* oracle.h - what Thrift's generated decoder makes of a call. It crashes, leaks or is undefined on
 * some inputs (fuzz_walk.c knows which): ask only about others. */
#pragma once

#include <glib.h>

#include "thrift/flume_api.h"
#include "thrift/wire/message.h"

typedef struct {
    gboolean accepted;
    char *name;
    ThriftMessageType type;
    gint32 sequence_id;
    gsize n_bytes_left; /* behind the call */
    GPtrArray *events;  /* flumeThriftFlumeEvent; NULL if the argument is absent */

    GObject *arguments; /* owns the events */
} OracleCall;

/* The method decides which struct of arguments is read; WIRE_BINARY_OLD may not be asked about. */
void oracle_decode(OracleCall *self, WireProtocol protocol, const guint8 *data, gsize length);
void oracle_call_clear(OracleCall *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OracleCall, oracle_call_clear)
