/* event_bytes.h - the canonical bytes of one event: check, view, build. Nothing else knows them.
 *
 * The canonical form is the Thrift compact encoding of ThriftFlumeEvent (thrift/flume.thrift) with
 * fields in order, short field headers, minimal varints and no header key twice:
 *
 *     1b count [88 (length key length value)...]   field 1, map<string,string>; 88 if count > 0
 *     18 length body                               field 2, binary
 *     00                                           end of struct
 *
 * Keys, values and bodies are bytes: NUL and invalid UTF-8 pass unchanged. */
#pragma once

#include <glib.h>

#include "base/span.h"

typedef struct {
    ByteSpan key;
    ByteSpan value;
} EventHeader;

/* One event, borrowed from bytes that outlive the view. Nothing is allocated. */
typedef struct {
    ByteSpan bytes; /* the whole encoding */
    ByteSpan body;
    guint n_headers;
    const guint8 *headers; /* first key; unspecified if n_headers is 0 */
} EventView;

typedef struct {
    const guint8 *cursor;
    guint left;
} EventHeaderIter;

/* Length in bytes of the canonical event that starts at data, 0 if what stands there is not one (it
 * may still be legal Thrift). Never reads past length; any bytes may be passed. */
gsize event_bytes_check(const guint8 *data, gsize length);

/* How many canonical events stand at data one behind the other, at most max_events; ret_ends gets
 * where each ends, counted from origin before data. Quicker than one by one where their headers are
 * of the same lengths. length is at most G_MAXINT32. */
guint event_bytes_check_many(const guint8 *data, gsize length, guint max_events, guint32 origin,
                             guint32 *ret_ends);

/* data holds exactly one event that event_bytes_check has accepted. */
void event_view_init(EventView *self, const guint8 *data, gsize length);
gboolean event_view_find_header(const EventView *self, ByteSpan key, ByteSpan *ret_value);

void event_header_iter_init(EventHeaderIter *self, const EventView *view);
gboolean event_header_iter_next(EventHeaderIter *self, EventHeader *ret_header);

/* Building. Keys must differ from one another; event_bytes_write needs event_bytes_size bytes at
 * out and returns the first byte behind the event. */
gsize event_bytes_size(const EventHeader *headers, guint n_headers, ByteSpan body);
guint8 *event_bytes_write(guint8 *out, const EventHeader *headers, guint n_headers, ByteSpan body);

/* The same in steps, for one that is built while it is read. Keys may repeat when
 * event_bytes_keep_last_headers comes between the last header and the end: it drops every header
 * whose key comes again later, and returns NULL if there is no memory for finding them. Each step
 * returns the first byte behind what stands so far. */
guint8 *event_bytes_begin(guint8 *out, guint n_headers);
guint8 *event_bytes_put_header(guint8 *out, ByteSpan key, ByteSpan value);
guint8 *event_bytes_keep_last_headers(guint8 *event, guint8 *out);
guint8 *event_bytes_end(guint8 *out, ByteSpan body);
