/* poison.h - which event is it that a destination never takes? Tells it from an outage.
 *
 * Pure: knows events by their sequence numbers; the caller takes, sends, holds and puts back. When
 * a lease has been refused again and again, one event is sent at a time until something has been
 * acknowledged, then half of what was refused. An event that is refused alone is a suspect, and is
 * kept aside while others are tried. It is poison once it has been refused alone many times and the
 * same destination acknowledged something else in between, if there was anything else. So a
 * destination that refuses everything proves nothing, and is asked no more often than back-off
 * allows, for one event and one more.
 *
 * One that is nearly full takes small events and refuses large ones. So only a delivery of at least
 * the suspect's bytes is something else to compare with; for one that is larger than usual only if
 * it is acknowledged next after the suspect was refused. While a suspect is kept aside, as much is
 * sent at a time. Where there is not enough for that, the suspect stays and is sent again. */
#pragma once

#include <glib.h>

#define POISON_PATIENCE 3 /* refusals of the same lease before anything is suspected */

typedef struct Poison Poison;

Poison *poison_new(void);
void poison_free(Poison *self);

/* Then: one delivery at a time, each as told by the functions below. */
gboolean poison_is_searching(const Poison *self);

/* A suspect kept aside that is to be sent now, instead of taking anything. */
gboolean poison_next_suspect(Poison *self, guint64 *ret_seq);
/* Else: how many events, and bytes of them, to take, at most `most`. */
guint poison_limit(const Poison *self, guint most);
gsize poison_limit_bytes(const Poison *self, gsize most);
/* Of the lease that was taken: TRUE when it is to be kept aside, and another one taken. */
gboolean poison_note_taken(Poison *self, guint64 first, guint n_events);

typedef enum {
    POISON_PAUSE,      /* put it back, and whatever is kept aside, and back off */
    POISON_GO_ON,      /* put it back and go on at once */
    POISON_KEEP_ASIDE, /* keep it aside and go on at once */
} PoisonAdvice;

typedef struct {
    guint64 first;
    guint n_events;
    gsize n_bytes; /* 0: of what was refused, but not for lack of room */
} PoisonSent;

/* What was sent and refused, or acknowledged. by: the destinations, a bit each. An acknowledgement
 * may end the search: then whatever is kept aside is to be put back. */
PoisonAdvice poison_note_refused(Poison *self, const PoisonSent *sent, guint64 by);
void poison_note_acknowledged(Poison *self, const PoisonSent *sent, guint64 by);
/* Nothing but what is kept aside came for as long as a back-off would last. A pause follows. */
void poison_note_alone(Poison *self);
/* Everything has been put back: the caller says so, unless POISON_PAUSE told it to. */
void poison_note_pause(Poison *self);

/* After an acknowledgement, or alone: an event kept aside that is poison. */
gboolean poison_is_found(const Poison *self, guint64 *ret_seq);
void poison_note_rejected(Poison *self, guint64 seq);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Poison, poison_free)
