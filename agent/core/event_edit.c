/* event_edit.c - one event while interceptors look at it. */
#include "agent/core/event_edit.h"

#define SCRATCH_BYTES 4096

struct EventEdit {
    EventView view;
    ByteSpan body;
    GArray *headers; /* EventHeader; those of the view are read in when they are first needed */
    gboolean has_headers;
    gboolean changed;
    gboolean dropped;

    gsize scratch_used;
    GPtrArray *large; /* copies that did not fit into scratch */
    guint8 scratch[SCRATCH_BYTES];
};

EventEdit *
event_edit_new(void)
{
    EventEdit *self = g_new0(EventEdit, 1);

    self->headers = g_array_new(FALSE, FALSE, sizeof(EventHeader));
    self->large = g_ptr_array_new_with_free_func(g_free);
    return self;
}

void
event_edit_free(EventEdit *self)
{
    if (self == NULL)
        return;
    g_array_unref(self->headers);
    g_ptr_array_unref(self->large);
    g_free(self);
}

void
event_edit_open(EventEdit *self, const EventView *view)
{
    self->view = *view;
    self->body = view->body;
    self->has_headers = FALSE;
    self->changed = FALSE;
    self->dropped = FALSE;
    self->scratch_used = 0;
    if (self->large->len > 0)
        g_ptr_array_set_size(self->large, 0);
}

/* ---- reading ---- */

static void
event_edit_read_headers(EventEdit *self)
{
    EventHeaderIter iter;
    EventHeader header;

    if (self->has_headers)
        return;
    g_array_set_size(self->headers, 0);
    event_header_iter_init(&iter, &self->view);
    while (event_header_iter_next(&iter, &header))
        g_array_append_val(self->headers, header);
    self->has_headers = TRUE;
}

/* Only when headers have been read in. */
static EventHeader *
event_edit_lookup(const EventEdit *self, ByteSpan key)
{
    for (guint i = 0; i < self->headers->len; i++) {
        EventHeader *header = &g_array_index(self->headers, EventHeader, i);

        if (byte_span_equal(header->key, key))
            return header;
    }
    return NULL;
}

ByteSpan
event_edit_body(const EventEdit *self)
{
    return self->body;
}

gboolean
event_edit_find_header(const EventEdit *self, ByteSpan key, ByteSpan *ret_value)
{
    const EventHeader *header;

    if (!self->has_headers)
        return event_view_find_header(&self->view, key, ret_value);
    header = event_edit_lookup(self, key);
    if (header == NULL)
        return FALSE;
    *ret_value = header->value;
    return TRUE;
}

guint
event_edit_n_headers(const EventEdit *self)
{
    return self->has_headers ? self->headers->len : self->view.n_headers;
}

void
event_edit_header_at(EventEdit *self, guint index, EventHeader *ret_header)
{
    event_edit_read_headers(self);
    g_assert(index < self->headers->len);
    *ret_header = g_array_index(self->headers, EventHeader, index);
}

const EventHeader *
event_edit_headers(EventEdit *self, guint *ret_n_headers)
{
    event_edit_read_headers(self);
    *ret_n_headers = self->headers->len;
    return (const EventHeader *) (gpointer) self->headers->data;
}

gboolean
event_edit_is_changed(const EventEdit *self)
{
    return self->changed;
}

gboolean
event_edit_is_dropped(const EventEdit *self)
{
    return self->dropped;
}

/* ---- editing ---- */

static ByteSpan
event_edit_copy(EventEdit *self, ByteSpan bytes)
{
    guint8 *copy;

    if (bytes.length == 0)
        return byte_span(self->scratch, 0);
    if (bytes.length <= SCRATCH_BYTES - self->scratch_used) {
        copy = memcpy(self->scratch + self->scratch_used, bytes.data, bytes.length);
        self->scratch_used += bytes.length;
    } else {
        copy = g_memdup2(bytes.data, bytes.length);
        g_ptr_array_add(self->large, copy);
    }
    return byte_span(copy, bytes.length);
}

void
event_edit_set_header(EventEdit *self, ByteSpan key, ByteSpan value)
{
    EventHeader *header;

    event_edit_read_headers(self);
    header = event_edit_lookup(self, key);
    if (header != NULL && byte_span_equal(header->value, value))
        return;
    self->changed = TRUE;
    if (header != NULL) {
        header->value = event_edit_copy(self, value);
    } else {
        EventHeader added = { .key = event_edit_copy(self, key),
                              .value = event_edit_copy(self, value) };

        g_array_append_val(self->headers, added);
    }
}

void
event_edit_remove_header(EventEdit *self, ByteSpan key)
{
    const EventHeader *header;

    event_edit_read_headers(self);
    header = event_edit_lookup(self, key);
    if (header == NULL)
        return;
    g_array_remove_index(self->headers,
                         (guint) (header - &g_array_index(self->headers, EventHeader, 0)));
    self->changed = TRUE;
}

void
event_edit_remove_headers(EventEdit *self, EventHeaderTest is_unwanted, gconstpointer user)
{
    guint n_kept = 0;

    event_edit_read_headers(self);
    for (guint i = 0; i < self->headers->len; i++) {
        const EventHeader *header = &g_array_index(self->headers, EventHeader, i);

        if (!is_unwanted(header, user))
            g_array_index(self->headers, EventHeader, n_kept++) = *header;
    }
    self->changed |= n_kept < self->headers->len;
    g_array_set_size(self->headers, n_kept);
}

void
event_edit_set_body(EventEdit *self, ByteSpan body)
{
    if (byte_span_equal(self->body, body))
        return;
    self->body = event_edit_copy(self, body);
    self->changed = TRUE;
}

void
event_edit_drop(EventEdit *self)
{
    self->dropped = TRUE;
}
