/* poison_world.h - a channel, a destination, and a caller that does as the search for poison tells
 * it. */
#pragma once

#include <glib.h>

#include "agent/core/poison.h"

#define BATCH 1000
#define BATCH_BYTES 4000000
#define NOBODY 0
#define A 1
#define B 2

typedef struct {
    Poison *poison;
    GArray *queue; /* gboolean: whether the event of that number is still there */
    GArray *aside; /* gboolean: and kept aside */
    guint first;   /* events before it are gone */
    guint n_come;  /* events that have come */
    gboolean (*takes)(guint64 seq, guint request);
    gsize (*bytes_of)(guint64 seq);                     /* NULL: 1 each */
    gboolean (*has_room)(gsize n_bytes, guint request); /* NULL: always */
    guint64 answers_as;
    guint n_requests;
    guint n_pauses;
    guint n_delivered;
    GArray *rejected; /* guint64 */
} World;

World *world_new(guint n_events, gboolean (*takes)(guint64, guint));
void world_free(World *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

/* Until all that has come is delivered or rejected, or there have been so many pauses. */
void run(World *self, guint max_pauses);

gboolean takes_all(guint64 seq, guint request);
gboolean takes_nothing(guint64 seq, guint request);
