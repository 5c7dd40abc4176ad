/* rpc_submission.c - which calls a submission has, where each has been, what became of it. */
#include "client/rpc_submission.h"

#include "base/clock.h"

/* After so many bytes of reasons there are enough of them. */
#define FAILURES_ENOUGH 2000
#define MORE_FAILURES "and others"

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
    rpc_client_begin_pass(client, &self->pass);
    g_queue_init(&self->calls);
    return self;
}

void
rpc_call_free(RpcCall *self)
{
    if (self->failures != NULL)
        g_string_free(self->failures, TRUE);
    g_array_unref(self->slices);
    rpc_pass_clear(&self->pass);
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
    rpc_pass_clear(&self->pass);
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
    rpc_pass_copy(&submission->pass, &self->pass);
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
call_prefer_host(RpcCall *self, const RpcHost *host)
{
    gpointer *order = self->pass.order->pdata;
    guint i;

    if (!g_ptr_array_find(self->pass.order, host, &i))
        return;
    for (; i > 0; i--)
        order[i] = order[i - 1];
    order[0] = (gpointer) host;
}

/* The hosts have been replaced since. */
static void
call_begin_anew(RpcCall *self)
{
    RpcSubmission *submission = self->submission;

    if (self->pass.edition == submission->pass.edition) { /* the first of its calls */
        rpc_pass_clear(&submission->pass);
        rpc_client_begin_pass(submission->client, &submission->pass);
        submission->host = NULL;
    }
    rpc_pass_clear(&self->pass);
    rpc_pass_copy(&submission->pass, &self->pass);
    self->n_attempts = 0;
}

/* FALSE: the submission has failed. */
static gboolean
call_may_be_attempted(RpcCall *self)
{
    if (self->pass.order->len == 0) {
        rpc_submission_fail(self->submission, RPC_ERROR_UNREACHABLE, "no host is known");
        return FALSE;
    }
    if (self->n_attempts >= rpc_client_max_attempts(self->submission->client, &self->pass)) {
        rpc_submission_fail(self->submission, self->failure_code, "%s", self->failures->str);
        return FALSE;
    }
    return TRUE;
}

gboolean
rpc_call_choose_host(RpcCall *self)
{
    RpcSubmission *submission = self->submission;
    RpcPass *pass = &self->pass;

    if (rpc_client_has_moved_on(submission->client, pass))
        call_begin_anew(self);
    if (!call_may_be_attempted(self))
        return FALSE;
    if (self->n_attempts == 0 && pass->n_given == 0 && submission->host != NULL)
        call_prefer_host(self, submission->host);
    if (pass->n_given == pass->order->len)
        pass->n_given = 0;
    self->host = submission->host = rpc_client_choose(submission->client, pass);
    pass->n_given++;
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
rpc_failures_add(GString *failures, const char *message)
{
    if (g_str_has_suffix(failures->str, MORE_FAILURES))
        return;
    if (failures->len > 0)
        g_string_append(failures, "; ");
    g_string_append(failures, failures->len < FAILURES_ENOUGH ? message : MORE_FAILURES);
}

void
rpc_call_fail_attempt(RpcCall *self, const GError *error)
{
    self->state = RPC_CALL_READY;
    self->failure_code = error->code;
    if (self->failures == NULL)
        self->failures = g_string_new(NULL);
    rpc_failures_add(self->failures, error->message);
}

void
rpc_call_undo_attempt(RpcCall *self)
{
    self->state = RPC_CALL_READY;
    self->pass.n_given--;
    self->n_attempts--;
}
