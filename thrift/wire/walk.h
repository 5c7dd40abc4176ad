/* walk.h - one bounded pass over the arguments of a call: checks every byte, finds the events.
 *
 * A complete decoder for compact and binary that allocates nothing before it has checked it against
 * the bytes left in this frame. What it accepts, Thrift's generated decoder accepts with the same
 * events (tests/fuzz). Events that are not canonical, and every event of a binary message, are
 * written anew in canonical form (base/event_bytes.h). */
#pragma once

#include <glib.h>

#include "base/span.h"
#include "thrift/wire/message.h"

#define WALK_MAX_DEPTH 64 /* of what is skipped, the skipped value itself counted */

typedef enum {
    WALK_GOOD,
    WALK_INCOMPLETE, /* well-formed, but something required is absent or of another type */
    WALK_MALFORMED,  /* the bytes cannot be trusted any further: answer, then close */
    WALK_NO_MEMORY,  /* for looking at the events; nothing is said about them */
} WalkVerdict;

/* Scratch that one thread uses again and again: at most as many bytes rewritten as the frame has,
 * and 8 bytes an event. For the time of one event with many headers, also a set of their keys. */
typedef struct Walk Walk;
struct Walk {
    guint32 *offsets; /* relative to bytes; n_events + 1 are in use */
    gsize n_offsets;  /* that there is room for */
    guint n_events;
    const guint8 *bytes; /* the frame itself, or rewritten */
    gboolean in_place;   /* bytes is the frame */
    guint8 *rewritten;
    gsize rewritten_size; /* of the memory */
    const char *reason;   /* static; why the verdict is not WALK_GOOD */
};

void walk_init(Walk *self);
void walk_clear(Walk *self);
/* Gives back memory that an unusually large message left behind; costs nothing otherwise. */
void walk_shrink(Walk *self);

/* data is one frame; message its header. The arguments of append or appendBatch must end the frame.
 * What the walk holds afterwards is meaningful only after WALK_GOOD, until the next walk. A field
 * that is sent again replaces what it brought before, as a whole. The element types of an empty
 * container say nothing, and are not held against it. */
WalkVerdict walk_append(Walk *self, const WireMessage *message, const guint8 *data, gsize length);
WalkVerdict walk_append_batch(Walk *self, const WireMessage *message, const guint8 *data,
                              gsize length);
/* Arguments of any other method: only checks that they are well-formed and end the frame. */
WalkVerdict walk_other(Walk *self, const WireMessage *message, const guint8 *data, gsize length);
