/* event_edit.h - one event while interceptors look at it: reading costs nothing, the first change
 * copies its headers. Scratch that one thread uses again and again.
 *
 * What cannot be done, for want of memory or because the event would become too large, makes the
 * event fail: it must not go on as it is, and its batch is refused. Nobody but the chain needs to
 * ask; whoever has much to do may stop when it has failed. */
#pragma once

#include <glib.h>

#include "agent/core/intercept_watch.h"
#include "base/event_bytes.h"

typedef struct EventEdit EventEdit;

typedef enum {
    EVENT_EDIT_GOOD,
    EVENT_EDIT_TOO_LARGE,
    EVENT_EDIT_NO_MEMORY,
} EventEditOutcome;

EventEdit *event_edit_new(void);
void event_edit_free(EventEdit *self);
/* Forgets the event before. max_bytes: of a new body, and of new headers together. */
void event_edit_open(EventEdit *self, const EventView *view, gsize max_bytes);
EventEditOutcome event_edit_outcome(const EventEdit *self);

/* The watch (borrowed, may be NULL) of the events opened from here on. */
void event_edit_set_watch(EventEdit *self, InterceptWatch *watch);
/* To be asked by work that depends on what the event holds. FALSE: leave the event as it is. */
gboolean event_edit_may_go_on(EventEdit *self);
gboolean event_edit_took_too_long(const EventEdit *self); /* why it may not go on, or */
gboolean event_edit_is_refused(const EventEdit *self); /* with its batch, whatever is left of it */

/* Spans stay valid until the next event_edit_open; the body's until there is another one. */
ByteSpan event_edit_body(const EventEdit *self);
gboolean event_edit_find_header(const EventEdit *self, ByteSpan key, ByteSpan *ret_value);

/* Keys and values are copied. */
void event_edit_set_header(EventEdit *self, ByteSpan key, ByteSpan value); /* adds or replaces */
void event_edit_remove_header(EventEdit *self, ByteSpan key);
/* All that is_unwanted says TRUE of, in one pass: an event may have millions of headers. */
typedef gboolean (*EventHeaderTest)(const EventHeader *header, gconstpointer user);
void event_edit_remove_headers(EventEdit *self, EventHeaderTest is_unwanted, gconstpointer user);
void event_edit_drop(EventEdit *self);

/* A new body, piece by piece; the old one stands until the end, or for good if there is none. */
void event_edit_begin_body(EventEdit *self);
gboolean event_edit_append_body(EventEdit *self, ByteSpan piece); /* FALSE: the event has failed */
void event_edit_end_body(EventEdit *self);

gboolean event_edit_is_changed(const EventEdit *self);
gboolean event_edit_is_dropped(const EventEdit *self);
/* The headers as they stand now, for writing the event anew. */
const EventHeader *event_edit_headers(EventEdit *self, guint *ret_n_headers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventEdit, event_edit_free)
