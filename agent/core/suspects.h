/* suspects.h - events that were refused alone, and what speaks against each of them: for poison.c.
 */
#pragma once

#include <glib.h>

typedef struct {
    guint64 seq;
    guint64 refused_by; /* the last time */
    gsize n_bytes;      /* that would be room for it; 0: it was not refused for lack of room */
    guint evidence;
    gboolean waits;      /* for the acknowledgement that makes evidence of its last refusal */
    guint answers_since; /* to others, since then */
    guint times_refused;
    /* Deliveries of others that were no smaller, since it is a suspect. */
    guint n_acknowledged;
    guint n_refused;
    gboolean aside;
} Suspect;

/* Of Suspect, the one refused last at the end. */
typedef GArray Suspects;

Suspects *suspects_new(void);

static inline Suspect *
suspect_at(const Suspects *self, guint index)
{
    return &g_array_index(self, Suspect, index);
}

Suspect *suspects_find(const Suspects *self, guint64 seq); /* NULL if it is none */
gsize suspects_largest(const Suspects *self);              /* bytes; 0 if there are none */

/* One that was refused: `suspect` is what is known of it so far. */
void suspects_note_refused(Suspects *self, Suspect suspect, gsize n_bytes, guint64 by);
/* Those from first up to end that are not kept aside. Returns how many. */
guint suspects_drop(Suspects *self, guint64 first, guint64 end);
void suspects_put_back(Suspects *self);

void suspects_count_answer(Suspects *self);
/* Something else of so many bytes was refused. */
void suspects_count_refused(Suspects *self, gsize n_bytes, guint64 by, guint times);
/* Those from first up to end were taken after all. */
void suspects_count_cleared(Suspects *self, guint64 first, guint64 end);
