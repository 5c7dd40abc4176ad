/* rpc_submission.c - which calls a submission has, where each has been, what became of it. */
#include "client/rpc_submission.h"

#include "base/clock.h"

RpcSubmission *
rpc_submission_new(RpcClient *client, const BatchSlice *slices, guint n_slices, gint64 deadline_us)
{
    RpcSubmission *self = g_new0(RpcSubmission, 1);

    self->client = client;
    self->deadline_us = deadline_us;
    self->generation = rpc_client_generation(client);
    batch_cutter_init(&self->cutter, slices, n_slices, client->options.protocol,
                      client->options.batch_size);
    self->cut = CUT_CALL;
    self->order = g_new(guint, client->hosts->len);
    self->host = RPC_NO_HOST;
    rpc_client_order(client, self->order);
    g_queue_init(&self->calls);
    return self;
}

void
rpc_call_free(RpcCall *self)
{
    if (self->failures != NULL)
        g_string_free(self->failures, TRUE);
    g_array_unref(self->slices);
    g_free(self->order);
    g_free(self);
}

/* One that was sent stays in the line of its connection until the answer comes. */
static void
call_abandon(gpointer call)
{
    RpcCall *self = call;

    self->submission = NULL;
    if (self->state != RPC_CALL_SENT)
        rpc_call_free(self);
}

void
rpc_submission_free(RpcSubmission *self)
{
    g_queue_clear_full(&self->calls, call_abandon);
    g_clear_error(&self->error);
    g_free(self->order);
    g_free(self);
}

gboolean
rpc_submission_is_over(const RpcSubmission *self)
{
    return self->error != NULL || (self->cut == CUT_END && self->calls.length == 0);
}

void
rpc_submission_fail(RpcSubmission *self, int code, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (self->error == NULL)
        self->error = g_error_new_literal(RPC_ERROR, code, text);
}

/* ---- cutting ---- */

static RpcCall *
call_new(RpcSubmission *submission)
{
    RpcCall *self = g_new0(RpcCall, 1);

    self->submission = submission;
    self->slices = g_array_new(FALSE, FALSE, sizeof(BatchSlice));
    self->state = RPC_CALL_READY;
    self->order = g_memdup2(submission->order, submission->client->hosts->len * sizeof(guint));
    return self;
}

/* NULL: nothing is left to cut, or the next event is too large for any frame. */
static RpcCall *
submission_cut(RpcSubmission *self)
{
    RpcCall *call;

    if (self->cut != CUT_CALL)
        return NULL;
    call = call_new(self);
    self->cut = batch_cutter_next(&self->cutter, call->slices, &call->n_events);
    if (self->cut == CUT_CALL) {
        g_queue_push_tail(&self->calls, call);
        return call;
    }
    rpc_call_free(call);
    return NULL;
}

RpcCall *
rpc_submission_next_call(RpcSubmission *self)
{
    RpcCall *call;

    if (self->error != NULL)
        return NULL;
    for (GList *link = self->calls.head; link != NULL; link = link->next) {
        call = link->data;
        if (call->state == RPC_CALL_READY)
            return call;
    }
    call = submission_cut(self);
    if (self->cut == CUT_TOO_LARGE && self->calls.length == 0)
        rpc_submission_fail(self, RPC_ERROR_TOO_LARGE,
                            "an event is larger than the %d bytes of a frame that peers accept",
                            WIRE_MAX_FRAME);
    return call;
}

gboolean
rpc_submission_check(RpcSubmission *self)
{
    const RpcCall *first = self->calls.head != NULL ? self->calls.head->data : NULL;

    if (rpc_client_is_stopped(self->client, self->generation))
        rpc_submission_fail(self, RPC_ERROR_CLOSED,
                            rpc_client_is_active(self->client) ? "interrupted"
                                                               : "the client is closed");
    else if (self->deadline_us <= clock_now_us())
        rpc_submission_fail(self, RPC_ERROR_TIMEOUT, "no time is left%s%s",
                            first != NULL && first->failures != NULL ? "; " : "",
                            first != NULL && first->failures != NULL ? first->failures->str : "");
    return self->error == NULL;
}

/* ---- one call ---- */

/* The calls of a submission stay together while that works. */
static void
call_prefer_host(RpcCall *self, guint host)
{
    guint i = 0;

    while (self->order[i] != host)
        i++;
    for (; i > 0; i--)
        self->order[i] = self->order[i - 1];
    self->order[0] = host;
}

gboolean
rpc_call_choose_host(RpcCall *self)
{
    RpcSubmission *submission = self->submission;
    RpcClient *client = submission->client;

    if (self->n_attempts >= client->max_attempts) {
        rpc_submission_fail(submission, self->failure_code, "%s", self->failures->str);
        return FALSE;
    }
    if (self->n_attempts == 0 && self->n_given == 0 && submission->host != RPC_NO_HOST)
        call_prefer_host(self, submission->host);
    if (self->n_given == client->hosts->len)
        self->n_given = 0;
    rpc_client_choose(client, self->order, self->n_given);
    self->host = submission->host = self->order[self->n_given];
    self->n_given++;
    self->n_attempts++;
    return TRUE;
}

void
rpc_call_acknowledge(RpcCall *self)
{
    RpcSubmission *submission = self->submission;
    GQueue *calls = &submission->calls;

    self->state = RPC_CALL_ACKNOWLEDGED;
    while (calls->length > 0 && ((RpcCall *) calls->head->data)->state == RPC_CALL_ACKNOWLEDGED) {
        RpcCall *first = g_queue_pop_head(calls);

        submission->n_done += first->n_events;
        rpc_call_free(first);
    }
}

void
rpc_call_fail_attempt(RpcCall *self, const GError *error)
{
    self->state = RPC_CALL_READY;
    self->failure_code = error->code;
    if (self->failures == NULL)
        self->failures = g_string_new(NULL);
    else
        g_string_append(self->failures, "; ");
    g_string_append(self->failures, error->message);
}

void
rpc_call_undo_attempt(RpcCall *self)
{
    self->state = RPC_CALL_READY;
    self->n_given--;
    self->n_attempts--;
}
