/* send_lines.h - sends lines as events, batch by batch, each acknowledged before the next. */
#pragma once

#include <glib.h>

#include "agent/commands/line_reader.h"
#include "agent/commands/progress.h"
#include "base/event_bytes.h"
#include "client/rpc_client.h"

#define SEND_ERROR (send_error_quark())
GQuark send_error_quark(void);
typedef enum {
    SEND_ERROR_INPUT,    /* a line that cannot be read, or is too long */
    SEND_ERROR_DELIVERY, /* no host acknowledged it */
    SEND_ERROR_STOPPED,  /* stop_fd */
} SendError;

typedef struct {
    const EventHeader *headers; /* of every event */
    guint n_headers;
    WireProtocol protocol;
    guint n_hosts;    /* of the client */
    guint batch_size; /* events; no more than the client's */
    guint64 rate;     /* events a second, 0: unlimited */
    int stop_fd;      /* readable: stop after the batch in flight; -1: none */
} SendPlan;

typedef struct {
    ProgressCount sent; /* acknowledged */
    guint64 n_batches;
} SendTotals;

/* The longest line that fits into one frame. */
gsize send_plan_max_line(const SendPlan *self);

/* TRUE when the last line was acknowledged; otherwise the error names the first one that was not.
 * totals is kept up to date in any case. */
gboolean send_lines(const SendPlan *plan, RpcClient *client, LineReader *lines, Progress *progress,
                    SendTotals *totals, GError **error);
char *send_totals_to_text(const SendTotals *totals); /* (transfer full) */
