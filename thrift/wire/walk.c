/* walk.c - the arguments of a call in one pass: compact events stay where they are as long as all
 * are canonical; from the first that is not, and for binary, all are written anew. */
#include "thrift/wire/walk.h"

#include <glib.h>
#include <string.h>

#include "base/event_bytes.h"
#include "thrift/wire/reader.h"
#include "thrift/wire/walk_event.h"

G_STATIC_ASSERT(WALK_MAX_DEPTH == READER_MAX_DEPTH);

#define FIRST_OFFSETS 64

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
    gboolean no_memory;
} Pass;

/* ---- scratch ---- */

void
walk_init(Walk *self)
{
    *self = (Walk){ .n_offsets = FIRST_OFFSETS };
    self->offsets = g_new(guint32, FIRST_OFFSETS);
}

void
walk_clear(Walk *self)
{
    g_clear_pointer(&self->offsets, g_free);
    g_clear_pointer(&self->rewritten, g_free);
}

void
walk_shrink(Walk *self)
{
    if (self->n_offsets <= KEEP_BYTES / sizeof(guint32) && self->rewritten_size <= KEEP_BYTES)
        return;
    walk_clear(self);
    walk_init(self);
}

/* ---- where events go ---- */

static gboolean
fail_for_memory(Pass *self)
{
    self->no_memory = TRUE;
    return FALSE;
}

/* All of rewritten that this frame can need. It is touched only as far as it is written. */
static gboolean
begin_rewriting(Pass *self)
{
    Walk *walk = self->walk;
    gsize bound = (gsize) (self->cursor.end - self->frame);

    if (walk->rewritten_size < bound) {
        g_free(walk->rewritten);
        walk->rewritten = g_try_malloc(bound);
        walk->rewritten_size = walk->rewritten != NULL ? bound : 0;
        if (walk->rewritten == NULL)
            return fail_for_memory(self);
    }
    self->out = walk->rewritten;
    walk->in_place = FALSE;
    walk->bytes = self->out;
    return TRUE;
}

/* Forgets the events of an argument that is sent again. */
static gboolean
begin_events(Pass *self)
{
    self->has_argument = TRUE;
    self->walk->n_events = 0;
    self->walk->in_place = TRUE;
    self->walk->bytes = self->frame;
    self->out = NULL;
    if (self->reader != &wire_reader_compact && !begin_rewriting(self))
        return FALSE;
    self->walk->offsets[0] = self->out ? 0 : (guint32) (self->cursor.at - self->frame);
    return TRUE;
}

/* The events so far were canonical: they move as they are. */
static gboolean
leave_place(Pass *self)
{
    guint32 *offsets = self->walk->offsets;
    guint n_events = self->walk->n_events;
    guint32 first = offsets[0];
    guint32 n_bytes = offsets[n_events] - first;

    if (!begin_rewriting(self))
        return FALSE;
    if (n_bytes > 0)
        memcpy(self->out, self->frame + first, n_bytes);
    self->out += n_bytes;
    for (guint i = 0; i <= n_events; i++)
        offsets[i] -= first;
    return TRUE;
}

static gboolean
more_offsets(Pass *self)
{
    Walk *walk = self->walk;
    guint32 *offsets = g_try_realloc(walk->offsets, walk->n_offsets * 2 * sizeof(guint32));

    if (offsets == NULL)
        return fail_for_memory(self);
    walk->offsets = offsets;
    walk->n_offsets *= 2;
    return TRUE;
}

static inline gboolean
add_event(Pass *self, guint32 end)
{
    Walk *walk = self->walk;

    if (G_UNLIKELY(walk->n_events + 1 >= walk->n_offsets) && !more_offsets(self))
        return FALSE;
    walk->offsets[++walk->n_events] = end;
    return TRUE;
}

/* ---- one event ---- */

static gboolean
rewrite_event(Pass *self)
{
    EventOutcome outcome;

    if (!self->out && !leave_place(self))
        return FALSE;
    outcome = walk_event_rewrite(self->reader, &self->cursor, self->out, &self->out);
    if (outcome == EVENT_NO_MEMORY)
        return fail_for_memory(self);
    if (outcome == EVENT_MALFORMED)
        return FALSE;
    if (outcome == EVENT_INCOMPLETE) {
        self->incomplete = TRUE;
        self->walk->reason = "an event lacks its headers or its body";
        return TRUE;
    }
    return add_event(self, (guint32) (self->out - self->walk->rewritten));
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
        return add_event(self, (guint32) (self->out - self->walk->rewritten));
    }
    self->cursor.at += length;
    return add_event(self, (guint32) (self->cursor.at - self->frame));
}

/* ---- arguments ---- */

static gboolean
walk_one_event(Pass *self)
{
    return begin_events(self) && walk_event(self);
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
        if (walk->n_events + 1 >= walk->n_offsets && !more_offsets(self))
            return n_found; /* the next event finds out, too */
        room = (guint) MIN(count - n_found, walk->n_offsets - 1 - walk->n_events);
        n = event_bytes_check_many(self->cursor.at, wire_cursor_left(&self->cursor), room,
                                   walk->offsets[walk->n_events],
                                   walk->offsets + walk->n_events + 1);
        walk->n_events += n;
        n_found += n;
        self->cursor.at = self->frame + walk->offsets[walk->n_events];
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
    if (!begin_events(self))
        return FALSE;
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
    /* Offsets are of 32 bits, Thrift's lengths of 31. No frame limit comes near. */
    if (length > G_MAXINT32)
        self.cursor.end = self.cursor.at;
    return self;
}

static WalkVerdict
pass_end(Pass *self, gboolean good)
{
    if (self->no_memory) {
        self->walk->reason = "no memory for its events";
        return WALK_NO_MEMORY;
    }
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
