/* frame_request.c - requests: handed over, answered in the order in which they came. */
#include <string.h>

#include "thrift/frame_server_private.h"

/* Requests kept for the next ones, so that a single event costs no allocation but its batch. */
#define MAX_SPARE 256

/* ---- the handler's view ---- */

Batch *
request_batch(Request *self)
{
    return self->batch;
}

gboolean
request_is_single(const Request *self)
{
    return self->is_single;
}

const char *
request_peer(const Request *self)
{
    return frame_connection_peer(self->connection);
}

gpointer
request_user(Request *self)
{
    return self->user;
}

Request *
request_of_user(gpointer scratch)
{
    return (Request *) (gpointer) ((char *) scratch - offsetof(Request, user));
}

/* ---- life ---- */

static void
request_expired(LoopTimer *timer)
{
    Request *self = (Request *) (gpointer) ((char *) timer - offsetof(Request, deadline));
    FrameLoop *loop = self->connection->loop;

    self->was_expired = TRUE;
    loop->server->handler.expired(self, loop->server->user);
    frame_loop_settle_due(loop);
}

static Request *
take_spare(FrameLoop *loop)
{
    gsize size = sizeof(Request) + loop->server->handler.user_size;
    Request *self = loop->spare;

    if (self == NULL)
        return g_malloc0(size);
    loop->spare = self->next;
    loop->n_spare--;
    memset(self, 0, size);
    return self;
}

static void
request_free(Request *self)
{
    FrameLoop *loop = self->connection->loop;

    g_clear_pointer(&self->reply, g_byte_array_unref);
    frame_connection_unref(self->connection);
    if (loop->n_spare >= MAX_SPARE) {
        g_free(self);
        return;
    }
    self->next = loop->spare;
    loop->spare = self;
    loop->n_spare++;
}

void
frame_request_free_spare(FrameLoop *loop)
{
    while (loop->spare != NULL) {
        Request *next = loop->spare->next;

        g_free(loop->spare);
        loop->spare = next;
    }
    loop->n_spare = 0;
}

static Request *
request_new(FrameConnection *connection, const WireMessage *message)
{
    Request *self = take_spare(connection->loop);

    self->connection = connection;
    self->protocol = message->protocol;
    self->sequence_id = message->sequence_id;
    self->is_oneway = message->type == WIRE_ONEWAY;
    self->deadline.expired = request_expired;
    frame_connection_ref(connection);
    if (connection->newest != NULL)
        connection->newest->next = self;
    else
        connection->oldest = self;
    connection->newest = self;
    connection->n_requests++;
    return self;
}

/* ---- out with the handler ---- */

static void
out_add(FrameLoop *loop, Request *self)
{
    self->next_out = loop->out;
    if (self->next_out != NULL)
        self->next_out->previous_out = self;
    loop->out = self;
}

static void
out_remove(FrameLoop *loop, Request *self)
{
    if (self->previous_out != NULL)
        self->previous_out->next_out = self->next_out;
    else
        loop->out = self->next_out;
    if (self->next_out != NULL)
        self->next_out->previous_out = self->previous_out;
}

/* What stays is charged for what it is, not for what its client declared. */
static void
charge_batch(Request *self)
{
    gsize allocated = self->batch->allocated;

    receive_memory_adjust(self->connection->loop->server->memory, self->reserved, allocated);
    self->reserved = allocated;
}

void
frame_request_receive(FrameConnection *connection, const WireMessage *message, gboolean is_single,
                      Batch *batch, gsize reserved)
{
    FrameLoop *loop = connection->loop;
    Request *self = request_new(connection, message);

    self->is_single = is_single;
    self->batch = batch;
    self->reserved = reserved;
    out_add(loop, self);
    loop->server->handler.received(self, loop->server->user);
    if (!self->is_answered)
        charge_batch(self);
}

void
request_set_deadline(Request *self, gint64 deadline_us)
{
    loop_timer_set(self->connection->loop->loop, &self->deadline, deadline_us);
}

gboolean
request_charge(Request *self, gsize size)
{
    ReceiveMemory *memory = self->connection->loop->server->memory;

    g_assert(self->charged == 0);
    if (size > 0 && !receive_memory_reserve_more(memory, self->reserved, size))
        return FALSE;
    self->charged = size;
    return TRUE;
}

void
request_complete(Request *self, gboolean ok)
{
    FrameLoop *loop = self->connection->loop;

    g_assert(!self->is_answered);
    loop_timer_clear(loop->loop, &self->deadline);
    out_remove(loop, self);
    g_clear_pointer(&self->batch, batch_unref);
    if (self->reserved > 0)
        receive_memory_release(loop->server->memory, self->reserved);
    if (self->charged > 0)
        receive_memory_release(loop->server->memory, self->charged);
    self->is_answered = TRUE;
    self->ok = ok;
    frame_connection_mark_due(self->connection);
}

void
frame_request_expire_all(FrameLoop *loop)
{
    Request *self = loop->out;

    while (self != NULL) {
        Request *next = self->next_out; /* expired may complete this one, and none but this one */

        loop_timer_clear(loop->loop, &self->deadline);
        if (!self->was_expired) {
            self->was_expired = TRUE;
            loop->server->handler.expired(self, loop->server->user);
        }
        self = next;
    }
    frame_loop_settle_due(loop);
}

/* ---- handed back by another thread ---- */

void
request_hand_back(Request *self)
{
    FrameLoop *loop = self->connection->loop;
    Request *newest = atomic_load_explicit(&loop->returned, memory_order_relaxed);

    do
        self->next_returned = newest;
    while (!atomic_compare_exchange_weak_explicit(&loop->returned, &newest, self,
                                                  memory_order_acq_rel, memory_order_relaxed));
    /* The loop takes all of them at once, and who finds none there before has to call it. */
    if (newest == NULL)
        loop_post(loop->loop, &loop->returned_job);
}

void
frame_request_run_returned(LoopJob *job)
{
    FrameLoop *loop = (FrameLoop *) (gpointer) ((char *) job - offsetof(FrameLoop, returned_job));
    Request *newest = atomic_exchange_explicit(&loop->returned, NULL, memory_order_acq_rel);
    Request *oldest = NULL;

    while (newest != NULL) {
        Request *older = newest->next_returned;

        newest->next_returned = oldest;
        oldest = newest;
        newest = older;
    }
    while (oldest != NULL) {
        Request *next = oldest->next_returned;

        loop->server->handler.returned(oldest, loop->server->user);
        oldest = next;
    }
    frame_loop_settle_due(loop);
}

/* ---- answers ---- */

void
frame_request_answer_exception(FrameConnection *connection, const WireMessage *message,
                               WireExceptionType type, const char *text)
{
    Request *self = request_new(connection, message);

    self->is_answered = TRUE;
    if (self->is_oneway)
        return;
    self->reply = g_byte_array_new();
    wire_reply_write_exception(self->reply, message, type, text);
}

static void
write_answer(const Request *self, GByteArray *out)
{
    WireMessage message = {
        .protocol = self->protocol,
        .type = WIRE_CALL,
        .sequence_id = self->sequence_id,
        .name = byte_span_of_text(self->is_single ? "append" : "appendBatch"),
    };

    if (self->is_oneway)
        return;
    if (self->reply != NULL)
        g_byte_array_append(out, self->reply->data, self->reply->len);
    else
        wire_reply_write_status(out, &message, self->ok ? WIRE_STATUS_OK : WIRE_STATUS_FAILED);
}

void
frame_request_collect(FrameConnection *connection, GByteArray *out)
{
    while (connection->oldest != NULL && connection->oldest->is_answered) {
        Request *self = connection->oldest;

        connection->oldest = self->next;
        if (connection->oldest == NULL)
            connection->newest = NULL;
        connection->n_requests--;
        write_answer(self, out);
        request_free(self);
    }
}
