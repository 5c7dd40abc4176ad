/* rpc_stream.c - sends the calls of submissions as room comes up, and reads the answers in order.
 *
 * A lane is the connection to one host on which this stream has calls not yet answered. Without any
 * it goes back to the pool, so there is a lane only while it owes answers. */
#include "client/rpc_stream.h"

#include "base/clock.h"
#include "client/rpc_failure.h"
#include "client/rpc_submission.h"

typedef struct {
    RpcHost *host; /* own reference */
    PooledConnection *connection;
    GQueue calls; /* RpcCall in flight, the oldest first */
    gint64 last_answer_us;
} RpcLane;

struct RpcStream {
    RpcClient *client;
    GQueue submissions; /* RpcSubmission, owned, the oldest first */
    GPtrArray *lanes;   /* RpcLane, one a host at the most */
    RpcLane *full;      /* that must get on before the next call can be sent */
};

RpcStream *
rpc_stream_new(RpcClient *client)
{
    RpcStream *self = g_new0(RpcStream, 1);

    self->client = client;
    self->lanes = g_ptr_array_new();
    g_queue_init(&self->submissions);
    return self;
}

guint
rpc_stream_in_flight(const RpcStream *self)
{
    return self->submissions.length;
}

guint
rpc_stream_room(const RpcStream *self)
{
    const RpcClientOptions *options = &self->client->options;
    guint n_hosts = options->kind == RPC_LOAD_BALANCE ? rpc_client_n_hosts(self->client) : 1;
    guint most = options->in_flight * MAX(n_hosts, 1);

    return most > self->submissions.length ? most - self->submissions.length : 0;
}

gboolean
rpc_stream_has_failed(const RpcStream *self)
{
    const GList *oldest = self->submissions.head;

    return oldest != NULL && ((const RpcSubmission *) oldest->data)->error != NULL;
}

/* ---- lanes ---- */

/* NULL: there is none to that host. */
static RpcLane *
stream_lane_to(const RpcStream *self, const RpcHost *host)
{
    for (guint i = 0; i < self->lanes->len; i++) {
        RpcLane *lane = self->lanes->pdata[i];

        if (lane->host == host)
            return lane;
    }
    return NULL;
}

static RpcLane *
stream_add_lane(RpcStream *self, RpcHost *host, PooledConnection *connection /* (transfer full) */)
{
    RpcLane *lane = g_new0(RpcLane, 1);

    lane->host = rpc_host_ref(host);
    lane->connection = connection;
    g_queue_init(&lane->calls);
    g_ptr_array_add(self->lanes, lane);
    return lane;
}

/* Its connection has gone, and it has no calls. */
static void
stream_remove_lane(RpcStream *self, RpcLane *lane)
{
    g_assert(lane->calls.length == 0);
    g_ptr_array_remove_fast(self->lanes, lane);
    if (self->full == lane)
        self->full = NULL;
    rpc_host_unref(lane->host);
    g_free(lane);
}

static void
lane_note_broken(RpcStream *self, const RpcLane *lane, const GError *failure)
{
    if (failure->code == RPC_ERROR_CLOSED)
        rpc_client_note_unanswered(self->client, lane->host);
    else
        rpc_client_note_failure(self->client, lane->host, failure);
}

/* Whatever was not answered is to be sent again. */
static void
lane_break(RpcStream *self, RpcLane *lane, const GError *wire_failure)
{
    g_autoptr(GError) failure = rpc_failure_of_connection(wire_failure);
    RpcCall *call;

    /* Noted before anybody who waits for a connection to this host is let in. */
    lane_note_broken(self, lane, failure);
    rpc_host_drop(lane->host, g_steal_pointer(&lane->connection));
    while ((call = g_queue_pop_head(&lane->calls)) != NULL) {
        if (call->submission == NULL)
            rpc_call_free(call);
        else if (failure->code == RPC_ERROR_CLOSED)
            rpc_call_undo_attempt(call);
        else
            rpc_call_fail_attempt(call, failure);
    }
    stream_remove_lane(self, lane);
}

/* One that is to be renewed takes no more calls, so that it comes to an end. */
static gboolean
lane_has_room(const RpcStream *self, const RpcLane *lane)
{
    return lane->calls.length < self->client->options.in_flight &&
           !rpc_host_wants_renewal(lane->host, lane->connection);
}

/* ---- sending ---- */

static gboolean
send_on_wire(WireConnection *wire, const RpcCall *call, gint64 deadline_us, GError **error)
{
    const BatchSlice *slices = (const BatchSlice *) (gpointer) call->slices->data;

    if (call->submission->is_append)
        return wire_connection_send_append(wire, slices, deadline_us, error);
    return wire_connection_send(wire, slices, call->slices->len, deadline_us, error);
}

static void
lane_send(RpcStream *self, RpcLane *lane, RpcCall *call)
{
    gint64 timeout_us = clock_deadline_us(self->client->options.request_timeout_us);
    gint64 deadline_us = MIN(call->submission->deadline_us, timeout_us);
    g_autoptr(GError) failure = NULL;

    call->state = RPC_CALL_SENT;
    call->sent_us = clock_now_us();
    g_queue_push_tail(&lane->calls, call);
    if (!send_on_wire(lane->connection->wire, call, deadline_us, &failure))
        lane_break(self, lane, failure);
}

/* Who holds connections of other hosts does not wait for this one: two streams could wait for each
 * other. */
static PoolOutcome
stream_take(RpcStream *self, const RpcCall *call, PooledConnection **ret_taken)
{
    const RpcSubmission *submission = call->submission;
    gint64 deadline_us = self->lanes->len > 0 ? 0 : submission->deadline_us;

    return rpc_host_take(call->host, submission->generation, deadline_us, ret_taken);
}

/* NULL: the call is to go elsewhere, or nowhere. */
static RpcLane *
stream_open_lane(RpcStream *self, RpcCall *call, PooledConnection *taken /* (transfer full) */)
{
    RpcHost *host = call->host;
    g_autoptr(GError) failure = NULL;

    /* The wait for the connection may have been long, and for a host that has failed. */
    if (rpc_client_prefers_another(self->client, &call->pass)) {
        rpc_host_give(host, taken);
        rpc_call_undo_attempt(call);
        return NULL;
    }
    if (rpc_host_open(host, taken, call->submission->deadline_us, &failure))
        return stream_add_lane(self, host, taken);
    if (failure->code == RPC_ERROR_CLOSED) {
        rpc_client_note_unanswered(self->client, host);
        rpc_call_undo_attempt(call);
    } else {
        rpc_client_note_failure(self->client, host, failure);
        rpc_call_fail_attempt(call, failure);
    }
    rpc_host_drop(host, taken);
    return NULL;
}

/* FALSE: no room for it now. */
static gboolean
stream_place_on_new_lane(RpcStream *self, RpcCall *call)
{
    PooledConnection *taken;
    RpcLane *lane;

    switch (stream_take(self, call, &taken)) {
    case POOL_TAKEN:
        lane = stream_open_lane(self, call, taken);
        if (lane != NULL)
            lane_send(self, lane, call);
        return TRUE;
    case POOL_BUSY:
        if (self->lanes->len > 0) {
            self->full = self->lanes->pdata[0];
            return FALSE;
        }
        rpc_submission_fail(call->submission, RPC_ERROR_TIMEOUT,
                            "%s: no connection came free in time", call->host->name);
        return TRUE;
    default: /* it was stopped, or the host has left and another is to be chosen */
        if (rpc_submission_check(call->submission))
            rpc_call_undo_attempt(call);
        return TRUE;
    }
}

/* FALSE: no room for it now. */
static gboolean
stream_place(RpcStream *self, RpcCall *call)
{
    RpcLane *lane = stream_lane_to(self, call->host);

    if (lane == NULL)
        return stream_place_on_new_lane(self, call);
    if (!lane_has_room(self, lane)) {
        self->full = lane;
        return FALSE;
    }
    lane_send(self, lane, call);
    return TRUE;
}

/* One step with a call that is to be sent. FALSE: there is no room for it now; where it goes is
 * chosen anew when there is. */
static gboolean
stream_advance(RpcStream *self, RpcCall *call)
{
    if (!rpc_submission_check(call->submission) || !rpc_call_choose_host(call) ||
        stream_place(self, call))
        return TRUE;
    rpc_call_undo_attempt(call);
    return FALSE;
}

static RpcCall *
stream_next_call(RpcStream *self)
{
    for (GList *link = self->submissions.head; link != NULL; link = link->next) {
        RpcCall *call = rpc_submission_next_call(link->data);

        if (call != NULL)
            return call;
    }
    return NULL;
}

/* Sends what there is room for, in order. */
static void
stream_pump(RpcStream *self)
{
    RpcCall *call;

    while ((call = stream_next_call(self)) != NULL)
        if (!stream_advance(self, call))
            return;
}

static void
stream_add(RpcStream *self, RpcSubmission *submission)
{
    g_queue_push_tail(&self->submissions, submission);
    rpc_submission_check(submission);
    stream_pump(self);
}

void
rpc_stream_submit(RpcStream *self, const BatchSlice *slices, guint n_slices, gint64 deadline_us)
{
    stream_add(self, rpc_submission_new(self->client, slices, n_slices, deadline_us));
}

void
rpc_stream_submit_append(RpcStream *self, const BatchSlice *event, gint64 deadline_us)
{
    RpcSubmission *submission = rpc_submission_new(self->client, event, 1, deadline_us);

    g_assert(event->count == 1);
    submission->is_append = TRUE;
    stream_add(self, submission);
}

/* ---- answers ---- */

/* The peer works on one call after the other, so the time of each begins when the one before was
 * answered. */
static gint64
lane_deadline_us(const RpcStream *self, const RpcLane *lane, gint64 limit_us)
{
    const RpcCall *oldest = lane->calls.head->data;
    gint64 begin_us = MAX(oldest->sent_us, lane->last_answer_us);
    gint64 timeout_us = self->client->options.request_timeout_us;

    return timeout_us < limit_us - begin_us ? begin_us + timeout_us : limit_us;
}

static void
lane_take_answer(RpcStream *self, RpcLane *lane, const WireReply *reply)
{
    g_autoptr(GError) failure =
        rpc_failure_of_reply(wire_connection_peer(lane->connection->wire), reply);
    RpcCall *call = g_queue_pop_head(&lane->calls);

    lane->last_answer_us = clock_now_us();
    if (failure == NULL)
        rpc_client_note_success(self->client, lane->host);
    else
        rpc_client_note_failure(self->client, lane->host, failure);
    if (call->submission == NULL)
        rpc_call_free(call);
    else if (failure == NULL)
        rpc_call_acknowledge(call);
    else
        rpc_call_fail_attempt(call, failure);
}

/* Waits for the answer to the oldest call of a lane, until limit_us at the most. */
static void
lane_receive(RpcStream *self, RpcLane *lane, gint64 limit_us)
{
    g_autoptr(GError) failure = NULL;
    WireReply reply;

    g_assert(lane != NULL);
    if (!wire_connection_receive(lane->connection->wire, lane_deadline_us(self, lane, limit_us),
                                 &reply, &failure)) {
        lane_break(self, lane, failure);
        return;
    }
    lane_take_answer(self, lane, &reply);
    if (lane->calls.length > 0)
        return;
    rpc_host_give(lane->host, g_steal_pointer(&lane->connection));
    stream_remove_lane(self, lane);
}

/* Where something must happen before the submission gets on: where its first call is, or where
 * there is no room for that. */
static RpcLane *
stream_find_lane(RpcStream *self, const RpcSubmission *submission)
{
    const RpcCall *first = submission->calls.head->data;

    return first->state == RPC_CALL_SENT ? stream_lane_to(self, first->host) : self->full;
}

gboolean
rpc_stream_collect(RpcStream *self, guint *ret_acknowledged, GError **error)
{
    RpcSubmission *submission = self->submissions.head->data;
    gboolean is_delivered;

    while (!rpc_submission_is_over(submission)) {
        lane_receive(self, stream_find_lane(self, submission), submission->deadline_us);
        stream_pump(self);
    }
    g_queue_pop_head(&self->submissions);
    *ret_acknowledged = submission->n_done;
    is_delivered = submission->error == NULL;
    if (!is_delivered)
        g_propagate_error(error, g_steal_pointer(&submission->error));
    rpc_submission_free(submission);
    return is_delivered;
}

void
rpc_stream_free(RpcStream *self)
{
    if (self == NULL)
        return;
    g_queue_clear_full(&self->submissions, (GDestroyNotify) rpc_submission_free);
    while (self->lanes->len > 0) {
        RpcLane *lane = self->lanes->pdata[0];

        g_queue_clear_full(&lane->calls, (GDestroyNotify) rpc_call_free);
        rpc_host_drop(lane->host, g_steal_pointer(&lane->connection));
        stream_remove_lane(self, lane);
    }
    g_ptr_array_unref(self->lanes);
    g_free(self);
}
