/* event_edit.c - one event while interceptors look at it. */
#include "agent/core/event_edit.h"

#include <string.h>

#define SCRATCH_BYTES 4096
#define FIRST_BODY_BYTES ((gsize) 256)

/* More than this is not kept for the next event. */
#define KEEP_HEADERS 1024

struct EventEdit {
    InterceptWatch *watch;
    EventView view;
    gsize max_bytes;
    EventEditOutcome outcome;
    gboolean changed;
    gboolean dropped;

    EventHeader *headers; /* those of the view are read in when they are first needed */
    guint n_headers;
    guint max_headers; /* that there is memory for */
    gboolean has_headers;

    ByteSpan body;
    guint8 *body_memory; /* NULL while the body is that of the view */
    guint8 *new_body;    /* being written */
    gsize new_length;
    gsize new_capacity;

    gsize scratch_used;
    gsize large_bytes;
    GPtrArray *large; /* copies that did not fit into scratch */
    guint8 scratch[SCRATCH_BYTES];
};

EventEdit *
event_edit_new(void)
{
    EventEdit *self = g_new0(EventEdit, 1);

    self->large = g_ptr_array_new_with_free_func(g_free);
    return self;
}

static void
event_edit_forget(EventEdit *self)
{
    g_clear_pointer(&self->body_memory, g_free);
    g_clear_pointer(&self->new_body, g_free);
    if (self->large->len > 0)
        g_ptr_array_set_size(self->large, 0);
    if (self->max_headers > KEEP_HEADERS) {
        g_clear_pointer(&self->headers, g_free);
        self->max_headers = 0;
    }
}

void
event_edit_free(EventEdit *self)
{
    if (self == NULL)
        return;
    event_edit_forget(self);
    g_free(self->headers);
    g_ptr_array_unref(self->large);
    g_free(self);
}

void
event_edit_open(EventEdit *self, const EventView *view, gsize max_bytes)
{
    event_edit_forget(self);
    self->view = *view;
    self->max_bytes = max_bytes;
    self->outcome = EVENT_EDIT_GOOD;
    self->changed = FALSE;
    self->dropped = FALSE;
    self->n_headers = 0;
    self->has_headers = FALSE;
    self->body = view->body;
    self->scratch_used = 0;
    self->large_bytes = 0;
    if (self->watch != NULL)
        intercept_watch_begin_event(self->watch);
}

/* ---- its time ---- */

void
event_edit_set_watch(EventEdit *self, InterceptWatch *watch)
{
    self->watch = watch;
}

gboolean
event_edit_may_go_on(EventEdit *self)
{
    return self->watch == NULL || intercept_watch_look(self->watch);
}

gboolean
event_edit_took_too_long(const EventEdit *self)
{
    return self->watch != NULL && self->watch->event_is_over;
}

gboolean
event_edit_is_refused(const EventEdit *self)
{
    return self->watch != NULL && self->watch->verdict != INTERCEPT_GOES_ON;
}

EventEditOutcome
event_edit_outcome(const EventEdit *self)
{
    return self->outcome;
}

static gboolean
event_edit_fail(EventEdit *self, EventEditOutcome outcome)
{
    self->outcome = outcome;
    return FALSE;
}

/* ---- headers ---- */

static gboolean
event_edit_has_room_for_headers(EventEdit *self, guint count)
{
    gsize wanted = MAX((gsize) self->n_headers + count, (gsize) self->max_headers * 2);
    EventHeader *headers;

    if (count <= self->max_headers - self->n_headers)
        return TRUE;
    headers = g_try_realloc(self->headers, wanted * sizeof(EventHeader));
    if (headers == NULL)
        return event_edit_fail(self, EVENT_EDIT_NO_MEMORY);
    self->headers = headers;
    self->max_headers = (guint) MIN(wanted, G_MAXUINT);
    return TRUE;
}

/* None, if there is no memory for them. */
static void
event_edit_read_headers(EventEdit *self)
{
    EventHeaderIter iter;
    EventHeader header;

    if (self->has_headers)
        return;
    self->has_headers = TRUE;
    if (!event_edit_has_room_for_headers(self, self->view.n_headers))
        return;
    event_header_iter_init(&iter, &self->view);
    while (event_header_iter_next(&iter, &header))
        self->headers[self->n_headers++] = header;
}

/* Only when headers have been read in. */
static EventHeader *
event_edit_lookup(const EventEdit *self, ByteSpan key)
{
    for (guint i = 0; i < self->n_headers; i++)
        if (byte_span_equal(self->headers[i].key, key))
            return &self->headers[i];
    return NULL;
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

const EventHeader *
event_edit_headers(EventEdit *self, guint *ret_n_headers)
{
    event_edit_read_headers(self);
    *ret_n_headers = self->n_headers;
    return self->headers;
}

static gboolean
event_edit_copy_large(EventEdit *self, ByteSpan bytes, ByteSpan *ret_copy)
{
    guint8 *copy;

    if (bytes.length > self->max_bytes - self->large_bytes)
        return event_edit_fail(self, EVENT_EDIT_TOO_LARGE);
    copy = g_try_malloc(bytes.length);
    if (copy == NULL)
        return event_edit_fail(self, EVENT_EDIT_NO_MEMORY);
    self->large_bytes += bytes.length;
    g_ptr_array_add(self->large, copy);
    *ret_copy = byte_span(memcpy(copy, bytes.data, bytes.length), bytes.length);
    return TRUE;
}

static gboolean
event_edit_copy(EventEdit *self, ByteSpan bytes, ByteSpan *ret_copy)
{
    guint8 *copy = self->scratch + self->scratch_used;

    if (bytes.length > SCRATCH_BYTES - self->scratch_used)
        return event_edit_copy_large(self, bytes, ret_copy);
    if (bytes.length > 0)
        memcpy(copy, bytes.data, bytes.length);
    self->scratch_used += bytes.length;
    *ret_copy = byte_span(copy, bytes.length);
    return TRUE;
}

void
event_edit_set_header(EventEdit *self, ByteSpan key, ByteSpan value)
{
    EventHeader added;
    EventHeader *header;

    event_edit_read_headers(self);
    header = event_edit_lookup(self, key);
    if (header != NULL && byte_span_equal(header->value, value))
        return;
    self->changed = TRUE;
    if (header != NULL)
        event_edit_copy(self, value, &header->value);
    else if (event_edit_has_room_for_headers(self, 1) && event_edit_copy(self, key, &added.key) &&
             event_edit_copy(self, value, &added.value))
        self->headers[self->n_headers++] = added;
}

void
event_edit_remove_header(EventEdit *self, ByteSpan key)
{
    EventHeader *header;

    event_edit_read_headers(self);
    header = event_edit_lookup(self, key);
    if (header == NULL)
        return;
    self->n_headers--;
    memmove(header, header + 1,
            (gsize) (self->headers + self->n_headers - header) * sizeof(EventHeader));
    self->changed = TRUE;
}

void
event_edit_remove_headers(EventEdit *self, EventHeaderTest is_unwanted, gconstpointer user)
{
    guint n_kept = 0;

    event_edit_read_headers(self);
    for (guint i = 0; i < self->n_headers; i++)
        if (!is_unwanted(&self->headers[i], user))
            self->headers[n_kept++] = self->headers[i];
    self->changed |= n_kept < self->n_headers;
    self->n_headers = n_kept;
}

/* ---- the body ---- */

ByteSpan
event_edit_body(const EventEdit *self)
{
    return self->body;
}

void
event_edit_begin_body(EventEdit *self)
{
    g_clear_pointer(&self->new_body, g_free);
    self->new_length = 0;
    self->new_capacity = 0;
}

static gboolean
event_edit_has_room_for_body(EventEdit *self, gsize length)
{
    gsize wanted;
    guint8 *memory;

    if (length <= self->new_capacity - self->new_length)
        return TRUE;
    if (length > self->max_bytes - self->new_length)
        return event_edit_fail(self, EVENT_EDIT_TOO_LARGE);
    wanted = MAX(self->new_length + length, MAX(self->new_capacity * 2, self->body.length));
    wanted = MIN(MAX(wanted, FIRST_BODY_BYTES), self->max_bytes);
    memory = g_try_realloc(self->new_body, wanted);
    if (memory == NULL)
        return event_edit_fail(self, EVENT_EDIT_NO_MEMORY);
    self->new_body = memory;
    self->new_capacity = wanted;
    return TRUE;
}

gboolean
event_edit_append_body(EventEdit *self, ByteSpan piece)
{
    if (self->outcome != EVENT_EDIT_GOOD || !event_edit_has_room_for_body(self, piece.length))
        return FALSE;
    if (piece.length > 0)
        memcpy(self->new_body + self->new_length, piece.data, piece.length);
    self->new_length += piece.length;
    return TRUE;
}

void
event_edit_end_body(EventEdit *self)
{
    ByteSpan body =
        byte_span(self->new_length > 0 ? self->new_body : self->scratch, self->new_length);

    if (self->outcome != EVENT_EDIT_GOOD || byte_span_equal(self->body, body))
        return;
    g_free(self->body_memory);
    self->body_memory = g_steal_pointer(&self->new_body);
    self->body = body;
    self->changed = TRUE;
}

/* ---- as a whole ---- */

void
event_edit_drop(EventEdit *self)
{
    self->dropped = TRUE;
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
