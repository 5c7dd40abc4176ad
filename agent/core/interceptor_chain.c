/* interceptor_chain.c - a batch on its way through the interceptors of its source. */
#include "agent/core/interceptor_chain.h"

#include "agent/core/channel.h"
#include "base/batch_builder.h"
#include "base/quantity.h"

#define MAX_BATCH_BYTES ((gsize) G_MAXINT32)

/* Of a batch that is being written anew. */
typedef struct {
    Batch *batch;
    BatchBuilder *builder; /* NULL: so far nothing was changed */
    guint n_copied;        /* events of batch that are in the builder, or dropped */
} Rewrite;

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
rewrite_has_room(const Rewrite *self, gsize n_bytes, GError **error)
{
    g_autofree char *limit = NULL;

    if (n_bytes <= MAX_BATCH_BYTES - batch_builder_n_bytes(self->builder))
        return TRUE;
    limit = quantity_size_to_text(MAX_BATCH_BYTES);
    g_set_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE,
                "the interceptors made the batch larger than %s", limit);
    return FALSE;
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
        self->builder = batch_builder_new(batch_span(self->batch, 0, self->batch->n_events).length +
                                              (gsize) 64 * self->batch->n_events,
                                          self->batch->n_events);
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

static void
intercept_event(const GPtrArray *interceptors, EventEdit *edit)
{
    for (guint i = 0; i < interceptors->len && !event_edit_is_dropped(edit); i++) {
        const Interceptor *interceptor = g_ptr_array_index(interceptors, i);

        interceptor_type(interceptor)->intercept(interceptor, edit);
    }
}

Batch *
interceptor_chain_run(const GPtrArray *interceptors, Batch *batch, guint *ret_n_dropped,
                      GError **error)
{
    EventEdit *edit = scratch_of_thread();
    Rewrite rewrite = { .batch = batch };
    g_autoptr(BatchBuilder) builder = NULL;
    guint n_dropped = 0;
    gboolean ok = TRUE;

    for (guint i = 0; i < batch->n_events && ok; i++) {
        EventView view;

        batch_view(batch, i, &view);
        event_edit_open(edit, &view);
        intercept_event(interceptors, edit);
        n_dropped += event_edit_is_dropped(edit);
        if (event_edit_is_dropped(edit) || event_edit_is_changed(edit))
            ok = rewrite_add(&rewrite, i, edit, error);
    }
    builder = rewrite.builder;
    if (builder != NULL && ok)
        ok = rewrite_copy_until(&rewrite, batch->n_events, error);
    if (!ok)
        return NULL;
    *ret_n_dropped = n_dropped;
    return builder != NULL ? batch_builder_finish(builder) : batch_ref(batch);
}
