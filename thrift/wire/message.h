/* message.h - the header of a Thrift message, read without c_glib. Bounded: any bytes may be
 * passed.
 *
 * Formats: Apache Thrift's compact protocol (first byte 0x82) and binary protocol, strict (first
 * byte 0x80) and old-style (0x00, the first byte of the name's length). */
#pragma once

#include <glib.h>

#include "base/span.h"

typedef enum { WIRE_COMPACT, WIRE_BINARY, WIRE_BINARY_OLD } WireProtocol;
typedef enum { WIRE_CALL = 1, WIRE_REPLY = 2, WIRE_EXCEPTION = 3, WIRE_ONEWAY = 4 } WireMessageType;

/* TApplicationException types that leat writes or meets. */
typedef enum {
    WIRE_EXCEPTION_UNKNOWN_METHOD = 1,
    WIRE_EXCEPTION_MISSING_RESULT = 5,
    WIRE_EXCEPTION_INTERNAL_ERROR = 6,
    WIRE_EXCEPTION_PROTOCOL_ERROR = 7,
} WireExceptionType;

/* The enum Status of flume.thrift. */
typedef enum {
    WIRE_STATUS_OK,
    WIRE_STATUS_FAILED,
    WIRE_STATUS_ERROR,
    WIRE_STATUS_UNKNOWN
} WireStatus;

typedef struct {
    WireProtocol protocol;
    guint8 type; /* as sent: may be none of WireMessageType */
    gint32 sequence_id;
    ByteSpan name;
    gsize length; /* bytes of the header: arguments begin here */
} WireMessage;

/* FALSE if the bytes are no message header in any of the three formats. */
gboolean wire_message_read(const guint8 *data, gsize length, WireMessage *ret_message);
