/* send_lines.h - sends lines as events, batch by batch, each acknowledged before the next. */
#pragma once

#include <glib.h>

#include "agent/commands/line_reader.h"
#include "agent/commands/send_progress.h"
#include "base/event_bytes.h"
#include "thrift/wire/connection.h"

#define SEND_ERROR (send_error_quark())
GQuark send_error_quark(void);
typedef enum {
    SEND_ERROR_INPUT,      /* a line that cannot be read, or is too long */
    SEND_ERROR_REFUSED,    /* the peer answered, but not OK */
    SEND_ERROR_CONNECTION, /* no answer */
    SEND_ERROR_STOPPED,    /* stop_fd */
} SendError;

typedef struct {
    const EventHeader *headers; /* of every event */
    guint n_headers;
    WireProtocol protocol;
    guint batch_size;  /* events */
    guint64 rate;      /* events a second, 0: unlimited */
    gint64 timeout_us; /* for each batch, from its first byte to its answer */
    int stop_fd;       /* readable: stop after the batch in flight; -1: none */
} SendPlan;

/* The longest line that fits into one frame. */
gsize send_plan_max_line(const SendPlan *self);

/* TRUE when the last line was acknowledged; otherwise the error names the first one that was not.
 * totals is kept up to date in any case. */
gboolean send_lines(const SendPlan *plan, WireConnection *connection, LineReader *lines,
                    SendProgress *progress, SendTotals *totals, GError **error);
