/* reply.h - frames of replies, written from the few bytes that differ, and read by clients. */
#pragma once

#include <glib.h>

#include "thrift/wire/message.h"

/* Append one whole frame (length prefix included) in the protocol of the request. */
void wire_reply_write_status(GByteArray *out, const WireMessage *request, WireStatus status);
void wire_reply_write_exception(GByteArray *out, const WireMessage *request, WireExceptionType type,
                                const char *text);

typedef struct {
    WireMessage message;
    gboolean is_exception;
    gint32 status; /* the Status as sent; -1 when the reply carries none */
    gint32 exception_type;
    ByteSpan exception_text;
} WireReply;

/* data is one frame without its length prefix; FALSE if it is no reply to append or appendBatch. */
gboolean wire_reply_read(const guint8 *data, gsize length, WireReply *ret_reply);
