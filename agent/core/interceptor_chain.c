/* interceptor_chain.c - a batch on its way through the interceptors of its source. */
#include "agent/core/interceptor_chain.h"

#include "agent/core/channel.h"
#include "base/batch_builder.h"
#include "base/quantity.h"

G_DEFINE_QUARK(leat_intercept_error, intercept_error)

static const BatchLimit no_limit = { G_MAXINT32, "; send smaller batches" };

/* Of a batch that is being written anew. */
typedef struct {
    Batch *batch;
    BatchLimit limit;
    BatchBuilder *builder; /* NULL: so far nothing was changed */
    guint n_copied;        /* events of batch that are in the builder, or dropped */
} Rewrite;

static void
rewrite_clear(Rewrite *self)
{
    g_clear_pointer(&self->builder, batch_builder_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rewrite, rewrite_clear)

static void
scratch_free(gpointer edit)
{
    event_edit_free(edit);
}

/* Each thread keeps its scratch until it ends. */
static EventEdit *
scratch_of_thread(void)
{
    static GPrivate scratch = G_PRIVATE_INIT(scratch_free);
    EventEdit *edit = g_private_get(&scratch);

    if (edit == NULL) {
        edit = event_edit_new();
        g_private_set(&scratch, edit);
    }
    return edit;
}

static gboolean
refuse_size(BatchLimit limit, GError **error)
{
    g_autofree char *size = quantity_size_to_text(limit.n_bytes);

    g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE,
                "the interceptors would make the batch larger than %s%s", size, limit.remedy);
    return FALSE;
}

static gboolean
refuse_for_memory(GError **error)
{
    g_set_error_literal(error, CHANNEL_ERROR, CHANNEL_ERROR_NO_MEMORY,
                        "no memory for what the interceptors make of the batch; let the process "
                        "have more (MemoryMax=, ulimit -v), or send smaller batches");
    return FALSE;
}

static gboolean
refuse_for_stop(GError **error)
{
    g_set_error_literal(error, INTERCEPT_ERROR, INTERCEPT_ERROR_STOPPING, "the agent is stopping");
    return FALSE;
}

/* interceptor: that was at work. */
static gboolean
refuse_for_time(const InterceptWatch *watch, const Interceptor *interceptor, GError **error)
{
    g_autofree char *timeout = NULL;

    if (watch->verdict == INTERCEPT_STOPPING)
        return refuse_for_stop(error);
    timeout = quantity_duration_to_text(watch->time->timeout_us);
    g_set_error(error, INTERCEPT_ERROR, INTERCEPT_ERROR_TOO_SLOW,
                "the batch took more than intercept-timeout (%s) of processor time, at last in "
                "'%s' (%s); simplify its regular expression, send smaller batches, or raise "
                "intercept-timeout",
                timeout, interceptor->base.name, interceptor->base.type->name);
    return FALSE;
}

static gboolean
rewrite_has_room(const Rewrite *self, gsize n_bytes, GError **error)
{
    return n_bytes <= self->limit.n_bytes - batch_builder_n_bytes(self->builder) ||
           refuse_size(self->limit, error);
}

/* Copies the untouched events before index. */
static gboolean
rewrite_copy_until(Rewrite *self, guint index, GError **error)
{
    guint count = index - self->n_copied;

    if (count == 0)
        return TRUE;
    if (!rewrite_has_room(self, batch_span(self->batch, self->n_copied, count).length, error))
        return FALSE;
    batch_builder_add_slice(self->builder, self->batch, self->n_copied, count);
    self->n_copied = index;
    return TRUE;
}

/* index: of the event that was changed or dropped. */
static gboolean
rewrite_add(Rewrite *self, guint index, EventEdit *edit, GError **error)
{
    const EventHeader *headers;
    guint n_headers;

    if (self->builder == NULL)
        self->builder = batch_builder_new(
            batch_n_bytes(self->batch) + (gsize) 64 * self->batch->n_events, self->batch->n_events);
    if (!rewrite_copy_until(self, index, error))
        return FALSE;
    self->n_copied++;
    if (event_edit_is_dropped(edit))
        return TRUE;
    headers = event_edit_headers(edit, &n_headers);
    if (!rewrite_has_room(self, event_bytes_size(headers, n_headers, event_edit_body(edit)), error))
        return FALSE;
    batch_builder_add_event(self->builder, headers, n_headers, event_edit_body(edit));
    return TRUE;
}

static gboolean
intercept_event(const GPtrArray *interceptors, EventEdit *edit, BatchLimit limit,
                const InterceptWatch *watch, GError **error)
{
    for (guint i = 0; i < interceptors->len && !event_edit_is_dropped(edit); i++) {
        const Interceptor *interceptor = g_ptr_array_index(interceptors, i);

        interceptor_type(interceptor)->intercept(interceptor, edit);
        if (event_edit_outcome(edit) == EVENT_EDIT_TOO_LARGE)
            return refuse_size(limit, error);
        if (event_edit_outcome(edit) == EVENT_EDIT_NO_MEMORY)
            return refuse_for_memory(error);
        if (watch->verdict != INTERCEPT_GOES_ON)
            return refuse_for_time(watch, interceptor, error);
    }
    return TRUE;
}

static Batch *
rewrite_finish(Rewrite *self, GError **error)
{
    Batch *batch;

    if (self->builder == NULL)
        return batch_ref(self->batch);
    if (!rewrite_copy_until(self, self->batch->n_events, error))
        return NULL;
    batch = batch_builder_try_finish(self->builder);
    if (batch == NULL)
        refuse_for_memory(error);
    return batch;
}

/* Into rewrite, as far as anything changed. */
static gboolean
intercept_all(const GPtrArray *interceptors, EventEdit *edit, Rewrite *rewrite,
              const InterceptWatch *watch, guint *ret_n_dropped, GError **error)
{
    Batch *batch = rewrite->batch;
    guint n_dropped = 0;

    for (guint i = 0; i < batch->n_events; i++) {
        EventView view;

        batch_view(batch, i, &view);
        event_edit_open(edit, &view, rewrite->limit.n_bytes);
        if (!intercept_event(interceptors, edit, rewrite->limit, watch, error))
            return FALSE;
        n_dropped += event_edit_is_dropped(edit);
        if ((event_edit_is_dropped(edit) || event_edit_is_changed(edit)) &&
            !rewrite_add(rewrite, i, edit, error))
            return FALSE;
    }
    *ret_n_dropped = n_dropped;
    return TRUE;
}

Batch *
interceptor_chain_run(const GPtrArray *interceptors, Batch *batch, BatchLimit limit,
                      const InterceptTime *time, guint *ret_n_dropped, GError **error)
{
    EventEdit *edit = scratch_of_thread();
    g_auto(Rewrite) rewrite = { .batch = batch, .limit = limit.n_bytes > 0 ? limit : no_limit };
    InterceptWatch watch;
    gboolean ok;

    intercept_watch_begin(&watch, time);
    if (watch.verdict != INTERCEPT_GOES_ON) { /* no time has passed yet */
        refuse_for_stop(error);
        return NULL;
    }
    event_edit_set_watch(edit, &watch);
    ok = intercept_all(interceptors, edit, &rewrite, &watch, ret_n_dropped, error);
    event_edit_set_watch(edit, NULL);
    return ok ? rewrite_finish(&rewrite, error) : NULL;
}
