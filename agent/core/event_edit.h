/* event_edit.h - one event while interceptors look at it: reading costs nothing, the first change
 * copies its headers. Scratch that one thread uses again and again. */
#pragma once

#include <glib.h>

#include "base/event_bytes.h"

typedef struct EventEdit EventEdit;

EventEdit *event_edit_new(void);
void event_edit_free(EventEdit *self);
void event_edit_open(EventEdit *self, const EventView *view); /* forgets the event before */

/* Spans stay valid until the next event_edit_open. */
ByteSpan event_edit_body(const EventEdit *self);
gboolean event_edit_find_header(const EventEdit *self, ByteSpan key, ByteSpan *ret_value);
guint event_edit_n_headers(const EventEdit *self);
void event_edit_header_at(EventEdit *self, guint index, EventHeader *ret_header);

/* Keys and values are copied. */
void event_edit_set_header(EventEdit *self, ByteSpan key, ByteSpan value); /* adds or replaces */
void event_edit_remove_header(EventEdit *self, ByteSpan key);
/* All that is_unwanted says TRUE of, in one pass: an event may have millions of headers. */
typedef gboolean (*EventHeaderTest)(const EventHeader *header, gconstpointer user);
void event_edit_remove_headers(EventEdit *self, EventHeaderTest is_unwanted, gconstpointer user);
void event_edit_set_body(EventEdit *self, ByteSpan body);
void event_edit_drop(EventEdit *self);

gboolean event_edit_is_changed(const EventEdit *self);
gboolean event_edit_is_dropped(const EventEdit *self);
/* The headers as they stand now, for writing the event anew. */
const EventHeader *event_edit_headers(EventEdit *self, guint *ret_n_headers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventEdit, event_edit_free)
