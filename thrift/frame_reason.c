/* frame_reason.c - the names of the reasons, as metrics and logs show them. */
#include "thrift/frame_server.h"

const char *const frame_reason_names[N_FRAME_REASONS + 1] = {
    [FRAME_CLOSED_BY_PEER] = "closed-by-peer",
    [FRAME_CLOSED_IDLE] = "idle",
    [FRAME_CLOSED_SLOW_FRAME] = "slow-frame",
    [FRAME_CLOSED_NOT_READING] = "not-reading",
    [FRAME_CLOSED_NOT_FRAMED] = "not-framed-thrift",
    [FRAME_CLOSED_TOO_LARGE] = "frame-too-large",
    [FRAME_CLOSED_BAD_LENGTH] = "bad-length",
    [FRAME_CLOSED_BAD_HEADER] = "bad-header",
    [FRAME_CLOSED_WRONG_PROTOCOL] = "wrong-protocol",
    [FRAME_CLOSED_MALFORMED] = "malformed",
    [FRAME_CLOSED_NO_MEMORY] = "no-memory",
    [FRAME_CLOSED_BROKEN] = "broken",
    [FRAME_CLOSED_SHUTDOWN] = "shutdown",
    [FRAME_REFUSED_CONNECTION] = "connection-refused",
    [FRAME_ACCEPT_PAUSED] = "accept-paused",
    [FRAME_ANSWERED_INCOMPLETE] = "incomplete-arguments",
    [FRAME_ANSWERED_UNKNOWN_METHOD] = "unknown-method",
};
