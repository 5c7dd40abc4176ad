/* connection_error.h - what goes wrong between a client and its peer. */
#pragma once

#include <glib.h>

#define CONNECTION_ERROR (connection_error_quark())
GQuark connection_error_quark(void);
typedef enum {
    CONNECTION_ERROR_RESOLVE,
    CONNECTION_ERROR_CONNECT,
    CONNECTION_ERROR_TIMEOUT,
    CONNECTION_ERROR_CLOSED, /* by the peer */
    CONNECTION_ERROR_SHUT,   /* by ourselves: wire_connection_shut */
    CONNECTION_ERROR_IO,
    CONNECTION_ERROR_PROTOCOL,  /* the peer answered something that is no reply to us */
    CONNECTION_ERROR_TOO_LARGE, /* nothing was sent */
} ConnectionError;
