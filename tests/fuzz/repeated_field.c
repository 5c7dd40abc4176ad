/* repeated_field.c - counts fields by number, in the arguments and in each event. */
#include "tests/fuzz/repeated_field.h"

#include "thrift/wire/reader.h"

typedef struct {
    const WireReader *reader;
    WireCursor cursor;
    gboolean found;
} Scan;

/* FALSE: no further. */
typedef gboolean (*ScanValue)(Scan *self, gint16 id, WireType type);

static gboolean
scan_struct(Scan *self, ScanValue scan_value)
{
    guint n_seen[3] = { 0 };
    gint16 id = 0;
    WireType type;

    while (self->reader->read_field(&self->cursor, &id, &type)) {
        if (type == WIRE_TYPE_STOP)
            return TRUE;
        if (id > 0 && id < (gint16) G_N_ELEMENTS(n_seen) && n_seen[id]++ > 0)
            self->found = TRUE;
        if (self->found || !scan_value(self, id, type))
            return FALSE;
    }
    return FALSE;
}

static gboolean
scan_field_of_event(Scan *self, gint16 id G_GNUC_UNUSED, WireType type)
{
    return wire_reader_skip(self->reader, &self->cursor, type);
}

static gboolean
scan_argument(Scan *self, gint16 id, WireType type)
{
    WireType element = WIRE_TYPE_STRUCT;
    guint32 count = 1;

    if (id != 1 || (type != WIRE_TYPE_LIST && type != WIRE_TYPE_STRUCT))
        return wire_reader_skip(self->reader, &self->cursor, type);
    if (type == WIRE_TYPE_LIST && !self->reader->read_list(&self->cursor, &element, &count))
        return FALSE;
    for (guint32 i = 0; i < count; i++) {
        if (element != WIRE_TYPE_STRUCT && !wire_reader_skip(self->reader, &self->cursor, element))
            return FALSE;
        if (element == WIRE_TYPE_STRUCT && !scan_struct(self, scan_field_of_event))
            return FALSE;
    }
    return TRUE;
}

gboolean
has_repeated_field(const WireMessage *message, const guint8 *data, gsize length)
{
    Scan scan = {
        .reader = wire_reader_for(message->protocol),
        .cursor = wire_cursor(data + message->length, length - message->length),
    };

    scan_struct(&scan, scan_argument);
    return scan.found;
}
