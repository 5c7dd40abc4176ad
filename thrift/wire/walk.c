/* walk.c - the arguments of a call in one pass: compact events stay where they are as long as all
 * are canonical; from the first that is not, and for binary, all are written anew. */
#include "thrift/wire/walk.h"

#include <glib.h>
#include <string.h>

#include "base/event_bytes.h"
#include "thrift/wire/reader.h"
#include "thrift/wire/walk_event.h"

G_STATIC_ASSERT(WALK_MAX_DEPTH == READER_MAX_DEPTH);

/* More scratch than this is not kept. */
#define KEEP_BYTES ((gsize) 1 << 20)

#define ARGUMENT_ID 1

/* One walk under way. */
typedef struct {
    Walk *walk;
    const WireReader *reader;
    const guint8 *frame;
    WireCursor cursor;
    guint8 *out; /* where the next event goes; NULL while events stay in place */
    gboolean has_argument;
    gboolean incomplete;
} Pass;

/* ---- scratch ---- */

void
walk_init(Walk *self)
{
    *self = (Walk){ 0 };
    self->offsets = g_array_new(FALSE, FALSE, sizeof(guint32));
    self->rewritten = g_byte_array_new();
}

void
walk_clear(Walk *self)
{
    g_clear_pointer(&self->offsets, g_array_unref);
    g_clear_pointer(&self->rewritten, g_byte_array_unref);
}

void
walk_shrink(Walk *self)
{
    if (self->offsets->len <= KEEP_BYTES / sizeof(guint32) && self->rewritten->len <= KEEP_BYTES)
        return;
    walk_clear(self);
    walk_init(self);
}

/* ---- where events go ---- */

static inline guint32 *
offsets_of(Walk *self)
{
    return (guint32 *) (gpointer) self->offsets->data;
}

/* All of rewritten that this frame can need. It is touched only as far as it is written. */
static void
begin_rewriting(Pass *self)
{
    gsize bound = (gsize) (self->cursor.end - self->frame);

    if (self->walk->rewritten->len < bound)
        g_byte_array_set_size(self->walk->rewritten, (guint) bound);
    self->out = self->walk->rewritten->data;
    self->walk->in_place = FALSE;
    self->walk->bytes = self->out;
}

/* Forgets the events of an argument that is sent again. */
static void
begin_events(Pass *self)
{
    self->has_argument = TRUE;
    self->walk->n_events = 0;
    self->walk->in_place = TRUE;
    self->walk->bytes = self->frame;
    self->out = NULL;
    if (self->reader != &wire_reader_compact)
        begin_rewriting(self);
    offsets_of(self->walk)[0] = self->out ? 0 : (guint32) (self->cursor.at - self->frame);
}

/* The events so far were canonical: they move as they are. */
static void
leave_place(Pass *self)
{
    guint32 *offsets = offsets_of(self->walk);
    guint n_events = self->walk->n_events;
    guint32 first = offsets[0];
    guint32 n_bytes = offsets[n_events] - first;

    begin_rewriting(self);
    if (n_bytes > 0)
        memcpy(self->out, self->frame + first, n_bytes);
    self->out += n_bytes;
    for (guint i = 0; i <= n_events; i++)
        offsets[i] -= first;
}

/* The length of the array is what is reserved. */
static inline void
add_event(Pass *self, guint32 end)
{
    GArray *offsets = self->walk->offsets;
    guint n_events = ++self->walk->n_events;

    if (G_UNLIKELY(n_events >= offsets->len))
        g_array_set_size(offsets, offsets->len * 2);
    offsets_of(self->walk)[n_events] = end;
}

/* ---- one event ---- */

static gboolean
rewrite_event(Pass *self)
{
    EventOutcome outcome;

    if (!self->out)
        leave_place(self);
    outcome = walk_event_rewrite(self->reader, &self->cursor, self->out, &self->out);
    if (outcome == EVENT_MALFORMED)
        return FALSE;
    if (outcome == EVENT_INCOMPLETE) {
        self->incomplete = TRUE;
        self->walk->reason = "an event lacks its headers or its body";
        return TRUE;
    }
    add_event(self, (guint32) (self->out - self->walk->rewritten->data));
    return TRUE;
}

static gboolean
walk_event(Pass *self)
{
    gsize length = 0;

    if (self->reader == &wire_reader_compact)
        length = event_bytes_check(self->cursor.at, wire_cursor_left(&self->cursor));
    if (length == 0)
        return rewrite_event(self);

    if (G_UNLIKELY(self->out)) {
        memcpy(self->out, self->cursor.at, length);
        self->out += length;
        self->cursor.at += length;
        add_event(self, (guint32) (self->out - self->walk->rewritten->data));
        return TRUE;
    }
    self->cursor.at += length;
    add_event(self, (guint32) (self->cursor.at - self->frame));
    return TRUE;
}

/* ---- arguments ---- */

static gboolean
walk_one_event(Pass *self)
{
    begin_events(self);
    return walk_event(self);
}

/* The canonical events that a compact list begins with, most often all of it. Returns how many. */
static guint32
walk_canonical_events(Pass *self, guint32 count)
{
    Walk *walk = self->walk;
    guint32 n_found = 0;
    guint room;
    guint n;

    if (self->reader != &wire_reader_compact)
        return 0;
    do {
        if (walk->n_events + 1 >= walk->offsets->len)
            g_array_set_size(walk->offsets, walk->offsets->len * 2);
        room = MIN(count - n_found, walk->offsets->len - 1 - walk->n_events);
        n = event_bytes_check_many(self->cursor.at, wire_cursor_left(&self->cursor), room,
                                   offsets_of(walk)[walk->n_events],
                                   offsets_of(walk) + walk->n_events + 1);
        walk->n_events += n;
        n_found += n;
        self->cursor.at = self->frame + offsets_of(walk)[walk->n_events];
    } while (n == room && n_found < count);
    return n_found;
}

static gboolean
walk_list_of_events(Pass *self)
{
    WireType element;
    guint32 count;

    if (!self->reader->read_list(&self->cursor, &element, &count))
        return FALSE;
    if (count > 0 && element != WIRE_TYPE_STRUCT)
        return wire_cursor_fail(&self->cursor, "the list holds no events");
    begin_events(self);
    for (guint32 i = walk_canonical_events(self, count); i < count; i++)
        if (!walk_event(self))
            return FALSE;
    return TRUE;
}

static gboolean
walk_arguments(Pass *self, WireType argument_type)
{
    gint16 id = 0;
    WireType type;

    while (self->reader->read_field(&self->cursor, &id, &type)) {
        gboolean good;

        if (type == WIRE_TYPE_STOP)
            return TRUE;
        if (id != ARGUMENT_ID || type != argument_type)
            good = wire_reader_skip(self->reader, &self->cursor, type);
        else if (type == WIRE_TYPE_LIST)
            good = walk_list_of_events(self);
        else
            good = walk_one_event(self);
        if (!good)
            return FALSE;
    }
    return FALSE;
}

/* ---- the three walks ---- */

static Pass
pass_begin(Walk *walk, const WireMessage *message, const guint8 *data, gsize length)
{
    Pass self = {
        .walk = walk,
        .reader = wire_reader_for(message->protocol),
        .frame = data,
        .cursor = wire_cursor(data + message->length, length - message->length),
    };

    walk->n_events = 0;
    walk->bytes = data;
    walk->in_place = TRUE;
    walk->reason = NULL;
    if (walk->offsets->len < 64)
        g_array_set_size(walk->offsets, 64);
    /* Offsets are of 32 bits, Thrift's lengths of 31. No frame limit comes near. */
    if (length > G_MAXINT32)
        self.cursor.end = self.cursor.at;
    return self;
}

static WalkVerdict
pass_end(Pass *self, gboolean good)
{
    if (good && wire_cursor_left(&self->cursor) > 0)
        good = wire_cursor_fail(&self->cursor, "bytes follow the message");
    if (!good) {
        self->walk->reason = self->cursor.reason;
        return WALK_MALFORMED;
    }
    return self->incomplete ? WALK_INCOMPLETE : WALK_GOOD;
}

static WalkVerdict
walk_events(Walk *walk, const WireMessage *message, const guint8 *data, gsize length,
            WireType argument_type)
{
    Pass pass = pass_begin(walk, message, data, length);
    gboolean good = walk_arguments(&pass, argument_type);

    if (!pass.has_argument && !pass.incomplete) {
        pass.incomplete = TRUE;
        walk->reason = "the argument is absent or of another type";
    }
    return pass_end(&pass, good);
}

WalkVerdict
walk_append(Walk *self, const WireMessage *message, const guint8 *data, gsize length)
{
    return walk_events(self, message, data, length, WIRE_TYPE_STRUCT);
}

WalkVerdict
walk_append_batch(Walk *self, const WireMessage *message, const guint8 *data, gsize length)
{
    return walk_events(self, message, data, length, WIRE_TYPE_LIST);
}

WalkVerdict
walk_other(Walk *self, const WireMessage *message, const guint8 *data, gsize length)
{
    Pass pass = pass_begin(self, message, data, length);

    return pass_end(&pass, wire_reader_skip(pass.reader, &pass.cursor, WIRE_TYPE_STRUCT));
}
