/* frame_exchange.h - one question and one answer over a TCP connection of their own: bytes there, a
 * frame back, which begins with its length as both name services write it. */
#pragma once

#include <gio/gio.h>

#include "base/endpoint.h"

#define FRAME_ERROR (frame_error_quark())
GQuark frame_error_quark(void);
typedef enum {
    FRAME_ERROR_HUNG_UP,  /* before the answer */
    FRAME_ERROR_HTTP,     /* it is an HTTP server that answers */
    FRAME_ERROR_NO_FRAME, /* what came has no length that could be */
} FrameError;

/* The answer with its length, borrowed for the call; NULL with an error. */
typedef void (*FrameExchanged)(GBytes *answer, const GError *error, gpointer user);

/* In the thread's default main context, which turns until done has been called: once, later. stop
 * may be NULL. */
void frame_exchange(const Endpoint *peer, GBytes *question, gsize max_answer, gint64 timeout_us,
                    GCancellable *stop, FrameExchanged done, gpointer user);
