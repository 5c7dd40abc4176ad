/* walk_event.h - one event of any legal encoding, written anew in canonical form. For walk.c. */
#pragma once

#include <glib.h>

#include "thrift/wire/reader.h"

typedef enum {
    EVENT_WRITTEN,
    EVENT_INCOMPLETE, /* well-formed; headers or body are missing, and nothing was written */
    EVENT_MALFORMED,  /* the cursor has the reason */
    EVENT_NO_MEMORY,  /* for a set of its keys */
} EventOutcome;

/* Reads the event at the cursor. out has at least as many bytes as the event has from there: the
 * canonical form is never longer than what it was read from. (Field headers, lengths and counts
 * shrink or stay. A length in binary is 4 bytes and may become 5, from 2^28 on; a frame of 31 bits
 * holds at most 7 such, and the other parts of a binary event give back 8.) */
EventOutcome walk_event_rewrite(const WireReader *reader, WireCursor *cursor, guint8 *out,
                                guint8 **ret_out);
