/* send_lines.c - the loop of `leat send`: gather lines, send a batch, wait for its answer. */
#include "agent/commands/send_lines.h"

#include <errno.h>
#include <poll.h>

#include "base/batch_builder.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "thrift/wire/connection.h"

/* A batch is cut here however many events it may have: progress stays visible, and it fits into a
 * channel of modest capacity. A longer line goes alone. */
#define BATCH_BYTES (4 * 1024 * 1024)
/* Lines of a slow pipe wait for company no longer than this. */
#define LINGER_US (G_USEC_PER_SEC / 5)
/* With a rate, batches are cut so that one goes out at least this often. */
#define PACE_US (G_USEC_PER_SEC / 10)
/* What varints of a large frame need beyond those of an empty one. */
#define VARINT_GROWTH 8

typedef struct {
    const SendPlan *plan;
    RpcClient *client;
    LineReader *lines;
    Progress *progress;
    SendTotals *totals;
    gint64 start_us;

    BatchBuilder *builder; /* lines read but not sent */
    LinePlace first;       /* of them */
    gint64 gathered_us;    /* when the first came */
    gsize frame_size;      /* at the most */
    guint64 consumed;      /* bytes read up to the last */

    guint batch_size;
    gsize event_overhead;
    gint64 next_batch_us;
} SendRun;

G_DEFINE_QUARK(leat_send_error, send_error)

/* Bytes that a frame of one event has besides its body, at the most. */
static gsize
event_overhead(const SendPlan *plan)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 1);
    g_autoptr(Batch) empty = NULL;
    BatchSlice slice = { .count = 1 };

    batch_builder_add_event(builder, plan->headers, plan->n_headers, byte_span(NULL, 0));
    empty = batch_builder_finish(builder);
    slice.batch = empty;
    return wire_frame_size(plan->protocol, &slice, 1) + VARINT_GROWTH;
}

gsize
send_plan_max_line(const SendPlan *self)
{
    return WIRE_MAX_FRAME - event_overhead(self);
}

static gboolean
is_stopped(const SendRun *self)
{
    struct pollfd stop = { .fd = self->plan->stop_fd, .events = POLLIN };

    return poll(&stop, 1, 0) > 0;
}

/* ---- one batch ---- */

/* Of several hosts one may have it, whatever the last one said. */
static gboolean
may_be_stored(const SendRun *self, const GError *failure)
{
    return self->plan->n_hosts > 1 || failure->code == RPC_ERROR_TIMEOUT ||
           failure->code == RPC_ERROR_BROKEN;
}

/* A batch is one call, so that all of it is acknowledged, or nothing. */
static gboolean
send_batch(SendRun *self, Batch *batch, GError **error)
{
    BatchSlice slice = { .batch = batch, .count = batch->n_events };
    g_autoptr(GError) failure = NULL;
    guint n_acknowledged;

    if (rpc_client_append_batch(self->client, &slice, 1, CLOCK_NEVER, &n_acknowledged, &failure))
        return TRUE;
    if (may_be_stored(self, failure))
        g_set_error(error, SEND_ERROR, SEND_ERROR_DELIVERY,
                    "%s; its batch of %u may have been stored all the same", failure->message,
                    batch->n_events);
    else
        g_set_error_literal(error, SEND_ERROR, SEND_ERROR_DELIVERY, failure->message);
    return FALSE;
}

static void
wait_for_turn(SendRun *self)
{
    struct pollfd stop = { .fd = self->plan->stop_fd, .events = POLLIN };
    gint64 now_us = clock_now_us();

    if (self->plan->rate == 0)
        return;
    while (now_us < self->next_batch_us &&
           poll(&stop, 1, clock_poll_timeout_ms(self->next_batch_us)) <= 0)
        now_us = clock_now_us();
    /* What a slow answer or an idle pipe left behind is caught up on for one pace, no more. */
    self->next_batch_us =
        MAX(self->next_batch_us, now_us - PACE_US) +
        (gint64) (batch_builder_n_events(self->builder) * G_USEC_PER_SEC / self->plan->rate);
}

static gboolean
fail_at(LinePlace place, SendError code, const char *why, GError **error)
{
    g_set_error(error, SEND_ERROR, code,
                "stopped at %s:%" G_GUINT64_FORMAT ", the first line not acknowledged: %s",
                place.file, place.line, why);
    return FALSE;
}

/* Sends what was gathered, if anything. */
static gboolean
flush(SendRun *self, GError **error)
{
    g_autoptr(Batch) batch = NULL;
    g_autoptr(GError) failure = NULL;

    if (batch_builder_n_events(self->builder) == 0)
        return TRUE;
    wait_for_turn(self);
    if (is_stopped(self))
        return fail_at(self->first, SEND_ERROR_STOPPED, "interrupted", error);
    batch = batch_builder_finish(self->builder);
    self->frame_size = 0;
    if (!send_batch(self, batch, &failure))
        return fail_at(self->first, (SendError) failure->code, failure->message, error);
    self->totals->sent.n_events += batch->n_events;
    self->totals->n_batches++;
    self->totals->sent.n_bytes = self->consumed;
    self->totals->sent.elapsed_us = clock_now_us() - self->start_us;
    progress_show(self->progress, &self->totals->sent);
    return TRUE;
}

/* ---- lines ---- */

static gboolean
add_line(SendRun *self, ByteSpan line, GError **error)
{
    gsize size = self->event_overhead + line.length;

    if (self->frame_size + size > BATCH_BYTES && !flush(self, error))
        return FALSE;
    if (batch_builder_n_events(self->builder) == 0) {
        self->first = line_reader_place(self->lines);
        self->gathered_us = clock_now_us();
    }
    batch_builder_add_event(self->builder, self->plan->headers, self->plan->n_headers, line);
    self->frame_size += size;
    self->consumed = line_reader_consumed(self->lines);
    return batch_builder_n_events(self->builder) < self->batch_size || flush(self, error);
}

static gint64
gathering_deadline_us(const SendRun *self)
{
    return batch_builder_n_events(self->builder) > 0 ? self->gathered_us + LINGER_US : CLOCK_NEVER;
}

/* No line for now: what is there goes, unless it is a stop. */
static gboolean
pause_between_lines(SendRun *self, GError **error)
{
    LinePlace last = line_reader_place(self->lines);

    if (!is_stopped(self) || batch_builder_n_events(self->builder) > 0)
        return flush(self, error);
    g_set_error(error, SEND_ERROR, SEND_ERROR_STOPPED,
                "stopped after %s:%" G_GUINT64_FORMAT ", the last line acknowledged: interrupted",
                last.file, last.line);
    return FALSE;
}

static gboolean
end_at_bad_line(SendRun *self, const GError *failure, GError **error)
{
    return flush(self, error) &&
           fail_at(line_reader_place(self->lines), SEND_ERROR_INPUT, failure->message, error);
}

static gboolean
send_all(SendRun *self, GError **error)
{
    for (;;) {
        g_autoptr(GError) failure = NULL;
        ByteSpan line;

        switch (line_reader_next(self->lines, gathering_deadline_us(self), &line, &failure)) {
        case LINE_READ:
            if (!add_line(self, line, error))
                return FALSE;
            break;
        case LINE_NOT_YET:
            if (!pause_between_lines(self, error))
                return FALSE;
            break;
        case LINE_END:
            return flush(self, error);
        case LINE_FAILED:
            return end_at_bad_line(self, failure, error);
        }
    }
}

static guint
paced_batch_size(const SendPlan *plan)
{
    guint64 paced = plan->rate * PACE_US / G_USEC_PER_SEC;

    return plan->rate == 0 ? plan->batch_size : (guint) CLAMP(paced, 1, plan->batch_size);
}

gboolean
send_lines(const SendPlan *plan, RpcClient *client, LineReader *lines, Progress *progress,
           SendTotals *totals, GError **error)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    SendRun run = {
        .plan = plan,
        .client = client,
        .lines = lines,
        .progress = progress,
        .totals = totals,
        .start_us = clock_now_us(),
        .builder = builder,
        .batch_size = paced_batch_size(plan),
        .event_overhead = event_overhead(plan),
        .next_batch_us = clock_now_us(),
    };
    gboolean is_done = send_all(&run, error);

    totals->sent.elapsed_us = clock_now_us() - run.start_us;
    return is_done;
}

char *
send_totals_to_text(const SendTotals *totals)
{
    g_autofree char *size = quantity_size_to_text(totals->sent.n_bytes);

    return g_strdup_printf("sent %" G_GUINT64_FORMAT " event%s (%s) in %.2f s, %" G_GUINT64_FORMAT
                           " events/s, %" G_GUINT64_FORMAT " batch%s",
                           totals->sent.n_events, totals->sent.n_events == 1 ? "" : "s", size,
                           (double) totals->sent.elapsed_us / G_USEC_PER_SEC,
                           progress_per_second(totals->sent.n_events, totals->sent.elapsed_us),
                           totals->n_batches, totals->n_batches == 1 ? "" : "es");
}
