/* frame_receive.c - from bytes to frames: what is read, where it goes, and when it may.
 *
 * Every read goes into the rest of the frame that is being received and, behind that, into the
 * scratch of the loop. Small frames that lie in the scratch whole are taken where they lie; a
 * larger one, which is worth a buffer even there, or an unfinished one gets a buffer of its own.
 * When memory is short nothing is read that is not reserved: first the length of a frame alone,
 * then its body alone. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/quantity.h"
#include "thrift/client_guess.h"
#include "thrift/frame_server_private.h"

/* Behind a frame of this size comes another such, most likely: better to read its length and a
 * little, and the rest into its own buffer, than to copy what went into the scratch. */
#define LARGE_FRAME ((gsize) 64 * 1024)
#define LARGE_FRAME_READ_AHEAD ((gsize) 4096)

/* ---- giving up ---- */

static void
release_reserved(FrameConnection *self)
{
    if (self->reserved > 0)
        receive_memory_release(self->loop->server->memory, self->reserved);
    self->reserved = 0;
}

static void
release_held(FrameConnection *self)
{
    if (self->held == NULL)
        return;
    g_clear_pointer(&self->held, g_free);
    receive_memory_release_held(self->loop->server->memory, self->held_size);
}

void
frame_receive_drop(FrameConnection *self)
{
    if (self->waiting && receive_memory_cancel(self->loop->server->memory, &self->waiter)) {
        self->waiting = FALSE;
        frame_connection_unref(self);
    }
    g_clear_pointer(&self->frame, buffer_release);
    release_reserved(self);
    release_held(self);
    self->n_prefix = 0;
}

/* ---- memory ---- */

/* n_here: bytes of the frame that are here already. */
static void
reserve(FrameConnection *self, gsize n_here)
{
    FrameServer *server = self->loop->server;
    gsize capacity = buffer_pool_capacity_for(self->frame_length);

    /* It is taken where it lies, and charged once it has to wait for a channel. */
    if (n_here >= self->frame_length && receive_memory_lends(server->memory, self->frame_length))
        return;
    if (receive_memory_reserve(server->memory, capacity, &self->waiter)) {
        self->reserved = capacity;
        return;
    }
    self->waiting = TRUE;
    frame_connection_ref(self);
    frame_pace_begin(server);
}

void
frame_receive_granted(LoopJob *job)
{
    FrameConnection *self =
        (FrameConnection *) ((char *) job - offsetof(FrameConnection, waiter.granted));

    self->waiting = FALSE;
    self->reserved = self->waiter.size;
    if (self->state == CONNECTION_OPEN)
        frame_connection_proceed(self);
    else
        release_reserved(self);
    frame_connection_unref(self);
}

/* ---- lengths ---- */

static const char *
guess_client(const FrameConnection *self, const guint8 *following, gsize length)
{
    guint8 first[CLIENT_GUESS_BYTES];
    gsize n = MIN(length, sizeof first - FRAME_PREFIX);

    if (self->knows_protocol)
        return NULL;
    memcpy(first, self->prefix, FRAME_PREFIX);
    memcpy(first + FRAME_PREFIX, following, n);
    return client_guess(first, FRAME_PREFIX + n);
}

static void
end_for_length(FrameConnection *self, gint32 length, const guint8 *following, gsize n_following)
{
    const char *guess = guess_client(self, following, n_following);
    gsize max_frame = self->loop->server->options.max_frame;
    g_autofree char *size = NULL;
    g_autofree char *limit = NULL;
    g_autofree char *detail = NULL;

    if (guess != NULL) {
        frame_connection_end(self, FRAME_CLOSED_NOT_FRAMED, guess);
        return;
    }
    if (length <= 0) {
        detail =
            g_strdup_printf("a frame of %d bytes; does the client use TFramedTransport?", length);
        frame_connection_end(self, FRAME_CLOSED_BAD_LENGTH, detail);
        return;
    }
    size = quantity_size_to_text_beside((guint64) length, max_frame);
    limit = quantity_size_to_text_beside(max_frame, (guint64) length);
    detail = g_strdup_printf("a frame of %s is larger than max-frame (%s); send smaller batches or "
                             "raise max-frame",
                             size, limit);
    frame_connection_end(self, FRAME_CLOSED_TOO_LARGE, detail);
}

/* The prefix is complete. */
static void
begin_frame(FrameConnection *self, const guint8 *following, gsize n_following)
{
    guint32 bytes;
    gint32 length;

    memcpy(&bytes, self->prefix, sizeof bytes);
    length = (gint32) GUINT32_FROM_BE(bytes);
    if (length <= 0 || (gsize) length > self->loop->server->options.max_frame) {
        end_for_length(self, length, following, n_following);
        return;
    }
    self->frame_length = (gsize) length;
    self->frame_filled = 0;
    reserve(self, n_following);
}

static gsize
take_prefix(FrameConnection *self, const guint8 *data, gsize length)
{
    gsize n = MIN(length, FRAME_PREFIX - self->n_prefix);

    memcpy(self->prefix + self->n_prefix, data, n);
    self->n_prefix += n;
    if (self->n_prefix == FRAME_PREFIX)
        begin_frame(self, data + n, length - n);
    return n;
}

/* ---- frames ---- */

static void
take_frame(FrameConnection *self, const guint8 *data, Buffer *buffer)
{
    gsize reserved = self->reserved;

    self->reserved = 0;
    self->n_prefix = 0;
    self->frame_started_us = 0;
    self->last_was_large = self->frame_length >= LARGE_FRAME;
    frame_call_take(self, data, self->frame_length, buffer, reserved);
}

/* FALSE: there is no memory for it, and the connection ends. */
static gboolean
need_buffer(FrameConnection *self)
{
    if (self->frame == NULL)
        self->frame = buffer_pool_get(self->loop->pool, self->frame_length);
    if (self->frame == NULL)
        frame_connection_end_for_memory(self);
    return self->frame != NULL;
}

static void
frame_grew(FrameConnection *self, gsize n)
{
    Buffer *frame = self->frame;

    self->frame_filled += n;
    if (self->frame_filled < self->frame_length)
        return;
    self->frame = NULL;
    take_frame(self, frame->data, frame);
}

static gsize
take_body(FrameConnection *self, const guint8 *data, gsize length)
{
    gsize n = MIN(length, self->frame_length - self->frame_filled);

    if (self->frame == NULL && n == self->frame_length && n <= RECEIVE_SMALL) {
        take_frame(self, data, NULL);
        return n;
    }
    if (!need_buffer(self))
        return n;
    memcpy(self->frame->data + self->frame_filled, data, n);
    frame_grew(self, n);
    return n;
}

static gboolean
may_take(FrameConnection *self)
{
    if (self->n_requests >= FRAME_MAX_REQUESTS)
        frame_connection_flush(self);
    return self->state == CONNECTION_OPEN && !self->waiting && self->unsent == NULL &&
           self->n_requests < FRAME_MAX_REQUESTS;
}

/* Takes frames as long as it may; returns how many bytes it used. */
static gsize
take_frames(FrameConnection *self, const guint8 *data, gsize length)
{
    gsize used = 0;

    while (used < length && may_take(self)) {
        if (self->n_prefix < FRAME_PREFIX)
            used += take_prefix(self, data + used, length - used);
        else
            used += take_body(self, data + used, length - used);
    }
    return used;
}

static void
take_or_hold(FrameConnection *self, const guint8 *data, gsize length)
{
    gsize used = take_frames(self, data, length);

    if (used == length || self->state != CONNECTION_OPEN)
        return;
    self->held = g_try_malloc(length - used);
    if (self->held == NULL) {
        frame_connection_end_for_memory(self);
        return;
    }
    self->held_size = length - used;
    self->held_used = 0;
    memcpy(self->held, data + used, self->held_size);
    receive_memory_hold(self->loop->server->memory, self->held_size);
}

void
frame_receive_held(FrameConnection *self)
{
    g_autofree guint8 *held = NULL;

    if (self->held == NULL || self->state != CONNECTION_OPEN)
        return;
    /* Out of reach while frames are taken from it: one of them may end the connection. */
    held = g_steal_pointer(&self->held);
    self->held_used += take_frames(self, held + self->held_used, self->held_size - self->held_used);
    if (self->held_used < self->held_size && self->state == CONNECTION_OPEN)
        self->held = g_steal_pointer(&held);
    else
        receive_memory_release_held(self->loop->server->memory, self->held_size);
}

/* ---- reading ---- */

typedef struct {
    gsize body;    /* bytes for the frame that is being received */
    gsize scratch; /* and behind them */
} ReadPlan;

static ReadPlan
plan_read(const FrameConnection *self, gsize budget)
{
    gsize wanted = self->last_was_large ? LARGE_FRAME_READ_AHEAD : FRAME_SCRATCH_BYTES;
    ReadPlan plan = { .scratch = receive_memory_read_ahead(self->loop->server->memory, wanted) };

    if (self->n_prefix == FRAME_PREFIX) {
        plan.body = self->frame_length - self->frame_filled;
        if (plan.body > budget)
            plan = (ReadPlan){ .body = budget };
    } else if (plan.scratch == 0) {
        plan.scratch = FRAME_PREFIX - self->n_prefix;
    }
    return plan;
}

static ssize_t
read_as_planned(FrameConnection *self, ReadPlan plan)
{
    struct iovec parts[2] = {
        [1] = { .iov_base = self->loop->scratch, .iov_len = plan.scratch },
    };

    if (plan.body == 0)
        return recv(self->watch.fd, self->loop->scratch, plan.scratch, 0);
    parts[0] =
        (struct iovec){ .iov_base = self->frame->data + self->frame_filled, .iov_len = plan.body };
    return readv(self->watch.fd, parts, plan.scratch > 0 ? 2 : 1);
}

static void
take_what_was_read(FrameConnection *self, ReadPlan plan, gsize got)
{
    gsize body = MIN(got, plan.body);

    self->active_us = loop_now_us(self->loop->loop);
    if (body > 0)
        frame_grew(self, body);
    if (got > body)
        take_or_hold(self, self->loop->scratch, got - body);
}

static void
end_of_stream(FrameConnection *self)
{
    self->peer_closed = TRUE;
    frame_connection_end(self, FRAME_CLOSED_BY_PEER,
                         self->n_prefix > 0 ? "in the middle of a frame" : NULL);
}

/* Reads until there is no more, or the turn is over; a short read says that there is no more. */
void
frame_receive(FrameConnection *self)
{
    gsize budget = FRAME_TURN_BYTES;

    while (budget > 0 && frame_connection_may_read(self)) {
        ReadPlan plan = plan_read(self, budget);
        ssize_t got;

        if (plan.body > 0 && !need_buffer(self))
            return;
        got = read_as_planned(self, plan);
        if (got > 0) {
            take_what_was_read(self, plan, (gsize) got);
            if ((gsize) got < plan.body + plan.scratch)
                return;
            budget -= MIN(budget, (gsize) got);
        } else if (got == 0) {
            end_of_stream(self);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            frame_connection_break(self, g_strerror(errno));
        }
    }
}
