/* walk_event.c - decodes one event field by field and writes it in canonical form as it goes. */
#include "thrift/wire/walk_event.h"

#include <glib.h>

#include "base/event_bytes.h"

enum { HEADERS_ID = 1, BODY_ID = 2 };

/* headers_end is where the canonical headers stop that stand at the start of the output. */
typedef struct {
    guint8 *out;
    guint8 *headers_end;
    ByteSpan body;
    gboolean has_body;
    gboolean no_memory;
} Rewrite;

static gboolean
rewrite_headers(const WireReader *reader, WireCursor *cursor, Rewrite *self)
{
    WireType key_type;
    WireType value_type;
    guint32 count;
    guint8 *at;

    if (!reader->read_map(cursor, &key_type, &value_type, &count))
        return FALSE;
    if (count > 0 && (key_type != WIRE_TYPE_STRING || value_type != WIRE_TYPE_STRING))
        return wire_cursor_fail(cursor, "headers are no map of string to string");
    at = event_bytes_begin(self->out, count);
    for (guint32 i = 0; i < count; i++) {
        ByteSpan key;
        ByteSpan value;

        if (!reader->read_string(cursor, &key) || !reader->read_string(cursor, &value))
            return FALSE;
        at = event_bytes_put_header(at, key, value);
    }
    self->headers_end = event_bytes_keep_last_headers(self->out, at);
    self->no_memory = self->headers_end == NULL;
    return !self->no_memory;
}

/* A field that comes again replaces what it brought before. */
static gboolean
rewrite_field(const WireReader *reader, WireCursor *cursor, gint16 id, WireType type, Rewrite *self)
{
    if (id == HEADERS_ID && type == WIRE_TYPE_MAP)
        return rewrite_headers(reader, cursor, self);
    if (id == BODY_ID && type == WIRE_TYPE_STRING) {
        self->has_body = TRUE;
        return reader->read_string(cursor, &self->body);
    }
    return wire_reader_skip(reader, cursor, type);
}

EventOutcome
walk_event_rewrite(const WireReader *reader, WireCursor *cursor, guint8 *out, guint8 **ret_out)
{
    Rewrite rewrite = { .out = out };
    gint16 id = 0;
    WireType type;

    do {
        if (!reader->read_field(cursor, &id, &type))
            return EVENT_MALFORMED;
        if (type != WIRE_TYPE_STOP && !rewrite_field(reader, cursor, id, type, &rewrite))
            return rewrite.no_memory ? EVENT_NO_MEMORY : EVENT_MALFORMED;
    } while (type != WIRE_TYPE_STOP);

    if (!rewrite.headers_end || !rewrite.has_body)
        return EVENT_INCOMPLETE;
    *ret_out = event_bytes_end(rewrite.headers_end, rewrite.body);
    return EVENT_WRITTEN;
}
